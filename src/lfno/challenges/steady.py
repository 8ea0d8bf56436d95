"""LFNO for records in periodic steady state: the sum of a frequency response and a network.

    y = H(s) u + network(u, H(s) u)

u is the input and y is the output. H(s) is the frequency response of `lfno.identification.periodic`, which depends on the level
s of the input (relative to the largest training level). The network computes its periodic steady state and learns the residual
of H. A fit of H has smaller residuals on its own records than on new records. The network is therefore trained on residuals of
records that were left out of the fit of H (cross-fitting). These residuals are similar to the residuals of the test records.
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

#: number of folds for the cross-fitting
FOLDS = 5
#: number of states of the realisation for each pole of a layer; some poles of the realisation are spurious
STATES_PER_POLE = 2
#: largest number of samples of the impulse response for the realisation
RESPONSE = 2048

#: hyper-parameters of the network and of its training, before the user's changes
PRESET = Preset(
    "LFNO",
    {
        "width": 16, "modes": 1, "n_poles": 24, "share_poles": True, "steady": "exact", "transient_layers": 8, "gate": True,
        # trigonometric interpolation is exact here: a periodic record has no energy above its highest spectral line
        "hold": TRIGONOMETRIC,
    },
    # the validation error has its minimum early, so `patience` ends the training long before the last epoch
    TrainingConfig(
        epochs=900, batch=5, learning_rate=1e-2, weight_decay=1e-4, steady_decay=0.0, validate_every=10, patience=200
    ),
)  # fmt: skip


@dataclass(frozen=True)
class SteadyNetwork:
    """A frequency response and a network that corrects its prediction.

    path: the frequency response.
    network: the network.
    device: the device of the network.
    """

    path: SteadyResponse
    network: LFNO
    device: str

    @property
    def description(self) -> str:
        """Return the model in words."""
        count = sum(parameter.numel() for parameter in self.network.parameters())
        return f"LFNO of {count:,} parameters that corrects a {self.path.description}"

    def simulate(self, question: Question) -> np.ndarray:
        """Return the steady response of frequency response plus network, repeated to the length of the record."""
        linear = self.path.simulate(question)[:, : question.period]
        repeats = question.inputs.shape[-1] // question.period
        periods = question.inputs.reshape(len(question.inputs), repeats, question.period).mean(1)
        more = respond(self.network, self.device, np.concatenate([periods, linear]), self.network.grid, transient=False)
        return np.tile(linear + more, repeats)


def fit_steady(training: Training, settings: Settings) -> Fitted:
    """Return a frequency response with networks that are trained on its residuals, one network for each seed.

    The networks are trained on the records that are not held out, and the held-out records choose the epoch. The frequency
    response of the returned models is fitted to all records.
    """
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
    """Return at most `count` poles (1/s) of a frequency response, in the order of decreasing energy.

    If the response depends on the level, it is taken at half of the largest training level (s = 1/2).
    """
    size = 2 * (response.coefficients.shape[-1] - 1)
    middle = np.einsum("k,koif->oif", 0.5 ** np.arange(len(response.coefficients)), response.coefficients)
    impulse = np.fft.irfft(middle, size)[..., : min(size // 2, RESPONSE)]
    found = realise(impulse, step, STATES_PER_POLE * count)
    poles = found.poles
    energy = (np.abs(found.residues) ** 2).sum((0, 1)) / np.maximum(2 * np.abs(poles.real), 1e-12)
    # usable poles are stable, and their magnitude is below 0.97 times the Nyquist frequency
    usable = (poles.real < 0) & (np.abs(poles) * step < 0.97 * np.pi)
    order = np.argsort(-energy * usable, kind="stable")[: min(count, int(usable.sum()))]
    return poles[order]


def _folds(records: tuple[Record, ...]) -> np.ndarray:
    """Return the fold of each record, (records,). The records of each figure are distributed evenly over the folds."""
    seen: dict[str, int] = {}
    folds = []
    for record in records:
        seen[record.figure] = seen.get(record.figure, -1) + 1
        folds.append(seen[record.figure] % FOLDS)
    if len(set(folds)) < 2:
        raise LfnoError("each level has only one training record; two are needed to leave one out of a fit")
    return np.array(folds)


def _cycles(inputs: np.ndarray) -> float:
    """Return the highest excited spectral line of the inputs, in cycles per period."""
    power = (np.abs(np.fft.rfft(inputs)) ** 2).sum((0, 1))
    return float(np.flatnonzero(power > 1e-6 * power.max())[-1])
