"""Base class of ordinary differential equations with one signal as input."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np
from scipy.integrate import solve_ivp

from lfno.core.grid import Grid
from lfno.solvers.rk4 import SUBSTEPS, rk4
from lfno.systems.base import Channel, System
from lfno.systems.excitations import rich, unseen
from lfno.systems.families import Curve
from lfno.systems.linearised import equilibrium, jacobian_poles
from lfno.systems.signals import Signal

#: f(t) = A e^(−0.05 t) sin 5t, A evenly spaced in [0.05, 10]
DECAYING_SINE = Curve("A", lambda A, t: A * np.exp(-0.05 * t) * np.sin(5 * t), 0.05, 10.0)
BAND = (0.2, 8.0)  # range of frequencies of random inputs in rad/s; it contains the natural frequencies of the systems
DURATION = 20.48  # length of the paper's window in s


class ForcedODE(System):
    """`ẏ = rate(y, f(t))` with the initial state `start` at the first time of the grid. The output is one component of y.

    A subclass defines `rate` and `start`. `observed` is the index of the output component. The default families of inputs are
    the paper's decaying sines, and random signals with amplitudes from 0.5 to 8.
    """

    kind = "forced"
    inputs = (Channel("f"),)
    outputs: ClassVar[tuple[Channel, ...]] = (Channel("x"),)
    grid = Grid.line(2048, dt=0.01)
    rich_grid = Grid.line(1024, dt=0.02)
    solver = f"RK4, at least {SUBSTEPS} sub-steps"
    accuracy = 1e-8
    families: ClassVar[dict[str, Any]] = {
        "paper": DECAYING_SINE,
        "rich": rich((0.5, 8.0), BAND, DURATION),
        "out": unseen((0.5, 8.0), BAND, DURATION),
    }
    start: ClassVar[tuple[float, ...]]
    observed: ClassVar[int] = 0
    #: the whole turn of an output that is an angle, 2π; 0 for other outputs
    turn: ClassVar[float] = 0.0

    @abstractmethod
    def rate(self, state: np.ndarray, force: np.ndarray) -> Sequence[np.ndarray]:
        """Return the time derivative of each component, for a state (component, sample) and a force (sample,)."""

    def integrate(self, signal: Signal, grid: Grid) -> np.ndarray:
        return self.march(signal, grid, self.start_state(signal.count, grid))[0]

    def start_state(self, count: int, grid: Grid) -> np.ndarray:
        return np.tile(self.start, (count, 1))

    def march(self, signal: Signal, grid: Grid, state: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        time = grid.axes[0]
        # sub-steps as short as on the grid of the class, up to a limit; the solver refines them if this is not accurate
        substeps = int(np.clip(np.ceil(SUBSTEPS * time.step / self.grid.axes[0].step - 1e-9), SUBSTEPS, 8 * SUBSTEPS))
        states = rk4(self.rate, state.T, signal, time.origin, time.step, time.size, substeps)
        return states[self.observed][:, None], states[..., -1].T

    def linearised_poles(self, operating: float = 0.0) -> np.ndarray:
        force = np.array([operating])

        def rate(state: np.ndarray) -> np.ndarray:
            return np.array([part[0] for part in self.rate(state[:, None], force)])

        return jacobian_poles(rate, equilibrium(rate, self.start, settle=self.damped))

    def reference(self, signal: Signal, grid: Grid) -> np.ndarray:
        """Solve with the adaptive eighth-order method DOP853 and a tolerance of 1e-12, one sample after the other."""
        points = grid.axes[0].points

        def solve(one: Signal) -> np.ndarray:
            solution = solve_ivp(
                lambda t, y: [v[0] for v in self.rate(y[:, None], one(np.array([t]))[:, 0])],
                (points[0], points[-1]), self.start, "DOP853", points, rtol=1e-12, atol=1e-13,
                max_step=0.1,  # s; longer steps could miss a pulse
            )  # fmt: skip
            return solution.y[self.observed]

        return np.stack([solve(signal[i : i + 1]) for i in range(signal.count)])[:, None]
