"""Two-dimensional Navier–Stokes flow on a periodic square, in vorticity form, from an initial vorticity."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from lfno.core.errors import LfnoError
from lfno.core.grid import Axis, Grid
from lfno.systems.base import Channel, Parameter, System
from lfno.systems.bumps import Bumps
from lfno.systems.families import Curve
from lfno.systems.fields import PeriodicField
from lfno.systems.signals import Signal, open_mesh

#: w0 = V sin x cos y, V uniform in [0.8, 1.2)
CELLS = Curve("V", lambda V, x, y: V * np.sin(x) * np.cos(y), 0.8, 1.2, random=True)


def torus_grid(size: int, length: float, time: Axis) -> Grid:
    """Return the grid of a periodic square and a time axis. A side of the square has `size` points and the length `length`."""
    step = length / size
    return Grid((Axis("x", size, step, unit="m", periodic=True), Axis("y", size, step, unit="m", periodic=True), time))


class NavierStokes(System):
    """`w_t + u·∇w = ν Δw`, `Δψ = −w`, `u = (ψ_y, −ψ_x)` on a periodic square.

    w is the vorticity, ψ the stream function, u the velocity. The paper's w0 = V sin x cos y is an eigenfunction of the
    Laplacian and constant along streamlines. The solution is therefore w0 e^(−2νt). It changes so little that the prediction
    w(t) = w0 has a relative error of only 0.0006. In the data set `navier-stokes-rich`, the vorticity moves with the flow.

    >>> NavierStokes(nu=0.01).solve(lambda x, y: np.sin(x) * np.cos(2 * y)).shape
    (1, 1, 32, 32, 50)
    """

    title = "Navier–Stokes (vorticity)"
    equation = "∂w/∂t + u·∇w = ν Δw,  Δψ = −w,  u = (∂ψ/∂y, −∂ψ/∂x)"
    conditions = "periodic, w(x, y, 0) = w0(x, y)"
    kind = "initial"
    parameters: ClassVar[tuple[Parameter, ...]] = (Parameter("nu", 1e-3, "viscosity", "m²/s", above=0),)
    inputs: ClassVar[tuple[Channel, ...]] = (Channel("w0", "1/s"),)
    outputs = (Channel("w", "1/s"),)
    grid = torus_grid(32, 2 * np.pi, Axis("t", 50, 0.01, unit="s", time=True))
    solver = "pseudo-spectral with 2/3 dealiasing, ETDRK4; closed form for eigenfunctions of the Laplacian"
    accuracy = 1e-9
    accuracies: ClassVar[dict[str, float]] = {"navier-stokes-rich": 1e-5, "navier-stokes-out": 1e-5}
    sets: ClassVar = {"navier-stokes": {}}
    families: ClassVar = {
        "paper": CELLS,
        "rich": PeriodicField((2 * np.pi, 2 * np.pi), 3, lambda squared: 1 / squared, amplitude=(0.3, 1.2)),
        "out": Bumps((2 * np.pi, 2 * np.pi), (1.0, 3.0), sharpness=(1.0, 3.0)),
    }
    resolution: ClassVar[int] = 64  # smallest number of points per side in the solver
    dt: ClassVar[float] = 0.02  # largest time step in s
    nu: float

    def forcing(self, x: np.ndarray, y: np.ndarray) -> np.ndarray:
        """Return the source of vorticity, which is constant in time: zero for this equation."""
        return np.zeros(np.broadcast_shapes(x.shape, y.shape))

    def check_grid(self, grid: Grid) -> None:
        super().check_grid(grid)
        x, y, t = grid.axes
        if (x.size, x.step) != (y.size, y.step):
            raise LfnoError(
                f"{self.title} needs a square: x has {x.size} points each {x.step:g}, y has {y.size} each {y.step:g}"
            )
        if t.origin < 0:
            raise LfnoError(f"{self.title}: the time axis starts at {t.origin:g}, before the initial state at t = 0")

    def integrate(self, signal: Signal, grid: Grid) -> np.ndarray:
        import torch  # imported here, because torch takes seconds to import and other systems do not need it

        from lfno.solvers.vorticity import VorticityFlow

        device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
        fine, stride = self._refined(grid, self.resolution)
        flow = VorticityFlow(fine.axes[0].size, fine.axes[0].length, self.nu, device)
        x, y, _ = open_mesh(fine)
        initial, forcing = (
            torch.from_numpy(np.array(field, order="C")).to(device)
            for field in (signal(x[..., 0], y[..., 0]), self.forcing(x[..., 0], y[..., 0]))
        )
        return flow.frames(initial, forcing, grid.axes[2].points, self.dt, stride)[:, None].cpu().numpy()

    def reference(self, signal: Signal, grid: Grid) -> np.ndarray:
        """Solve the convective form of the equation, with twice the resolution and a quarter of the time step."""
        from lfno.solvers.vorticity import convective_flow

        fine, stride = self._refined(grid, 2 * self.resolution)
        x, y, _ = open_mesh(fine)
        fields, forcing = signal(x[..., 0], y[..., 0]), self.forcing(x[..., 0], y[..., 0])
        length, times = fine.axes[0].length, grid.axes[2].points
        flows = [convective_flow(w0, forcing, length, self.nu, times, self.dt / 4) for w0 in fields]
        return np.stack(flows)[:, None, ::stride, ::stride]

    @staticmethod
    def _refined(grid: Grid, least: int) -> tuple[Grid, int]:
        """Return a finer grid, and `stride`: every `stride`-th point of the finer grid is a point of `grid`.

        least: the smallest number of points on each side of the finer grid.
        """
        x = grid.axes[0]
        stride = -(-least // x.size)
        for name in ("x", "y"):
            grid = grid.change(name, size=x.size * stride, step=x.step / stride)
        return grid, stride
