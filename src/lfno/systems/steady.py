"""The periodic steady state of a system: its response to an input that repeats until nothing changes any more."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from lfno.core.grid import Grid
from lfno.systems.signals import SampledSignal, Signal

if TYPE_CHECKING:
    from lfno.systems.base import System

#: a sample has settled when its estimated distance from the limit is below this part of its response (L2 over the window)
TOLERANCE = 1e-5
#: a sample is given up when its change from window to window has not halved over so many windows
PATIENCE = 8
#: the most windows
WINDOWS = 64


@dataclass(frozen=True)
class SteadyState:
    """`values` (sample, channel, *grid) and, for each sample, whether the limit was `reached`.

    Samples that were not reached are NaN. `reason` says why a system has no periodic steady state at all; it is empty
    where the system may have one.
    """

    values: np.ndarray
    reached: np.ndarray
    reason: str = ""

    @classmethod
    def none(cls, system: System, count: int, grid: Grid, reason: str) -> SteadyState:
        """The answer of a system without a periodic steady state."""
        values = np.full((count, len(system.outputs), *grid.shape), np.nan)
        return cls(values, np.zeros(count, dtype=bool), reason)


def closed(signal: Signal) -> Signal:
    """A signal as it is repeated: samples on a grid are joined smoothly to their own beginning, functions stay as they are.

    A function may jump from its value at the end of the window to its value at the beginning.
    """
    if not isinstance(signal, SampledSignal):
        return signal
    time = signal.grid.axes[-1]
    return SampledSignal(signal.values, signal.grid.change(time.name, periodic=True))


def by_repetition(system: System, signal: Signal, grid: Grid) -> SteadyState:
    """Solve through repeats of the window, of length size × step, until the output does not change.

    The changes e₁, e₂, … between successive windows fall like a geometric series with ratio r near the limit, so the
    distance that is left after the k-th is about e_k r/(1 − r). A response that repeats with another period, drifts,
    or grows without bound never gets there.
    """
    time = grid.axes[-1]
    longer = grid.change(time.name, size=time.size + 1)
    signal = closed(signal)
    answer = SteadyState.none(system, signal.count, grid, "")
    left = np.arange(signal.count)
    state = system.start_state(signal.count, grid)
    outputs = np.zeros_like(answer.values)
    change, early = np.ones(signal.count), np.full(signal.count, np.inf)  # of the last window, and PATIENCE windows ago
    for window in range(WINDOWS):
        before, last = outputs, change
        outputs, state = system.march(signal[left], longer, state)
        outputs = outputs[..., :-1]
        change = _relative(outputs - before, outputs)
        ratio = np.minimum(change / np.maximum(last, np.finfo(np.float64).tiny), 1 - 1e-9)
        # below a hundredth of the tolerance changes are rounding, and their ratio means nothing
        done = (change * ratio / (1 - ratio) < TOLERANCE) & (change < TOLERANCE) | (change < TOLERANCE / 100)
        answer.values[left[done]], answer.reached[left[done]] = outputs[done], True
        keep = ~done & ~np.isnan(change)
        if window % PATIENCE == PATIENCE - 1:
            keep &= change < early / 2
            early = change
        left, state, outputs, change, early = left[keep], state[keep], outputs[keep], change[keep], early[keep]
        if len(left) == 0:
            break
    return answer


def _relative(difference: np.ndarray, size: np.ndarray) -> np.ndarray:
    """‖difference‖₂/‖size‖₂ of each sample; NaN where a solution has blown up."""
    norms = (np.sqrt(np.square(values).reshape(len(values), -1).sum(axis=1)) for values in (difference, size))
    top, bottom = norms
    return top / np.maximum(bottom, np.finfo(np.float64).tiny)
