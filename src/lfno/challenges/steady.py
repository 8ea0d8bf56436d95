"""LFNO for records in periodic steady state: a linear path in parallel with a network in its steady pass.

    y = H(s) u + network(u, H(s) u)

H(s) is the frequency response of `lfno.identification.periodic`, which depends on the level s of the record. The network
learns what H leaves. A fit explains its own records better than new ones, so the network is trained on residuals of
records that were left out of the fit (cross-fitting): it meets residuals of the same kind in the test.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from lfno.challenges.fitted import Fitted, Settings
from lfno.challenges.linear import SteadyResponse, fit_response, level_degree, stacked
from lfno.challenges.networks import place_poles, respond, train_seeds
from lfno.challenges.protocol import Question, Record, Training, figures
from lfno.core.errors import LfnoError
from lfno.core.grid import Grid
from lfno.data.scaling import scale_of
from lfno.identification.periodic import PeriodicResponse, cross_fit
from lfno.identification.realisation import realise
from lfno.models.lfno import LFNO, TRIGONOMETRIC, LFNOConfig
from lfno.training.config import TrainingConfig
from lfno.training.labels import Samples
from lfno.training.presets import Preset

#: parts in which the residuals of the training records are computed
FOLDS = 5
#: states of the realisation for each pole of a layer: some of its poles are spurious
STATES_PER_POLE = 2
#: samples of the impulse response that the poles are found from
RESPONSE = 2048

PRESET = Preset(
    "LFNO",
    {
        "width": 16, "modes": 1, "n_poles": 24, "share_poles": True, "steady": "exact", "transient_layers": 8, "gate": True,
        # the frequency form: a periodic record has no energy above its highest line
        "hold": TRIGONOMETRIC,
    },
    # the error on held-out realisations is smallest early, so the training ends long before the schedule does
    TrainingConfig(
        epochs=900, batch=5, learning_rate=1e-2, weight_decay=1e-4, steady_decay=0.0, validate_every=10, patience=200
    ),
)  # fmt: skip


@dataclass(frozen=True)
class SteadyNetwork:
    """A frequency response and the network that corrects it."""

    path: SteadyResponse
    network: LFNO
    device: str

    @property
    def description(self) -> str:
        count = sum(parameter.numel() for parameter in self.network.parameters())
        return f"LFNO of {count:,} parameters beside a {self.path.description}"

    def simulate(self, question: Question) -> np.ndarray:
        """The steady answer of path and network, repeated as often as the record has the period."""
        linear = self.path.simulate(question)[:, : question.period]
        repeats = question.inputs.shape[-1] // question.period
        periods = question.inputs.reshape(len(question.inputs), repeats, question.period).mean(1)
        more = respond(self.network, self.device, np.concatenate([periods, linear]), self.network.grid, transient=False)
        return np.tile(linear + more, repeats)


def fit_steady(training: Training, settings: Settings) -> Fitted:
    """Train on most realisations, choose the epoch on the others; then the linear path is fitted to all of them."""
    kept, held = training.split()
    degree = level_degree(training)
    path, final = fit_response(kept, held, training, degree)
    inputs, outputs = stacked(kept.records)
    linear = cross_fit(inputs, outputs, _folds(kept.records), degree, path.response.width)
    held_inputs, held_outputs = stacked(held.records)
    held_linear = path.response.simulate(held_inputs)
    x, y = np.concatenate([inputs, linear], 1), outputs - linear
    count = settings.changes.get("n_poles", PRESET.fields["n_poles"])
    poles = strongest_poles(path.response, training.step, count)

    def build(config: LFNOConfig) -> LFNO:
        network = LFNO(Grid.line(inputs.shape[-1], training.step), config)
        network.normalise(*scale_of(x), *scale_of(y))
        place_poles(network, poles)
        return network

    trained = train_seeds(
        build,
        PRESET.change(cycles=_cycles(inputs)),
        y.shape[1],
        Samples(x, steady=y),
        Samples(np.concatenate([held_inputs, held_linear], 1), steady=held_outputs - held_linear),
        settings,
    )
    seen = [
        figures(SteadyNetwork(path, network, trained.device), held.records, training.skip, training.scale)
        for network in trained.networks
    ]
    facts = {"method": "lfno", "linear path": final.description, **trained.facts}
    models = [SteadyNetwork(final, network, trained.device) for network in trained.networks]
    return Fitted(models, {name: float(np.mean([one[name] for one in seen])) for name in seen[0]}, facts)


def strongest_poles(response: PeriodicResponse, step: float, count: int) -> np.ndarray:
    """The poles (1/s) of a frequency response at the mean level, those with the most energy first; at most `count`."""
    size = 2 * (response.coefficients.shape[-1] - 1)
    middle = np.einsum("k,koif->oif", 0.5 ** np.arange(len(response.coefficients)), response.coefficients)
    impulse = np.fft.irfft(middle, size)[..., : min(size // 2, RESPONSE)]
    found = realise(impulse, step, STATES_PER_POLE * count)
    poles = found.poles
    energy = (np.abs(found.residues) ** 2).sum((0, 1)) / np.maximum(2 * np.abs(poles.real), 1e-12)
    # stable, slower than a sample, below the Nyquist frequency
    usable = (poles.real < 0) & (np.abs(poles) * step < 0.97 * np.pi)
    order = np.argsort(-energy * usable, kind="stable")[: min(count, int(usable.sum()))]
    return poles[order]


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
