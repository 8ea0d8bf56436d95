"""LFNO for records that are not periodic. The network corrects a compact model (the path) and is trained on windows.

A compact model is a model without a network.

    y = path(u) + network(u, path(u))

u is the input and y is the output. The path is the compact model with the smallest validation error, for example the linear
model or modes with feedback. The inputs u and path(u) of the network are clipped to their range in the training data. Outside
this range the correction stays bounded, and the path extrapolates.

A window does not begin at rest. The protocol gives the first `skip` outputs of a record for the initial state. The residual
of the path on these outputs, followed by zeros, is a further input of the network. From this input the network learns the
effect of the initial state.
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

#: largest number of samples in a window
LONGEST = 2048
#: largest number of windows for training
MOST_WINDOWS = 256
#: largest number of windows for validation
MOST_VALIDATION = 64
#: part of a window that the loss ignores, while the network settles, if the protocol gives no outputs for the initial state
WARMUP = 0.25

#: hyper-parameters of the network and of its training, before the user's changes
PRESET = Preset(
    "LFNO",
    {"width": 16, "modes": 1, "n_poles": 16, "share_poles": True, "steady": "exact", "transient_layers": 8, "gate": True},
    TrainingConfig(epochs=200, batch=16, learning_rate=1e-2, weight_decay=1e-4, steady_decay=0.0, validate_every=5),
)


@dataclass(frozen=True)
class WindowNetwork:
    """A compact model (the path) and a network that corrects its prediction.

    The network has three groups of inputs: the inputs of the record, the prediction of the path, and the residual of the path
    on the first outputs.

    path: the compact model.
    network: the network.
    device: the device of the network.
    skip: number of first outputs for the initial state.
    offset: mean residual of the path on the first parts of the training records (without the held-out ends), (outputs, 1); zero
        if a training record begins at rest.
    reach: smallest and largest values of the first two groups of inputs on these parts, each (channels, 1).
    """

    path: Model
    network: LFNO
    device: str
    skip: int
    offset: np.ndarray
    reach: tuple[np.ndarray, np.ndarray]

    @property
    def description(self) -> str:
        """Return the model in words."""
        count = sum(parameter.numel() for parameter in self.network.parameters())
        return f"LFNO of {count:,} parameters that corrects a {self.path.description}"

    def simulate(self, question: Question) -> np.ndarray:
        """Return the prediction (outputs, time).

        The network gets a periodic input with SETTLING further periods before it, so that the response is steady.
        """
        answer = self.path.simulate(question)
        inputs, size = np.clip(np.concatenate([question.inputs, answer]), *self.reach), answer.shape[-1]
        left = question.first_outputs - answer[:, : question.first_outputs.shape[-1]] - self.offset
        if question.period:
            inputs = np.tile(inputs[:, : question.period], SETTLING + size // question.period)
        grid = self.network.grid.change("t", size=inputs.shape[-1])
        more = respond(self.network, self.device, with_first(inputs, left, self.skip), grid, transient=True)
        return answer + more[:, -size:] + self.offset


def remainder(record: Record, path: Model, skip: int) -> Record:
    """Return the record with the residual of the path as outputs, and with the prediction of the path as further inputs."""
    answer = path.simulate(record.question(skip))
    return replace(record, inputs=np.concatenate([record.inputs, answer]), outputs=record.outputs - answer)


def with_first(inputs: np.ndarray, outputs: np.ndarray, skip: int) -> np.ndarray:
    """Return the inputs with one further channel for each output: the first `skip` samples of the output, then zeros.

    With `skip` = 0 there are no further channels.

    Args:
        inputs: (channels, time).
        outputs: (outputs, time), with at least `skip` samples.
        skip: The number of samples.
    """
    if not skip:
        return inputs
    channels = np.zeros((len(outputs), inputs.shape[-1]))
    channels[:, :skip] = outputs[:, :skip]
    return np.concatenate([inputs, channels])


def fit_windows(training: Training, settings: Settings, known: Fitted) -> Fitted:
    """Return networks that correct a compact model, one for each seed.

    The networks are trained on windows from the first part of each record. Windows from the held-out end of each record
    choose the epoch.

    Args:
        training: The training records.
        settings: The user's choices.
        known: The compact model, fitted to the same first parts.
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
        raise LfnoError(f"windows of {size} samples are too short: {skip} for the initial state and 16 more are needed")
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
    """Return equally spaced windows of all records: inputs and outputs, each (windows, channels, size).

    Neighbouring windows overlap by at most seven eighths of their length.

    Args:
        records: The records.
        size: Samples of a window.
        skip: Number of first outputs that become further inputs.
        offset: Mean output, (outputs, 1), which is subtracted.
        most: Largest number of windows of all records together. Each record gives at least one window.
    """
    x, y = [], []
    for record in records:
        room = len(record) - size
        count = min(max(1, most // len(records)), room // max(1, size // 8) + 1)
        for start in np.unique(np.linspace(0, room, count).astype(int)):
            part = record.cut(start, start + size)
            x.append(with_first(part.inputs, part.outputs - offset, skip))
            y.append(part.outputs - offset)
    return np.stack(x), np.stack(y)
