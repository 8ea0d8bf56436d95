"""The best linear time-invariant model of signals: the baseline that a network must beat.

Two families of models are compared by their simulation error on held-out data: causal finite impulse responses of several
lengths, and rational transfer functions (poles and residues). A simulation uses inputs only, never measured past outputs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from itertools import product

import numpy as np

from lfno.core.checks import real_array
from lfno.core.errors import LfnoError
from lfno.core.grid import Grid
from lfno.core.short import Short
from lfno.identification.fir import NormalEquations, Taps
from lfno.identification.identify import Modes, identify
from lfno.identification.pairs import measured_moments, signal_pair

Kernel = Taps | Modes

#: numbers of taps that are compared
LENGTHS = (16, 64, 256, 512, 1024)
#: ridge parameters that are compared, relative to the mean energy of the inputs
RIDGES = (1e-10, 1e-7, 1e-5, 1e-3, 1e-1)
#: largest product of taps and input channels; the time to solve the normal equations grows as the cube of this product
MOST_TAPS = 2048
#: largest number of data points in the search for a transfer function; more points take more time
MOST_POINTS = 60_000
#: largest number of poles of a transfer function
MOST_POLES = 6


@dataclass(frozen=True, repr=False)
class LinearModel(Short):
    """The linear model u(t) = output_offset(t) + (h ∗ (f − input_offset))(t), from the input f to the output u.

    kernel: the impulse response h, as taps or as modes.
    input_offset, output_offset: (channels, 1) for a constant, or (channels, time) for the weighted mean of all trajectories.
    step: the sampling step in seconds.
    error: the relative L2 error on held-out data.
    description: the kind of the model in words.
    """

    kernel: Kernel
    input_offset: np.ndarray
    output_offset: np.ndarray
    step: float
    error: float
    description: str

    def predict(self, inputs: np.ndarray) -> np.ndarray:
        """Return the outputs (samples, outputs, time) for inputs `(samples, inputs, time)`."""
        inputs = real_array(inputs, "the inputs", "(samples, inputs, time)", 3, finite=True).astype(np.float64)
        if inputs.ndim != 3 or inputs.shape[1] != len(self.input_offset):
            raise LfnoError(f"the inputs have shape {inputs.shape}; (samples, {len(self.input_offset)}, time) is needed")
        if self.input_offset.shape[-1] not in (1, inputs.shape[-1]):
            raise LfnoError(
                f"the linear model was fitted to trajectories of {self.input_offset.shape[-1]} steps and cannot predict "
                f"{inputs.shape[-1]} steps"
            )
        return self.kernel.simulate(inputs - self.input_offset, self.step) + self.output_offset

    def frequency_response(self, frequencies: np.ndarray) -> np.ndarray:
        """Return the frequency response (outputs, inputs, frequencies) at frequencies in Hz."""
        return self.kernel.frequency_response(frequencies, self.step)


def fit_trajectories(inputs: np.ndarray, outputs: np.ndarray, grid: Grid, mask: np.ndarray | None = None) -> LinearModel:
    """Return the linear baseline of many trajectories `(samples, channels, time)` from a common initial state.

    A sample with the outputs u has the weight 1/‖u‖, as in the relative L2 error. The error on a random fifth of the samples,
    which is held out of the fit, chooses the model. With fewer than five samples, the error on all samples chooses the model.
    A linear system that starts away from rest has a free motion, which all trajectories share. So each model is fitted with and
    without subtraction of the mean trajectory. The best model is fitted again to all samples.

    mask: True where an output was measured, in the shape of the outputs. A time step of a sample counts only if all outputs
        were measured. The mean trajectory is the mean of the samples without gaps. If the fit has fewer than two such samples,
        no mean trajectory is subtracted.
    """
    inputs, outputs = signal_pair(inputs, outputs)
    step, samples = grid.steps[0], len(inputs)
    moments = measured_moments(mask, outputs)
    whole = np.ones(samples, dtype=bool) if moments is None else np.asarray(moments.all(1))
    moments = np.ones((samples, outputs.shape[-1]), dtype=bool) if moments is None else moments
    order = np.random.default_rng(0).permutation(samples)
    held, kept = (order[: samples // 5], order[samples // 5 :]) if samples >= 5 else (order, order)
    size = np.sqrt((np.where(moments[:, None], outputs, 0.0) ** 2).sum((1, 2)))
    weight = 1 / np.maximum(size, 1e-3 * size.mean() or 1.0)[:, None, None]

    def share(rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the weighted mean trajectory (channels, time) of the inputs and of the outputs, as offsets."""
        rows = rows[whole[rows]]
        part = weight[rows] ** 2 / (weight[rows] ** 2).sum()
        return (part * inputs[rows]).sum(0), (part * outputs[rows]).sum(0)

    def nothing(rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return zero offsets."""
        return np.zeros((inputs.shape[1], 1)), np.zeros((outputs.shape[1], 1))

    def scaled(rows: np.ndarray, offsets: tuple[np.ndarray, np.ndarray]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        return weight[rows] * (inputs[rows] - offsets[0]), weight[rows] * (outputs[rows] - offsets[1]), moments[rows]

    def error(kernel: Kernel, offsets: tuple[np.ndarray, np.ndarray]) -> float:
        force, motion, counted = scaled(held, offsets)
        missed = np.where(counted[:, None], kernel.simulate(force, step) - motion, 0.0)
        return float(np.sqrt((missed**2).sum((1, 2))).mean())

    choices = []
    for offset in (nothing, share) if whole[kept].sum() > 1 else (nothing,):
        offsets = offset(kept)
        for candidate in _candidates(*scaled(kept, offsets), grid, rest=True):
            choices.append((error(candidate.kernel, offsets), candidate, offset))
    reached, best, offset = min(choices, key=lambda choice: choice[0])
    offsets = offset(order)
    return LinearModel(best.fit(*scaled(order, offsets)), *offsets, step, reached, best.description)


def fit_record(inputs: np.ndarray, outputs: np.ndarray, grid: Grid, mask: np.ndarray | None = None) -> LinearModel:
    """Return the linear baseline of one long record, or of several runs.

    A run need not start at rest: the outputs of its first steps are not fitted. Each candidate simulates the whole run. The
    error on the last fifth of each run chooses the model. The best candidate is fitted again to all data. The model responds
    to the deviation of the input from its mean. The constant output at the mean input is fitted together with the response. The
    mean of the measured outputs would be a wrong constant, because the inputs during gaps also act on the outputs.

    inputs, outputs: (channels, time), or (runs, channels, time) with shorter runs padded at the end.
    mask: True where an output was measured, in the shape of the outputs. A time step of a run counts only if all outputs were
        measured.
    """
    axes = "(channels, time)" if np.ndim(inputs) == 2 else "(runs, channels, time)"
    force, motion = (values.reshape(-1, *values.shape[-2:]) for values in signal_pair(inputs, outputs, axes))
    moments = measured_moments(mask, motion)
    moments = np.ones((len(motion), motion.shape[-1]), dtype=bool) if moments is None else moments
    if moments.sum() < 200:
        raise LfnoError(f"a record of {moments.sum()} measured steps is too short to choose a linear model: 200 are needed")
    step, size = grid.steps[0], motion.shape[-1]
    lengths = size - np.argmax(moments[:, ::-1], axis=1)  # up to the last measured moment of each run
    early = moments & (np.arange(size) < (0.8 * lengths)[:, None])
    late = moments & ~early

    def means(counted: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        return force.swapaxes(0, 1)[:, counted].mean(-1)[:, None], motion.swapaxes(0, 1)[:, counted].mean(-1)[:, None]

    before, after = means(early)
    # division by the standard deviation gives outputs of unequal size the same weight in the error
    spread = motion.swapaxes(0, 1)[:, early].std(-1)[:, None]
    spread[spread == 0] = 1.0

    def error(kernel: Kernel) -> float:
        truth = (motion - after) / spread
        missed = (kernel.simulate(force - before, step) + kernel.constant[:, None]) / spread - truth
        chosen = np.broadcast_to(late[:, None], truth.shape)
        return float(np.linalg.norm(missed[chosen]) / (np.linalg.norm(truth[chosen]) or 1.0))

    choices = [
        (error(candidate.kernel), candidate)
        for candidate in _candidates(force - before, motion - after, early, grid, rest=False)
    ]
    reached, best = min(choices, key=lambda choice: choice[0])
    before, after = means(moments)
    kernel = best.fit(force - before, motion - after, moments)
    return LinearModel(kernel, before, after + kernel.constant[:, None], step, reached, best.description)


@dataclass(frozen=True)
class _Candidate:
    """A fitted model (`kernel`), and a function (`fit`) that fits the same kind of model to other data."""

    description: str
    kernel: Kernel
    fit: Callable[[np.ndarray, np.ndarray, np.ndarray], Kernel]


def _candidates(
    inputs: np.ndarray, outputs: np.ndarray, moments: np.ndarray, grid: Grid, rest: bool
) -> Iterator[_Candidate]:
    """Yield the candidates: each length and ridge of a finite impulse response, then one transfer function.

    inputs, outputs: (samples, channels, time).
    moments: (samples, time), True where the outputs were measured.
    rest: whether the samples start at rest. If not, their first steps are not fitted.
    """
    channels, size = inputs.shape[1:]
    longest = min(size if rest else size // 10, max(MOST_TAPS // channels, 1))
    lengths = [length for length in LENGTHS if length < longest] + [longest]
    equations = NormalEquations(inputs, outputs, longest, rest, moments, constant=not rest)
    for length, ridge in product(lengths, RIDGES):
        kernel = equations.solve(length, ridge)
        yield _Candidate(f"impulse response of {length} taps", kernel, partial(_fit_taps, length, ridge, rest))
    count = max(MOST_POINTS // size, 1)
    some, times = slice(count), slice(MOST_POINTS)
    modes = _fit_modes(None, None, rest, grid, inputs[some, :, times], outputs[some, :, times], moments[some, times])
    description = f"transfer function of {len(modes.poles)} poles"
    yield _Candidate(description, modes, partial(_fit_modes, modes.poles, modes.hold, rest, grid))


def _fit_taps(
    length: int, ridge: float, rest: bool, inputs: np.ndarray, outputs: np.ndarray, moments: np.ndarray
) -> Taps:
    return NormalEquations(inputs, outputs, length, rest, moments, constant=not rest).solve(length, ridge)


def _fit_modes(
    poles: np.ndarray | None, hold: str | None, rest: bool, grid: Grid,
    inputs: np.ndarray, outputs: np.ndarray, moments: np.ndarray,
) -> Modes:  # fmt: skip
    line = Grid.line(inputs.shape[-1], grid.steps[0])
    warmup = 0 if rest else inputs.shape[-1] // 10
    mask = moments[:, None]
    return identify(
        inputs, outputs, line, poles, max_poles=MOST_POLES, warmup=warmup, hold=hold, mask=mask, constant=not rest
    )
