"""The forced, damped pendulum."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from lfno.systems.base import Channel, Parameter
from lfno.systems.excitations import rich, unseen
from lfno.systems.ode import BAND, DECAYING_SINE, DURATION, ForcedODE


class Pendulum(ForcedODE):
    """`ẍ + c ẋ + (g/l) sin x = f(t)`, x(0) = ẋ(0) = 0.

    x is the angle. The pendulum is a spring that becomes softer with the angle. A strong force drives the pendulum over the
    top; each full turn then adds 2π to x. The parameter `ratio` is g/l: 9.81/s² for a pendulum of one metre.

    >>> Pendulum(c=0.5).solve(lambda t: 0.1 * np.sin(t)).shape
    (1, 1, 2048)
    """

    title = "Forced pendulum"
    equation = "ẍ + c ẋ + (g/l) sin x = f(t)"
    conditions = "x(0) = 0, ẋ(0) = 0"
    parameters = (
        Parameter("c", 0.5, "damping", "1/s", low=0),
        Parameter("ratio", 1.0, "gravity over length, g/l", "1/s²", above=0),
    )
    inputs = (Channel("f", "rad/s²"),)
    outputs = (Channel("x", "rad"),)
    sets: ClassVar = {"pendulum-c05": {"c": 0.5}}
    #: random forces are weaker than gravity, so that only a resonance drives the pendulum over the top
    families: ClassVar = {
        "paper": DECAYING_SINE,
        "rich": rich((0.1, 1.0), BAND, DURATION),
        "out": unseen((0.1, 1.0), BAND, DURATION),
    }
    start = (0.0, 0.0)
    turn = 2 * np.pi
    c: float
    ratio: float

    @property
    def damped(self) -> bool:
        return self.c > 0

    def rate(self, state: np.ndarray, force: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        x, v = state
        return v, force - self.c * v - self.ratio * np.sin(x)
