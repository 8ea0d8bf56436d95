"""LFNO for records in periodic steady state: a linear path, and a network that corrects its input.

    y = H(s) (u + network(u, H(s) u))

H(s) is the frequency response of `lfno.identification.periodic`, which depends on the level s of the record. The network
learns what H leaves. A fit explains its own records better than new ones, so the network is trained on residuals of
records that were left out of the fit (cross-fitting): it meets residuals of the same kind in the test.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from lfno.challenges.correction import InputCorrection
from lfno.challenges.fitted import Fitted, Settings
from lfno.challenges.linear import SteadyResponse, fit_response, level_degree, stacked
from lfno.challenges.networks import respond, train_seeds
from lfno.challenges.protocol import Question, Record, Training, figures
from lfno.core.errors import LfnoError
from lfno.core.grid import Grid
from lfno.data.scaling import scale_of
from lfno.identification.periodic import cross_fit
from lfno.models.lfno import LFNO, LFNOConfig
from lfno.training.config import TrainingConfig
from lfno.training.labels import Samples
from lfno.training.presets import Preset
from lfno.training.task import hasten

#: parts in which the residuals of the training records are computed
FOLDS = 5
#: a period is much longer than the memory of the system: poles decay so much faster than a network's initial ones
HASTE = 10.0

PRESET = Preset(
    "LFNO",
    {"width": 16, "modes": 1, "n_poles": 16, "share_poles": True, "steady": "exact", "transient_layers": 4, "gate": True},
    TrainingConfig(epochs=600, batch=5, learning_rate=1e-2, weight_decay=1e-4, steady_decay=0.0, validate_every=10),
)


@dataclass(frozen=True)
class SteadyNetwork:
    """A frequency response and the network that corrects its input; the network answers in units of `unit`."""

    path: SteadyResponse
    network: LFNO
    device: str
    unit: float

    @property
    def description(self) -> str:
        count = sum(parameter.numel() for parameter in self.network.parameters())
        return f"LFNO of {count:,} parameters that corrects the input of a {self.path.description}"

    def simulate(self, question: Question) -> np.ndarray:
        """The steady answer of path and network, repeated as often as the record has the period."""
        linear = self.path.simulate(question)[:, : question.period]
        repeats = question.inputs.shape[-1] // question.period
        periods = question.inputs.reshape(len(question.inputs), repeats, question.period).mean(1)
        more = respond(self.network, self.device, np.concatenate([periods, linear]), self.network.grid, transient=False)
        return np.tile(linear + self.unit * more, repeats)


def fit_steady(training: Training, settings: Settings) -> Fitted:
    """Train on most realisations, choose the epoch on the others; then the linear path is fitted to all of them."""
    kept, held = training.split()
    degree = level_degree(training)
    path, final = fit_response(kept, held, training, degree)
    inputs, outputs = stacked(kept.records)
    linear = cross_fit(inputs, outputs, _folds(kept.records), degree, path.response.width)
    held_inputs, held_outputs = stacked(held.records)
    held_linear = path.response.simulate(held_inputs)
    unit = float((outputs - linear).std()) or 1.0
    x = np.concatenate([inputs, linear], 1)

    def build(config: LFNOConfig) -> LFNO:
        network = InputCorrection(Grid.line(inputs.shape[-1], training.step), config, path.response, unit)
        # a correction is as large beside the input as the residual is beside the output
        size = float(inputs.std()) * unit / (float(outputs.std()) or 1.0)
        network.normalise(*scale_of(x), 0.0, size)
        hasten(network, HASTE)
        return network

    trained = train_seeds(
        build,
        PRESET.change(cycles=_cycles(inputs)),
        inputs.shape[1],
        Samples(x, steady=(outputs - linear) / unit),
        Samples(np.concatenate([held_inputs, held_linear], 1), steady=(held_outputs - held_linear) / unit),
        settings,
    )
    seen = [
        figures(SteadyNetwork(path, network, trained.device, unit), held.records, training.skip, training.scale)
        for network in trained.networks
    ]
    facts = {"method": "lfno", "linear path": final.description, **trained.facts}
    models = [SteadyNetwork(final, network, trained.device, unit) for network in trained.networks]
    return Fitted(models, {name: float(np.mean([one[name] for one in seen])) for name in seen[0]}, facts)


def _folds(records: tuple[Record, ...]) -> np.ndarray:
    """Spread the records of each figure over the folds."""
    seen: dict[str, int] = {}
    folds = []
    for record in records:
        seen[record.figure] = seen.get(record.figure, -1) + 1
        folds.append(seen[record.figure] % FOLDS)
    if len(set(folds)) < 2:
        raise LfnoError("one training record for each level cannot be left out of a fit; at least two are needed")
    return np.array(folds)


def _cycles(inputs: np.ndarray) -> float:
    """The highest line that the inputs excite."""
    power = (np.abs(np.fft.rfft(inputs)) ** 2).sum((0, 1))
    return float(np.flatnonzero(power > 1e-6 * power.max())[-1])
