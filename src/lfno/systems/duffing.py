"""The Duffing oscillator: a mass on a spring that stiffens with displacement."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from lfno.systems.base import Channel, Parameter
from lfno.systems.ode import ForcedODE


class Duffing(ForcedODE):
    """`ẍ + c ẋ + α x + β x³ = f(t)`, x(0) = ẋ(0) = 0.

    With c = 0 there is no damping, and the response has no steady state. Neighbouring samples of the paper's family then differ
    by 100 % near the amplitude A = 8.83. With c = 0.5, the effect of the initial state decays with a time constant of about
    4 s. β = 0 is a linear oscillator.

    >>> Duffing(c=0.5).solve(lambda t: np.sin(t)).shape
    (1, 1, 2048)
    """

    title = "Duffing oscillator"
    equation = "ẍ + c ẋ + α x + β x³ = f(t)"
    conditions = "x(0) = 0, ẋ(0) = 0"
    parameters = (
        Parameter("c", 0.5, "damping", "1/s", low=0),
        Parameter("alpha", 1.0, "linear stiffness", "1/s²"),
        Parameter("beta", 1.0, "cubic stiffness", "1/(m²s²)", low=0),
    )
    inputs = (Channel("f", "m/s²"),)
    outputs = (Channel("x", "m"),)
    sets: ClassVar = {"duffing-c0": {"c": 0.0}, "duffing-c05": {"c": 0.5}}
    accuracies: ClassVar = {"duffing-c0-rich": 1e-7, "duffing-c0-out": 1e-7}  # without damping, errors do not decay
    start = (0.0, 0.0)
    c: float
    alpha: float
    beta: float

    @property
    def damped(self) -> bool:
        return self.c > 0

    def rate(self, state: np.ndarray, force: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        x, v = state
        return v, force - self.c * v - x * (self.alpha + self.beta * x * x)
