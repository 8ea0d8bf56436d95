"""Forced Navier–Stokes flow from a random vorticity: the benchmark of the original FNO paper."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np

from lfno.core.errors import LfnoError
from lfno.core.grid import Axis, Grid
from lfno.systems.base import Channel, Parameter
from lfno.systems.bumps import Bumps
from lfno.systems.fields import PeriodicField
from lfno.systems.navier_stokes import NavierStokes, torus_grid
from lfno.systems.signals import Signal

FRAMES = 10  # number of earlier frames that are the input; a frame is the field at one time


def vorticity(deviation: float) -> PeriodicField:
    """Return the family of random vorticities w0 ~ N(0, deviation² (−Δ + 49)^(−5/2)) on the unit torus, with modes |k| ≤ 31."""
    return PeriodicField((1.0, 1.0), 31, lambda squared: deviation * (squared + 49) ** -1.25)


#: The distribution of the published data of the benchmark. Papers print the covariance 7^(3/2) (−Δ + 49)^(−5/2). The program
#: that made the data multiplies the square root of (−Δ + 49)^(−5/2) by 7^(3/2), and by √2 because it takes the real part of a
#: complex field. The root mean square of w0 is 0.262.
STANDARD_VORTICITY = vorticity(2**0.5 * 7**1.5)
#: The distribution that papers print, N(0, 7^(3/2) (−Δ + 49)^(−5/2)). The root mean square of w0 is 0.043.
PRINTED_VORTICITY = vorticity(7**0.75)


class NavierStokesRandom(NavierStokes):
    """`w_t + u·∇w = ν Δw + F (sin 2π(x + y) + cos 2π(x + y))` on the unit torus. w0 is a Gaussian random field.

    This is a standard benchmark of neural operators, with 1000 samples for training and 200 for testing. In the data set
    `navier-stokes-nu1e-3-printed`, w0 has the distribution that papers print. Its w0 is six times smaller.

    A frame is the vorticity at one time. The input channels are the ten frames at t = 1 … 10 s. The output is the forty frames
    at t = 11 … 50 s. With w0 = 0, w is F (1 − e^(−8π²νt))/(8π²ν) (sin 2π(x + y) + cos 2π(x + y)), which is 1.24 at x = y = 0
    after 50 s. A viscosity below 1e-3 needs a finer grid than 64 × 64.

    >>> [channel.name for channel in NavierStokesRandom().inputs][:2]
    ['w1', 'w2']
    """

    title = "Navier–Stokes (random vorticity)"
    equation = "∂w/∂t + u·∇w = ν Δw + F (sin 2π(x+y) + cos 2π(x+y)),  Δψ = −w,  u = (∂ψ/∂y, −∂ψ/∂x)"
    parameters = (
        Parameter("nu", 1e-3, "viscosity", "m²/s", above=0),
        Parameter("F", 0.1, "amplitude of the forcing", "1/s²"),
    )
    inputs = tuple(Channel(f"w{n}", "1/s") for n in range(1, FRAMES + 1))
    grid = torus_grid(64, 1.0, Axis("t", 40, 1.0, 11.0, unit="s", time=True))
    accuracy = 1e-6
    accuracies: ClassVar[dict[str, float]] = {}
    sets: ClassVar = {"navier-stokes-nu1e-3": {}}
    families: ClassVar = {
        "paper": STANDARD_VORTICITY,
        "printed": PRINTED_VORTICITY,
        "rich": PeriodicField((1.0, 1.0), 6, lambda squared: squared**-0.5, amplitude=(0.05, 0.5)),
        "out": Bumps((1.0, 1.0), (0.2, 1.5), sharpness=(1.0, 4.0)),
    }
    count = 1200
    folds = 6
    chunk = 120
    dt = 0.04
    F: float

    def forcing(self, x: np.ndarray, y: np.ndarray) -> np.ndarray:
        return self.F * (np.sin(2 * np.pi * (x + y)) + np.cos(2 * np.pi * (x + y)))

    def check_grid(self, grid: Grid) -> None:
        super().check_grid(grid)
        x = grid.axes[0]
        if abs(x.length - round(x.length)) > 1e-9 or round(x.length) < 1:
            raise LfnoError(f"{self.title}: the forcing has period 1, a side of {x.length:g} is not a multiple of it")

    def record(self, given: Signal | Callable[..., Any] | np.ndarray, grid: Grid) -> tuple[np.ndarray, np.ndarray]:
        """Return inputs and outputs of a data set.

        The inputs are the first frames as channels, (sample, 10, x, y, 1). The outputs are later frames, (sample, 1, x, y, t).
        """
        self.check_grid(grid)
        t = grid.axes[2]
        if t.origin < FRAMES * t.step - 1e-9:
            raise LfnoError(
                f"{self.title}: the outputs start at t = {t.origin:g}; there is no time before it for {FRAMES} input frames "
                f"{t.step:g} apart, so start at t = {FRAMES * t.step:g} or later"
            )
        whole = grid.change("t", size=t.size + FRAMES, origin=t.origin - FRAMES * t.step)
        frames = self.solve(given, whole)
        return np.moveaxis(frames[:, 0, ..., :FRAMES], -1, 1)[..., None], frames[..., FRAMES:]
