"""The Lorenz system of convection with a forcing on its vertical component."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from lfno.systems.base import Parameter
from lfno.systems.ode import ForcedODE


class Lorenz(ForcedODE):
    """`ẋ = γ(y − x)`, `ẏ = x(ρ − z) − y`, `ż = xy − βz − f(t)`, (x, y, z)(0) = (1, 0, 0); the output is x.

    At ρ = 5 and ρ = 10, the system is not chaotic: both fixed points are stable. At ρ = 10, the forcing decides which fixed
    point the system reaches. In the paper's family, the fixed point changes once, at the amplitude A = 7.3710424. Chaos begins
    at ρ = 24.74.

    >>> Lorenz(rho=5).solve(lambda t: np.sin(t)).shape
    (1, 1, 2048)
    """

    title = "Forced Lorenz system"
    equation = "ẋ = γ(y − x), ẏ = x(ρ − z) − y, ż = xy − βz − f(t)"
    conditions = "x(0) = 1, y(0) = 0, z(0) = 0"
    parameters = (
        Parameter("gamma", 10.0, "Prandtl number", above=0),
        Parameter("rho", 5.0, "Rayleigh number over its critical value", above=0),
        Parameter("beta", 8 / 3, "aspect ratio", above=0),
    )
    sets: ClassVar = {"lorenz-rho5": {"rho": 5.0}, "lorenz-rho10": {"rho": 10.0}}
    #: at ρ = 10, solutions that come between the two fixed points amplify errors by a factor of about a thousand
    accuracies: ClassVar = {"lorenz-rho10": 1e-5, "lorenz-rho10-rich": 1e-5, "lorenz-rho10-out": 1e-5}
    start = (1.0, 0.0, 0.0)
    gamma: float
    rho: float
    beta: float

    def rate(self, state: np.ndarray, force: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        x, y, z = state
        return self.gamma * (y - x), x * (self.rho - z) - y, x * y - self.beta * z - force
