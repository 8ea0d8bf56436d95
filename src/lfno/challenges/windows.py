"""LFNO for records that are not periodic: it corrects a compact model, and is trained on windows.

    y = path(u) + network(u, path(u))

The path is the better of the linear model and of modes with feedback, so the sum starts as good as that. The network sees
signals clipped to the range of the training data: outside that range its correction stays bounded, and the path goes on.
A window does not begin at rest. The outputs that the protocol gives for the initial state are further inputs of the
network: what the path leaves of the first `skip` outputs, and zero after them. So the network learns what they say about
the state.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from lfno.challenges.fitted import Fitted, Settings
from lfno.challenges.linear import SETTLING
from lfno.challenges.networks import respond, train_seeds
from lfno.challenges.protocol import Model, Question, Record, Training, figures
from lfno.core.errors import LfnoError
from lfno.core.grid import Grid
from lfno.data.scaling import scale_of
from lfno.models.lfno import LFNO, LFNOConfig
from lfno.training.config import TrainingConfig
from lfno.training.labels import Samples
from lfno.training.presets import Preset
from lfno.training.sizing import highest_mode

#: samples of a window, and the number of windows for training and for validation
LONGEST, MOST_WINDOWS, MOST_VALIDATION = 2048, 256, 64
#: the share of a window that only settles the network, where the protocol gives no outputs for the initial state
WARMUP = 0.25

PRESET = Preset(
    "LFNO",
    {"width": 16, "modes": 1, "n_poles": 16, "share_poles": True, "steady": "exact", "transient_layers": 8, "gate": True},
    TrainingConfig(epochs=200, batch=16, learning_rate=1e-2, weight_decay=1e-4, steady_decay=0.0, validate_every=5),
)


@dataclass(frozen=True)
class WindowNetwork:
    """A path, and a network that takes the inputs, the answer of the path and what it leaves of the first outputs.

    reach: the smallest and the largest value of the inputs and of the answer on the training records, (channels, 1) each.
    """

    path: Model
    network: LFNO
    device: str
    skip: int
    offset: np.ndarray
    reach: tuple[np.ndarray, np.ndarray]

    @property
    def description(self) -> str:
        count = sum(parameter.numel() for parameter in self.network.parameters())
        return f"LFNO of {count:,} parameters that corrects a {self.path.description}"

    def simulate(self, question: Question) -> np.ndarray:
        """The answer to the whole record in one pass; a periodic input is repeated until the network has settled."""
        answer = self.path.simulate(question)
        inputs, size = np.clip(np.concatenate([question.inputs, answer]), *self.reach), answer.shape[-1]
        left = question.first_outputs - answer[:, : question.first_outputs.shape[-1]] - self.offset
        if question.period:
            inputs = np.tile(inputs[:, : question.period], SETTLING + size // question.period)
        grid = self.network.grid.change("t", size=inputs.shape[-1])
        more = respond(self.network, self.device, with_first(inputs, left, self.skip), grid, transient=True)
        return answer + more[:, -size:] + self.offset


def remainder(record: Record, path: Model, skip: int) -> Record:
    """What the path leaves of a record; its answer is a further input."""
    answer = path.simulate(record.question(skip))
    return replace(record, inputs=np.concatenate([record.inputs, answer]), outputs=record.outputs - answer)


def with_first(inputs: np.ndarray, outputs: np.ndarray, skip: int) -> np.ndarray:
    """Inputs with further channels: the first `skip` outputs, then zeros. Without such samples only the inputs."""
    if not skip:
        return inputs
    channels = np.zeros((len(outputs), inputs.shape[-1]))
    channels[:, :skip] = outputs[:, :skip]
    return np.concatenate([inputs, channels])


def fit_windows(training: Training, settings: Settings, known: Fitted) -> Fitted:
    """Train on windows of the beginning of each record, choose the epoch on windows of its end.

    known: a model that was fitted to the same beginnings; the network corrects it.
    """
    whole, rest = training.split()
    path = known.trained or known.models[0]
    kept, held = (
        replace(part, records=tuple(remainder(record, path, training.skip) for record in part.records))
        for part in (whole, rest)
    )
    size = min(LONGEST, *(len(record) for record in (*kept.records, *held.records)))
    skip = training.skip
    if size < skip + 16:
        raise LfnoError(f"windows of {size} samples are too short to train on after {skip} samples for the initial state")
    offset = np.concatenate([record.outputs for record in kept.records], -1).mean(-1, keepdims=True)
    if any(record.rest for record in training.records):
        offset = 0 * offset
    seen = np.concatenate([record.inputs for record in kept.records], -1)
    reach = seen.min(-1, keepdims=True), seen.max(-1, keepdims=True)
    x, y = windows(kept.records, size, skip, offset, MOST_WINDOWS)
    x_held, y_held = windows(held.records, size, skip, offset, MOST_VALIDATION)
    preset = PRESET.change(unscored=skip or int(WARMUP * size), cycles=max(4.0, highest_mode(y, 2)))

    def build(config: LFNOConfig) -> LFNO:
        network = LFNO(Grid.line(size, training.step), config)
        network.normalise(*scale_of(x), *scale_of(y))
        return network

    trained = train_seeds(build, preset, y.shape[1], Samples(x, y), Samples(x_held, y_held), settings)
    models = [WindowNetwork(path, network, trained.device, skip, offset, reach) for network in trained.networks]
    scored = [figures(model, rest.records, skip, training.scale) for model in models]
    validation = {name: float(np.mean([one[name] for one in scored])) for name in scored[0]}
    return Fitted(models, validation, {"method": "lfno", "path": path.description, **trained.facts})


def windows(records: Sequence[Record], size: int, skip: int, offset: np.ndarray, most: int) -> tuple[np.ndarray, np.ndarray]:
    """Equally spaced windows of all records, at most about `most`; neighbours overlap by at most seven eighths."""
    x, y = [], []
    for record in records:
        room = len(record) - size
        count = min(max(1, most // len(records)), room // max(1, size // 8) + 1)
        for start in np.unique(np.linspace(0, room, count).astype(int)):
            part = record.cut(start, start + size)
            x.append(with_first(part.inputs, part.outputs - offset, skip))
            y.append(part.outputs - offset)
    return np.stack(x), np.stack(y)
