"""The best linear time-invariant model of signals: the baseline that a network must beat.

Two families compete on held-out data, each by its simulation error (the model sees inputs only, never past outputs):
causal finite impulse responses of several lengths, and rational transfer functions (poles and residues).
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
from lfno.identification.fir import NormalEquations, Taps
from lfno.identification.identify import Modes, identify
from lfno.identification.pairs import measured_moments, signal_pair

Kernel = Taps | Modes

LENGTHS = (16, 64, 256, 512, 1024)
RIDGES = (1e-10, 1e-7, 1e-5, 1e-3, 1e-1)
# taps × input channels: the normal equations take the cube of it; and points that a transfer function is searched on
MOST_TAPS, MOST_POINTS, MOST_POLES = 2048, 60_000, 6


@dataclass(frozen=True)
class LinearModel:
    """u(t) = offset(t) + (h ∗ (f − input offset))(t); `error` is the relative L2 error on held-out data.

    An offset of one column is a constant; one of N columns is the free motion that all trajectories share.
    """

    kernel: Kernel
    input_offset: np.ndarray
    output_offset: np.ndarray
    step: float
    error: float
    description: str

    def predict(self, inputs: np.ndarray) -> np.ndarray:
        """Outputs for `(samples, inputs, time)`."""
        inputs = real_array(inputs, "the inputs", "(samples, inputs, time)", 3, finite=True).astype(np.float64)
        if inputs.ndim != 3 or inputs.shape[1] != len(self.input_offset):
            raise LfnoError(f"the inputs have shape {inputs.shape}; (samples, {len(self.input_offset)}, time) is needed")
        if self.input_offset.shape[-1] not in (1, inputs.shape[-1]):
            raise LfnoError(
                f"the linear model was fitted to {self.input_offset.shape[-1]} steps from a common start and cannot "
                f"answer for {inputs.shape[-1]}"
            )
        return self.kernel.simulate(inputs - self.input_offset, self.step) + self.output_offset

    def frequency_response(self, frequencies: np.ndarray) -> np.ndarray:
        """(outputs, inputs, frequencies) at frequencies in Hz."""
        return self.kernel.frequency_response(frequencies, self.step)


def fit_trajectories(inputs: np.ndarray, outputs: np.ndarray, grid: Grid, mask: np.ndarray | None = None) -> LinearModel:
    """The best linear model of many trajectories `(samples, channels, time)` from a common start.

    Samples are weighted by 1/‖u‖, as the relative L2 error weights them. Where it helps on held-out samples (one in
    five, drawn at random), the motion that all trajectories share is taken off first: the free motion of a linear
    system that starts away from rest. The winner is fitted again to all samples.

    `mask`, in the shape of the outputs, is True where they were measured; only those moments count. The common motion is
    then that of the trajectories without gaps.
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
        rows = rows[whole[rows]]
        part = weight[rows] ** 2 / (weight[rows] ** 2).sum()
        return (part * inputs[rows]).sum(0), (part * outputs[rows]).sum(0)

    def nothing(rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
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
    """The best linear model of one long record, inputs `(channels, time)` and outputs `(channels, time)`.

    Several runs are `(runs, channels, time)`, shorter ones padded at the end. A run need not start at rest: its beginning
    serves as the past. `mask`, in the shape of the outputs, is True where they were measured; only those moments count.
    The last fifth of each run chooses between candidates, by simulation through the whole run; the winner is fitted again
    to all of it. The response is to the deviation of the input from its mean. The constant output at the mean input is fitted
    together with the response: the mean output would be wrong, because outputs also answer to inputs in gaps.
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
    # the errors of outputs of unequal size count alike
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
    description: str
    kernel: Kernel
    fit: Callable[[np.ndarray, np.ndarray, np.ndarray], Kernel]


def _candidates(
    inputs: np.ndarray, outputs: np.ndarray, moments: np.ndarray, grid: Grid, rest: bool
) -> Iterator[_Candidate]:
    """Every model that competes, fitted, with the function that fits its like to other data."""
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
