"""The Brusselator: two reacting chemicals that diffuse on an interval without flux through its ends."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from lfno.core.grid import Grid
from lfno.solvers.chebyshev import stiff_solve
from lfno.solvers.exponential import exponential_collocation
from lfno.systems.base import Channel, Parameter
from lfno.systems.heat import DECAYING_WAVE
from lfno.systems.interval import DISCRETISATION, ReactingSystem, interval_families, interval_grid
from lfno.systems.signals import Signal


class Brusselator(ReactingSystem):
    """`u_t = D₀ u_xx + a + f − (1 + b) u + v u²`, `v_t = D₁ v_xx + b u − v u²`, no flux at the ends; the output is u.

    Without forcing and diffusion, the system oscillates if b > 1 + a². With the paper's forcing, except for small amplitudes, u
    becomes negative in places: u is then no concentration, but the equation has a solution. With D₀ = D₁ = 0, every point is an
    independent oscillator.

    >>> Brusselator(b=2.5).solve(lambda x, t: 0.1 * np.cos(np.pi * x / 1.47) * np.cos(t)).shape
    (1, 1, 50, 50)
    """

    title = "Brusselator"
    equation = "∂u/∂t = D₀ ∂²u/∂x² + a + f(x, t) − (1 + b) u + v u²,  ∂v/∂t = D₁ ∂²v/∂x² + b u − v u²"
    conditions = "∂u/∂x = ∂v/∂x = 0 at both ends, u(x, 0) = u0, v(x, 0) = v0"
    parameters = (
        Parameter("D0", 1.0, "diffusivity of u", "m²/s", low=0),
        Parameter("D1", 0.5, "diffusivity of v", "m²/s", low=0),
        Parameter("a", 1.0, "supply of u", "1/s", low=0),
        Parameter("b", 3.0, "conversion of u to v", "1/s", low=0),
        Parameter("u0", 0.5, "u at the start"),
        Parameter("v0", 1.0, "v at the start"),
        DISCRETISATION,
    )
    inputs = (Channel("f", "1/s"),)
    outputs = (Channel("u"),)
    grid = interval_grid(0.03, 0.02, boundary="free")
    solver = "polynomial Galerkin modes, exponential collocation of five stages in time"
    accuracy = 1e-7
    ends = "neumann"
    resolution = 40
    reference_resolution = 40
    sets: ClassVar = {"brusselator": {}}
    families: ClassVar = interval_families(grid, DECAYING_WAVE, (1.0, 12.0), (2.0, 40.0), ends="flat")
    D0: float
    D1: float
    a: float
    b: float
    u0: float
    v0: float

    def rates(self, u: np.ndarray, v: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the reaction terms of ∂u/∂t and ∂v/∂t."""
        conversion = v * u * u
        return self.a - (1 + self.b) * u + conversion, self.b * u - conversion

    @property
    def unsettled(self) -> str:
        return "" if self.b <= 1 + self.a**2 else "the system oscillates without forcing (b > 1 + a²), at its own frequency"

    def start_state(self, count: int, grid: Grid) -> np.ndarray:
        constant = self.modes(grid).project.sum(axis=1)
        return np.tile(np.concatenate([self.u0 * constant, self.v0 * constant]), (count, 1))

    def solve_from(
        self, signal: Signal, grid: Grid, state: np.ndarray, give_up: bool = False
    ) -> tuple[np.ndarray, np.ndarray]:
        modes = self.modes(grid)
        size = len(modes.eigenvalues)

        def load(t: np.ndarray) -> np.ndarray:
            forced = self.loads(signal, grid, modes, t).transpose(2, 0, 1)
            return np.concatenate([forced, np.zeros_like(forced)], axis=-1)

        def reaction(q: np.ndarray) -> np.ndarray:
            rates = self.rates(q[..., :size] @ modes.restore.T, q[..., size:] @ modes.restore.T)
            return np.concatenate([rate @ modes.project.T for rate in rates], axis=-1)

        decay = -np.concatenate([self.D0 * modes.eigenvalues, self.D1 * modes.eigenvalues])
        times = grid.axes[1].points
        q = exponential_collocation(
            decay, load, reaction, state, times, substeps=2, give_up=give_up, name=self.label
        )
        return np.moveaxis(q[..., :size] @ modes.sample.T, 0, -1)[:, None], q[-1]

    def reference(self, signal: Signal, grid: Grid) -> np.ndarray:
        """Solve with Chebyshev collocation in x, and Radau's method with a tolerance of 1e-10 in t."""
        points, matrix, output = self.collocation(grid)
        size, times = len(points), grid.axes[1].points
        zero = np.zeros((size, size))
        diffusion = np.block([[self.D0 * matrix, zero], [zero, self.D1 * matrix]])

        def solve(one: Signal) -> np.ndarray:
            def rate(t: float, state: np.ndarray) -> np.ndarray:
                change = diffusion @ state + np.concatenate(self.rates(state[:size], state[size:]))
                change[:size] += one(points[:, None], np.array([[t]]))[0, :, 0]
                return change

            def jacobian(t: float, state: np.ndarray) -> np.ndarray:
                u, v = state[:size], state[size:]
                local = [[2 * u * v - 1 - self.b, u * u], [self.b - 2 * u * v, -u * u]]
                return diffusion + np.block([[np.diag(entry) for entry in row] for row in local])

            start = np.repeat([self.u0, self.v0], size)
            return output @ stiff_solve(rate, jacobian, start, times)[:size]

        return np.stack([solve(signal[i : i + 1]) for i in range(signal.count)])[:, None]
