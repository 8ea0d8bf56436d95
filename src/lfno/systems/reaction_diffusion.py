"""A reaction–diffusion equation with quadratic growth; the solution is zero at both ends."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from lfno.core.grid import Grid
from lfno.solvers.chebyshev import stiff_solve
from lfno.solvers.exponential import exponential_collocation
from lfno.systems.base import Channel, Parameter
from lfno.systems.families import Curve
from lfno.systems.interval import DISCRETISATION, ReactingSystem, interval_families, interval_grid
from lfno.systems.signals import Signal


def _source(A: np.ndarray, x: np.ndarray, t: np.ndarray) -> np.ndarray:
    wave = A * np.exp(-t) * np.sin(np.pi * x)
    return (1 - np.pi**2) * wave + wave**2


class ReactionDiffusion(ReactingSystem):
    """`y_t = D y_xx + k y² − f(x, t)`, y = 0 at both ends and at the start.

    The paper prints D = 1 − 0.95 π². We read this as a misprint of the default D = 1 − 0.95/π² = 0.903745, because a negative D
    has no solution. With D = k = 1 and the paper's forcing, y = A e^(−t) sin πx solves the equation on an interval of integer
    length, but from the initial state A sin πx, not from rest. If f stays below about −(π/2T)²/k for a time T, the solution
    becomes infinite, and an error is raised.

    >>> ReactionDiffusion(D=1.0).solve(lambda x, t: 0.1 * np.sin(np.pi * x) * np.cos(t)).shape
    (1, 1, 50, 50)
    """

    title = "Reaction–diffusion equation"
    equation = "∂y/∂t = D ∂²y/∂x² + k y² − f(x, t)"
    conditions = "y = 0 at both ends, y(x, 0) = 0"
    parameters = (
        Parameter("D", 1 - 0.95 / np.pi**2, "diffusivity", "m²/s", above=0),
        Parameter("k", 1.0, "rate of reaction", "1/s"),
        DISCRETISATION,
    )
    inputs = (Channel("f", "1/s"),)
    grid = interval_grid(0.08, 0.02)
    solver = "polynomial Galerkin modes, exponential collocation of five stages in time"
    accuracy = 1e-7
    resolution = 80
    sets: ClassVar = {"reaction-diffusion": {}}
    accuracies: ClassVar = {"reaction-diffusion-out": 2e-6}  # noise is a cubic spline, whose third derivative jumps
    families: ClassVar = interval_families(grid, Curve("A", _source, 0.05, 10.0, unit=""), (0.2, 1.5), (2.0, 40.0))
    D: float
    k: float

    def start_state(self, count: int, grid: Grid) -> np.ndarray:
        return np.zeros((count, len(self.modes(grid).eigenvalues)))

    def solve_from(
        self, signal: Signal, grid: Grid, state: np.ndarray, give_up: bool = False
    ) -> tuple[np.ndarray, np.ndarray]:
        modes = self.modes(grid)

        def load(t: np.ndarray) -> np.ndarray:
            return -self.loads(signal, grid, modes, t).transpose(2, 0, 1)

        def reaction(q: np.ndarray) -> np.ndarray:
            return self.k * np.square(q @ modes.restore.T) @ modes.project.T

        rates, times = -self.D * modes.eigenvalues, grid.axes[1].points
        q = exponential_collocation(rates, load, reaction, state, times, give_up=give_up, name=self.label)
        return np.moveaxis(q @ modes.sample.T, 0, -1)[:, None], q[-1]

    def linearised_poles(self, operating: float = 0.0) -> np.ndarray:
        """Return the eigenvalues of diffusion alone, because k y² has no linear part at y = 0."""
        return self.field_poles(-self.D * self.modes(self.grid).eigenvalues, operating)

    def reference(self, signal: Signal, grid: Grid) -> np.ndarray:
        """Solve with Chebyshev collocation in x, and Radau's method with a tolerance of 1e-10 in t."""
        points, matrix, output = self.collocation(grid)
        times = grid.axes[1].points

        def solve(one: Signal) -> np.ndarray:
            def rate(t: float, y: np.ndarray) -> np.ndarray:
                return self.D * (matrix @ y) + self.k * y**2 - one(points[:, None], np.array([[t]]))[0, :, 0]

            def jacobian(t: float, y: np.ndarray) -> np.ndarray:
                return self.D * matrix + np.diag(2 * self.k * y)

            return output @ stiff_solve(rate, jacobian, np.zeros(len(points)), times)

        return np.stack([solve(signal[i : i + 1]) for i in range(signal.count)])[:, None]
