"""The heat equation on a rod whose ends have the temperature zero."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from lfno.core.grid import Grid
from lfno.solvers.chebyshev import stiff_solve
from lfno.systems.base import Parameter
from lfno.systems.families import Curve
from lfno.systems.interval import DISCRETISATION, IntervalSystem, interval_families, interval_grid
from lfno.systems.signals import Signal
from lfno.systems.steady import SteadyState, closed

#: f = A e^(−t) (1 − π²) sin πx, A evenly spaced in [0.05, 10]
DECAYING_WAVE = Curve("A", lambda A, x, t: A * np.exp(-t) * (1 - np.pi**2) * np.sin(np.pi * x), 0.05, 10.0)


class Heat(IntervalSystem):
    """`y_t = D y_xx − f(x, t)`, y = 0 at both ends and at the start.

    The system is linear, and the paper's forcings are multiples of one function. All samples of the paper's family are
    therefore multiples of one field. The slowest mode has the time constant L²/(π² D), which is 1.6 s on the paper's rod of
    3.92 m. The window of 0.5 s shows only the transient. The paper's forcing is not zero at x = 3.92, so that y has a boundary
    layer there. A sine series converges slowly in this layer. The modes of this solver converge fast.

    >>> Heat().solve(lambda x, t: -np.sin(np.pi * x / 3.92) + 0 * t).shape
    (1, 1, 50, 50)
    """

    title = "Heat equation"
    equation = "∂y/∂t = D ∂²y/∂x² − f(x, t)"
    conditions = "y = 0 at both ends, y(x, 0) = 0"
    parameters = (Parameter("D", 1.0, "diffusivity", "m²/s", above=0), DISCRETISATION)
    grid = interval_grid(0.08, 0.01)
    solver = "polynomial Galerkin modes, exponential quadrature in time"
    accuracy = 1e-9
    sets: ClassVar = {"heat": {}}
    accuracies: ClassVar = {"heat-out": 1e-7}  # noise is a cubic spline, whose third derivative jumps
    families: ClassVar = interval_families(grid, DECAYING_WAVE, (0.5, 8.0), (4.0, 80.0))
    D: float

    def integrate(self, signal: Signal, grid: Grid) -> np.ndarray:
        modes = self.modes(grid)
        return (-modes.sample @ self.linear_response(signal, grid, modes, -self.D * modes.eigenvalues))[:, None]

    def settle(self, signal: Signal, grid: Grid) -> SteadyState:
        """Return the exact steady state.

        If a mode with the eigenvalue λ has the value q(T) after one window T from rest, the periodic solution begins with
        q(T)/(1 − e^(λT)).
        """
        modes, t = self.modes(grid), grid.axes[1]
        rates = -self.D * modes.eigenvalues
        q = self.linear_response(closed(signal), grid.change(t.name, size=t.size + 1), modes, rates)
        start = q[..., -1] / -np.expm1(rates * t.length)
        q = q[..., :-1] + start[..., None] * np.exp(rates[:, None] * t.step * np.arange(t.size))
        return SteadyState((-modes.sample @ q)[:, None], np.ones(signal.count, dtype=bool))

    def linearised_poles(self, operating: float = 0.0) -> np.ndarray:
        return self.field_poles(-self.D * self.modes(self.grid).eigenvalues, operating)

    def reference(self, signal: Signal, grid: Grid) -> np.ndarray:
        """Solve with Chebyshev collocation in x, and Radau's method with a tolerance of 1e-10 in t."""
        points, matrix, output = self.collocation(grid)
        times = grid.axes[1].points

        def solve(one: Signal) -> np.ndarray:
            def rate(t: float, y: np.ndarray) -> np.ndarray:
                return self.D * (matrix @ y) - one(points[:, None], np.array([[t]]))[0, :, 0]

            return output @ stiff_solve(rate, self.D * matrix, np.zeros(len(points)), times)

        return np.stack([solve(signal[i : i + 1]) for i in range(signal.count)])[:, None]
