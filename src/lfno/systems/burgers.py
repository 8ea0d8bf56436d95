"""Burgers' equation: waves become steeper until they are shocks, whose width depends on the viscosity."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from lfno.core.grid import Axis, Grid
from lfno.solvers.cole_hopf import periodic_solution, ramp_solution
from lfno.systems.base import Channel, Parameter, System
from lfno.systems.bumps import Bumps
from lfno.systems.families import Curve, FamilySignal
from lfno.systems.fields import PeriodicField
from lfno.systems.signals import Signal

#: u0 = U x, U uniform in [1.6, 2.4)
RAMP = Curve("U", lambda U, x: U * x, 1.6, 2.4, random=True, unit="1/s")


class Burgers(System):
    """`u_t + u u_x = ν u_xx` on a periodic line, from u(x, 0) = u0(x).

    The paper's u0 = U x jumps at the end of the period, and the jump becomes a shock. On the default interval [−π, π), the
    shock does not move: its middle stays at x = −π, where u is −Uπ at t = 0 and 0 at all later times. On the interval [0, 2π),
    which is `grid.change("x", origin=0.0)`, u has the mean Uπ, so that the shock moves. This is harder to predict. With
    ν = 0.01/π, shocks are thinner than the distance of the points of the paper's grid.

    >>> Burgers().solve(lambda x: np.sin(x)).shape
    (1, 1, 50, 50)
    """

    title = "Burgers' equation"
    equation = "∂u/∂t + u ∂u/∂x = ν ∂²u/∂x²"
    conditions = "periodic, u(x, 0) = u0(x)"
    kind = "initial"
    parameters = (Parameter("nu", 0.01 / np.pi, "viscosity", "m²/s", above=0),)
    inputs = (Channel("u0", "m/s"),)
    outputs = (Channel("u", "m/s"),)
    grid = Grid(
        (Axis("x", 50, np.pi / 25, -np.pi, unit="m", periodic=True), Axis("t", 50, 0.02, unit="s", time=True))
    )
    solver = "Cole–Hopf transform, in closed form for u0 = U x, else by Gauss quadrature in log space"
    accuracy = 1e-9
    sets: ClassVar = {"burgers": {}}
    families: ClassVar = {
        "paper": RAMP,
        "rich": PeriodicField((2 * np.pi,), 6, lambda squared: squared**-0.5, amplitude=(0.3, 1.5)),
        "out": Bumps((2 * np.pi,), (0.3, 1.5), centred=False),
    }
    nu: float

    def integrate(self, signal: Signal, grid: Grid) -> np.ndarray:
        x, t = grid.axes
        times = t.points - t.origin
        if isinstance(signal, FamilySignal) and signal.family is RAMP:
            return ramp_solution(signal.draws["U"], x.points, times, self.nu, x.origin, x.length)[:, None]
        return periodic_solution(signal, x.points, times, self.nu, x.length)[:, None]

    def reference(self, signal: Signal, grid: Grid) -> np.ndarray:
        """Compute the two integrals of the Cole–Hopf solution (`lfno.solvers.cole_hopf`) by a fine quadrature at each point."""
        x, t = grid.axes
        panels, stages = 400, 12
        width = x.length / panels
        nodes, weights = np.polynomial.legendre.leggauss(stages)
        places = (x.origin + width * (np.arange(panels)[:, None] + (nodes + 1) / 2)).ravel()
        slopes = signal(places).reshape(signal.count, panels, stages)
        # The potential ψ is the integral of u0 from the left end of the period. Within a panel, we integrate the polynomial
        # through the values of u0 at the nodes. Then we add the integrals over all panels on the left of this panel.
        powers = np.arange(1, stages + 1)
        monomials = np.linalg.inv(np.vander(nodes, increasing=True))
        primitive = (nodes[:, None] ** powers - (-1.0) ** powers) / powers @ monomials
        gains = slopes @ (weights * width / 2)
        before = np.cumsum(gains, axis=1) - gains
        potential = (slopes @ primitive.T * width / 2 + before[..., None]).reshape(len(slopes), -1)
        furthest = t.length * np.abs(slopes).max() + 10 * np.sqrt(2 * self.nu * t.length)
        copies = np.arange(-np.ceil(furthest / x.length), np.ceil(furthest / x.length) + 1)
        line = (places + x.length * copies[:, None]).ravel()
        heights = (potential[:, None] + (copies * gains.sum(axis=1)[:, None])[..., None]).reshape(len(slopes), -1)
        mass = np.tile(weights * width / 2, panels * len(copies))
        answer = np.empty((len(slopes), 1, x.size, t.size))
        answer[:, 0, :, 0] = signal(x.points)
        for j, n in np.ndindex(x.size, t.size - 1):
            time, reach = (n + 1) * t.step, x.points[j] - line
            height = reach**2 / (2 * time) + heights
            weight = mass * np.exp((height.min(axis=1, keepdims=True) - height) / (2 * self.nu))
            answer[:, 0, j, n + 1] = weight @ reach / (time * weight.sum(axis=1))
        return answer
