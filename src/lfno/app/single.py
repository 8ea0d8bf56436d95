"""Solve the equation of an oscillator for one input in milliseconds, with LSODA from scipy.

The Runge–Kutta solver of the library is fast only for large batches.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.integrate import odeint
from scipy.interpolate import CubicSpline

from lfno.core.errors import LfnoError
from lfno.core.grid import Grid
from lfno.systems.ode import ForcedODE
from lfno.systems.signals import FunctionSignal
from lfno.systems.steady import SteadyState, by_repetition

TOLERANCE = 1e-8  # relative and absolute error tolerance of a step
LONGEST = 0.05  # s; longest step, so that the solver does not miss a pulse
MOST_STEPS = 20_000  # largest number of steps between two points of the grid
SOLVING = threading.Lock()  # LSODA has one global state for the whole process, so only one thread may use it

#: the input as a function of time
Force = Callable[[Any], Any]


class Single:
    """An oscillator that is solved for one input at a time.

    >>> from lfno.systems import Duffing
    >>> Single(Duffing(c=0.5)).solve(lambda t: 0.0 * t + 1.0, Grid.line(4096, dt=0.02))[-1].round(4)  # x + x³ = 1
    np.float64(0.6823)
    """

    def __init__(self, system: ForcedODE) -> None:
        self.system, self.outputs = system, system.outputs

    def solve(self, force: Force, grid: Grid) -> np.ndarray:
        """Return the output (time,) from the initial state of the system. Raise LfnoError if the output is not finite."""
        answer = self.states(force, grid, np.array(self.system.start))[:, self.system.observed]
        if not np.isfinite(answer).all():
            raise LfnoError("the solution grows without bound; use a smaller amplitude")
        return answer

    def steady(self, force: Force, grid: Grid) -> SteadyState:
        """Return the response (1, 1, time) to the input repeated for ever, or the reason why there is none.

        The repeated input is a periodic spline through the samples on the grid, because models know the input only there.
        """
        if self.system.unsettled:
            return SteadyState.none(self.system, 1, grid, self.system.unsettled)
        period = grid.change(grid.names[0], size=grid.shape[0] + 1).axes[0].points
        samples = force(period[:-1])
        spline = CubicSpline(period, np.append(samples, samples[0]), bc_type="periodic")
        repeated: Any = _Repeated(self, lambda t: float(spline(t)))
        return by_repetition(repeated, FunctionSignal(spline, 1), grid)

    def states(self, force: Force, grid: Grid, start: np.ndarray) -> np.ndarray:
        """Return the states (time, component) from the state `start`. All values are NaN if the solver failed."""
        rate = self.system.rate

        def slope(state: np.ndarray, t: float) -> Any:
            return rate(state, force(t))

        points = grid.axes[0].points
        with SOLVING:
            states, told = odeint(
                slope, start, points, rtol=TOLERANCE, atol=TOLERANCE, hmax=LONGEST, mxstep=MOST_STEPS, full_output=True
            )
        if told["message"] != "Integration successful.":
            states[:] = np.nan
        return states


class _Repeated:
    """An oscillator with one input, as a batch of one. It has the methods that `by_repetition` calls."""

    def __init__(self, single: Single, force: Force) -> None:
        self.single, self.force, self.outputs = single, force, single.outputs

    def start_state(self, count: int, grid: Grid) -> np.ndarray:
        return np.tile(self.single.system.start, (count, 1))

    def march(self, signal: Any, grid: Grid, state: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        states = self.single.states(self.force, grid, state[0])
        return states[None, None, :, self.single.system.observed], states[-1:]
