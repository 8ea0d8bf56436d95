"""The periodic steady state of a system: the limit of its response to an input that is repeated for ever."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from lfno.core.grid import Grid
from lfno.core.short import Short
from lfno.systems.signals import SampledSignal, Signal

if TYPE_CHECKING:
    from lfno.systems.base import System

#: a sample has reached the limit if its estimated distance from the limit, relative to the response, is below this number (both
#: are L2 norms over the window)
TOLERANCE = 1e-5
#: a sample does not converge if its change from window to window has not halved after this number of windows
PATIENCE = 8
#: largest number of windows that are solved
WINDOWS = 64


@dataclass(frozen=True, repr=False)
class SteadyState(Short):
    """Periodic steady states of a batch of samples.

    values: (sample, channel, *grid). Samples without a periodic steady state are NaN.
    reached: whether each sample reached a periodic steady state, (sample,).
    reason: the reason why the system has no periodic steady state; "" if it may have one.
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
    """Return the signal of one window as part of a periodic signal.

    Samples on a grid are interpolated by a periodic spline. Functions are unchanged: they may jump from the end of one window
    to the beginning of the next.
    """
    if not isinstance(signal, SampledSignal):
        return signal
    time = signal.grid.axes[-1]
    return SampledSignal(signal.values, signal.grid.change(time.name, periodic=True))


def by_repetition(system: System, signal: Signal, grid: Grid) -> SteadyState:
    """Solve one window after the other, each of length size × step, until the output is periodic. Return the steady state.

    system: a system, or another object with the attribute `outputs` and the functions `start_state` and `march` of `System`.
    signal: the forcing over one window.
    grid: the grid of one window.

    Near the limit, the changes e₁, e₂, … between successive windows decrease like a geometric series with the ratio r. The
    remaining distance after window k is then about e_k r/(1 − r). Responses that have another period, drift or grow without
    bound do not reach a limit.
    """
    time = grid.axes[-1]
    longer = grid.change(time.name, size=time.size + 1)
    signal = closed(signal)
    answer = SteadyState.none(system, signal.count, grid, "")
    left = np.arange(signal.count)
    state = system.start_state(signal.count, grid)
    outputs = np.zeros_like(answer.values)
    # the changes of the last window, and of the window PATIENCE windows ago
    change, early = np.ones(signal.count), np.full(signal.count, np.inf)
    for window in range(WINDOWS):
        before, last = outputs, change
        outputs, state = system.march(signal[left], longer, state)
        outputs = outputs[..., :-1]
        change = _relative(outputs - before, outputs)
        ratio = np.minimum(change / np.maximum(last, np.finfo(np.float64).tiny), 1 - 1e-9)
        # changes below a hundredth of the tolerance are rounding errors; their ratio has no meaning
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
    """Return ‖difference‖₂/‖size‖₂ of each sample, (sample,). It is NaN for a sample whose solution has blown up."""
    norms = (np.sqrt(np.square(values).reshape(len(values), -1).sum(axis=1)) for values in (difference, size))
    top, bottom = norms
    return top / np.maximum(bottom, np.finfo(np.float64).tiny)
