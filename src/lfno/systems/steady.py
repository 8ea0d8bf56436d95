"""The periodic steady state of a system: the limit of its response to an input that is repeated for ever."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from lfno.core.grid import Grid
from lfno.systems.signals import SampledSignal, Signal

if TYPE_CHECKING:
    from lfno.systems.base import System

#: a sample has settled if its estimated distance from the limit, divided by its response (L2 over the window), is below
#: this
TOLERANCE = 1e-5
#: a sample is given up if its change from window to window has not halved over this number of windows
PATIENCE = 8
#: largest number of windows
WINDOWS = 64


@dataclass(frozen=True)
class SteadyState:
    """A periodic steady state.

    values: (sample, channel, *grid). Samples that did not reach the limit are NaN.
    reached: whether each sample reached the limit.
    reason: why the system has no periodic steady state; "" if it may have one.
    """

    values: np.ndarray
    reached: np.ndarray
    reason: str = ""

    @classmethod
    def none(cls, system: System, count: int, grid: Grid, reason: str) -> SteadyState:
        """Return the result for a system without a periodic steady state."""
        values = np.full((count, len(system.outputs), *grid.shape), np.nan)
        return cls(values, np.zeros(count, dtype=bool), reason)


def closed(signal: Signal) -> Signal:
    """Return a signal as it is repeated. Samples on a grid are joined smoothly to their own beginning; functions are
    unchanged.

    A function may jump from its value at the end of the window to its value at the beginning.
    """
    if not isinstance(signal, SampledSignal):
        return signal
    time = signal.grid.axes[-1]
    return SampledSignal(signal.values, signal.grid.change(time.name, periodic=True))


def by_repetition(system: System, signal: Signal, grid: Grid) -> SteadyState:
    """Solve repeated windows, of length size × step, until the output does not change.

    Near the limit, the changes e₁, e₂, … between successive windows fall like a geometric series with ratio r. The remaining
    distance after window k is then about e_k r/(1 − r). A response that has another period, drifts or grows without bound does
    not reach a limit.
    """
    time = grid.axes[-1]
    longer = grid.change(time.name, size=time.size + 1)
    signal = closed(signal)
    answer = SteadyState.none(system, signal.count, grid, "")
    left = np.arange(signal.count)
    state = system.start_state(signal.count, grid)
    outputs = np.zeros_like(answer.values)
    change, early = np.ones(signal.count), np.full(signal.count, np.inf)  # change in the last window, and PATIENCE windows ago
    for window in range(WINDOWS):
        before, last = outputs, change
        outputs, state = system.march(signal[left], longer, state)
        outputs = outputs[..., :-1]
        change = _relative(outputs - before, outputs)
        ratio = np.minimum(change / np.maximum(last, np.finfo(np.float64).tiny), 1 - 1e-9)
        # changes below a hundredth of the tolerance are rounding, and their ratio has no meaning
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
