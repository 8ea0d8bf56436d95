"""The example file of the page: a simulated measurement of an oscillator with a stiffening spring and a random force."""

from __future__ import annotations

from typing import Any

import numpy as np

from lfno.app.single import Single
from lfno.core.grid import Grid
from lfno.systems.duffing import Duffing

SAMPLES = 6000  # number of time steps
STEP = 0.05  # s; time step
NOISE = 0.005  # m; standard deviation of the measurement noise of the displacement
GAP = range(2400, 2412)  # time steps without a measured displacement


def example_table() -> bytes:
    """Return a CSV file with 300 s of time, force and displacement. The displacement has noise and one gap."""
    draw = np.random.default_rng(7)
    grid = Grid.line(SAMPLES, dt=STEP)
    tones = draw.uniform(0.02, 0.6, 40)
    phases = draw.uniform(0, 2 * np.pi, 40)

    def force(t: Any) -> np.ndarray:
        return 0.45 * np.sin(2 * np.pi * np.multiply.outer(t, tones) + phases).sum(-1)

    place = Single(Duffing(c=0.5)).solve(force, grid) + NOISE * draw.standard_normal(SAMPLES)
    cells = [f"{value:.5f}" for value in place]
    for gone in GAP:
        cells[gone] = ""
    times = grid.axes[0].points
    rows = [f"{t:.2f},{f:.5f},{x}" for t, f, x in zip(times, force(times), cells, strict=True)]
    return "\n".join(["time [s],force [N],displacement [m]", *rows, ""]).encode()
