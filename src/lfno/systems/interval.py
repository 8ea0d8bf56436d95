"""Base classes of partial differential equations on an interval [0, L] with a forcing f(x, t)."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, ClassVar

import numpy as np

from lfno.core.errors import LfnoError
from lfno.core.grid import Axis, Grid
from lfno.solvers.chebyshev import interpolate, second_derivative
from lfno.solvers.exponential import modal_response
from lfno.solvers.modes import Ends, Modes, difference_modes, galerkin_modes
from lfno.systems.base import Channel, Parameter, System
from lfno.systems.excitations import Range, rich, unseen
from lfno.systems.families import Family, Separable
from lfno.systems.fields import Profiles
from lfno.systems.linearised import upper_half
from lfno.systems.signals import Signal

DISCRETISATION = Parameter(
    "discretisation",
    "exact",
    "exact: solve the equation itself; semi: use second-order differences in space, and solve exactly in time",
    choices=("exact", "semi"),
)
FIELD_POLES = 8  # number of eigenvalues that `linearised_poles` returns for a field
_BLOCK = 64  # number of samples solved together, to limit the memory on fine grids


def interval_grid(dx: float, dt: float, size: int = 50, steps: int = 50, boundary: str = "fixed") -> Grid:
    """Return a grid with `size` points x_j = j dx and `steps` times t_n = n dt. The interval has the length (size − 1) dx."""
    return Grid((Axis("x", size, dx, unit="m", boundary=boundary), Axis("t", steps, dt, unit="s", time=True)))


def interval_families(
    grid: Grid, paper: Family, amplitude: Range, band: Range, ends: Any = "zero"
) -> dict[str, Family]:
    """Return the families of inputs of a system on an interval.

    "paper": the family `paper`.
    "rich": a random profile of four modes times a random signal, for training.
    "out": a random profile times a signal of another kind, for testing only.

    amplitude: the range of amplitudes.
    band: the range of angular frequencies in rad/s.
    ends: "zero" or "flat": whether the values or the slopes of the profiles are zero at the ends of the interval.
    """
    x, t = grid.axes
    where = Profiles((x.size - 1) * x.step, modes=4, ends=ends)
    return {
        "paper": paper,
        "rich": Separable(where, rich(amplitude, band, t.length)),
        "out": Separable(where, unseen(amplitude, band, t.length)),
    }


class IntervalSystem(System):
    """A forced equation on [x₀, x₀ + L]. Its linear part is a multiple of ∂²/∂x² or ∂⁴/∂x⁴, which is diagonal in modes.

    The first and the last point of the grid are the ends of the interval. `ends` are the boundary conditions. `integrate` uses
    `resolution` polynomial basis functions. `reference` uses `reference_resolution` Chebyshev points.
    """

    kind = "forced"
    inputs: ClassVar[tuple[Channel, ...]] = (Channel("f"),)
    outputs: ClassVar[tuple[Channel, ...]] = (Channel("y"),)
    ends: ClassVar[Ends] = "dirichlet"
    resolution: ClassVar[int] = 96
    reference_resolution: ClassVar[int] = 64
    discretisation: str

    def boundary(self) -> Ends:
        """Return the boundary conditions. A system with several boundary conditions overrides this function."""
        return self.ends

    @property
    def label(self) -> str:
        """The system with its parameters, for error messages."""
        return f"{self.title} with {', '.join(f'{name} = {value}' for name, value in self.values.items())}"

    def check_grid(self, grid: Grid) -> None:
        super().check_grid(grid)
        if grid.axes[0].size < 5:
            raise LfnoError(f"{self.title}: axis 'x' has {grid.axes[0].size} points, at least 5 are needed")

    def modes(self, grid: Grid) -> Modes:
        """Return the spatial modes for this grid."""
        x = grid.axes[0]
        length = (x.size - 1) * x.step
        if self.discretisation == "semi":
            return difference_modes(length, self.boundary(), x.size)
        # the number of modes does not depend on the grid, because the modes are accurate at any output point
        return galerkin_modes(length, self.boundary(), x.points - x.origin, self.resolution)

    def loads(self, signal: Signal, grid: Grid, modes: Modes, times: np.ndarray) -> np.ndarray:
        """Return the modal coordinates of the forcing, (sample, modes, times)."""
        return modes.project @ signal((modes.nodes + grid.axes[0].origin)[:, None], times[None])

    def linear_response(self, signal: Signal, grid: Grid, modes: Modes, rates: np.ndarray) -> np.ndarray:
        """Solve q′ = rate · q + load from rest for every mode. Return q, (sample, modes, time)."""
        times = grid.axes[1].points

        def respond(block: Signal) -> np.ndarray:
            return modal_response(rates, lambda t: self.loads(block, grid, modes, t), times)

        return np.concatenate([respond(signal[i : i + _BLOCK]) for i in range(0, signal.count, _BLOCK)])

    def field_poles(self, poles: np.ndarray, operating: float) -> np.ndarray:
        """Return the slowest eigenvalues with Im ≥ 0 about the equilibrium zero.

        poles: all eigenvalues.
        operating: the constant input. Raises LfnoError if it is not zero.
        """
        if operating:
            raise LfnoError(f"{self.title}: only the equilibrium for zero input is known; leave out the operating level")
        return upper_half(poles)[:FIELD_POLES]

    def collocation(self, grid: Grid) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return the inner collocation points, and two matrices for values at these points.

        The first matrix is ∂²/∂x². The second matrix interpolates to the points of the grid.
        """
        x = grid.axes[0]
        if self.discretisation == "semi":
            modes = self.modes(grid)
            matrix = -(modes.restore * modes.eigenvalues) @ modes.project
            return modes.nodes + x.origin, matrix, modes.sample @ modes.project
        ends: Any = self.boundary()
        points, matrix, extend = second_derivative(self.reference_resolution, (x.size - 1) * x.step, ends)
        return points[1:-1] + x.origin, matrix, interpolate(points, extend, x.points - x.origin)


class ReactingSystem(IntervalSystem):
    """A nonlinear equation on an interval. A subclass defines `start_state`, `solve_from` and `reference`."""

    @abstractmethod
    def solve_from(
        self, signal: Signal, grid: Grid, state: np.ndarray, give_up: bool = False
    ) -> tuple[np.ndarray, np.ndarray]:
        """Solve from an initial state. Return the outputs (sample, channel, *grid) and the state at the last time.

        state: modal coordinates, (sample, mode).
        give_up: whether a sample whose solution blows up becomes NaN. If False, LfnoError is raised.
        """

    def integrate(self, signal: Signal, grid: Grid) -> np.ndarray:
        return self.solve_from(signal, grid, self.start_state(signal.count, grid))[0]

    def march(self, signal: Signal, grid: Grid, state: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        return self.solve_from(signal, grid, state, give_up=True)
