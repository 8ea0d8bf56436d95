"""The best linear time-invariant model of signals: what a network must beat to earn its keep.

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
from lfno.identification.pairs import signal_pair

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


def fit_trajectories(inputs: np.ndarray, outputs: np.ndarray, grid: Grid) -> LinearModel:
    """The best linear model of many trajectories `(samples, channels, time)` from a common start.

    Samples are weighted by 1/‖u‖, as the relative L2 error weights them. Where it helps on held-out samples (one in
    five, drawn at random), the motion that all trajectories share is taken off first: the free motion of a linear
    system that starts away from rest. The winner is fitted again to all samples.
    """
    inputs, outputs = signal_pair(inputs, outputs)
    step, samples = grid.steps[0], len(inputs)
    order = np.random.default_rng(0).permutation(samples)
    held, kept = (order[: samples // 5], order[samples // 5 :]) if samples >= 5 else (order, order)
    size = np.sqrt((outputs**2).sum((1, 2)))
    weight = 1 / np.maximum(size, 1e-3 * size.mean() or 1.0)[:, None, None]

    def share(rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        part = weight[rows] ** 2 / (weight[rows] ** 2).sum()
        return (part * inputs[rows]).sum(0), (part * outputs[rows]).sum(0)

    def nothing(rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        return np.zeros((inputs.shape[1], 1)), np.zeros((outputs.shape[1], 1))

    def scaled(rows: np.ndarray, offsets: tuple[np.ndarray, np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
        return weight[rows] * (inputs[rows] - offsets[0]), weight[rows] * (outputs[rows] - offsets[1])

    def error(kernel: Kernel, offsets: tuple[np.ndarray, np.ndarray]) -> float:
        force, motion = scaled(held, offsets)
        return float(np.sqrt(((kernel.simulate(force, step) - motion) ** 2).sum((1, 2))).mean())

    choices = []
    for offset in (nothing, share):
        offsets = offset(kept)
        for candidate in _candidates(*scaled(kept, offsets), grid, rest=True):
            choices.append((error(candidate.kernel, offsets), candidate, offset))
    reached, best, offset = min(choices, key=lambda choice: choice[0])
    offsets = offset(order)
    return LinearModel(best.fit(*scaled(order, offsets)), *offsets, step, reached, best.description)


def fit_record(inputs: np.ndarray, outputs: np.ndarray, grid: Grid) -> LinearModel:
    """The best linear model of one long record, inputs `(channels, time)` and outputs `(channels, time)`.

    The record need not start at rest: its beginning serves as the past. The last fifth chooses between candidates, by
    simulation through the whole record; the winner is fitted again to all of it. Constants are taken off as means.
    """
    force, motion = (values[None] for values in signal_pair(inputs, outputs, "(channels, time)"))
    if force.shape[-1] < 200:
        raise LfnoError(f"a record of {force.shape[-1]} steps is too short to choose a linear model: 200 are needed")
    step, cut = grid.steps[0], int(0.8 * force.shape[-1])

    def means(stop: int) -> tuple[np.ndarray, np.ndarray]:
        return force[0, :, :stop].mean(-1, keepdims=True), motion[0, :, :stop].mean(-1, keepdims=True)

    before, after = means(cut)
    # the errors of outputs of unequal size count alike
    spread = motion[..., :cut].std(-1, keepdims=True)
    spread[spread == 0] = 1.0

    def error(kernel: Kernel) -> float:
        missed = (kernel.simulate(force - before, step) - (motion - after)) / spread
        size = np.linalg.norm(((motion - after) / spread)[..., cut:]) or 1.0
        return float(np.linalg.norm(missed[..., cut:]) / size)

    choices = [
        (error(candidate.kernel), candidate)
        for candidate in _candidates((force - before)[..., :cut], (motion - after)[..., :cut], grid, rest=False)
    ]
    reached, best = min(choices, key=lambda choice: choice[0])
    before, after = means(force.shape[-1])
    return LinearModel(best.fit(force - before, motion - after), before, after, step, reached, best.description)


@dataclass(frozen=True)
class _Candidate:
    description: str
    kernel: Kernel
    fit: Callable[[np.ndarray, np.ndarray], Kernel]


def _candidates(inputs: np.ndarray, outputs: np.ndarray, grid: Grid, rest: bool) -> Iterator[_Candidate]:
    """Every model that competes, fitted, with the function that fits its like to other data."""
    channels, size = inputs.shape[1:]
    longest = min(size if rest else size // 10, max(MOST_TAPS // channels, 1))
    lengths = [length for length in LENGTHS if length < longest] + [longest]
    equations = NormalEquations(inputs, outputs, longest, rest)
    for length, ridge in product(lengths, RIDGES):
        kernel = equations.solve(length, ridge)
        yield _Candidate(f"impulse response of {length} taps", kernel, partial(_fit_taps, length, ridge, rest))
    count = max(MOST_POINTS // size, 1)
    some = (slice(count), slice(None), slice(MOST_POINTS))
    modes = _fit_modes(None, None, rest, grid, inputs[some], outputs[some])
    description = f"transfer function of {len(modes.poles)} poles"
    yield _Candidate(description, modes, partial(_fit_modes, modes.poles, modes.hold, rest, grid))


def _fit_taps(length: int, ridge: float, rest: bool, inputs: np.ndarray, outputs: np.ndarray) -> Taps:
    return NormalEquations(inputs, outputs, length, rest).solve(length, ridge)


def _fit_modes(
    poles: np.ndarray | None, hold: str | None, rest: bool, grid: Grid, inputs: np.ndarray, outputs: np.ndarray
) -> Modes:
    line = Grid.line(inputs.shape[-1], grid.steps[0])
    warmup = 0 if rest else inputs.shape[-1] // 10
    return identify(inputs, outputs, line, poles, max_poles=MOST_POLES, warmup=warmup, hold=hold)
