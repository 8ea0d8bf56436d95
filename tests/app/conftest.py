"""Files like those that users drop on the page."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

T = np.arange(1200) * 0.05


def signals() -> np.ndarray:
    """Time, a random multisine, and the response of an oscillator to it."""
    phase = np.random.default_rng(0).uniform(0, 2 * np.pi, 12)
    force = sum(np.sin(0.4 * k * T + p) for k, p in enumerate(phase, 1))
    place = speed = 0.0
    places = []
    for f in np.asarray(force):
        places.append(place)
        speed += 0.05 * (f - 0.8 * speed - 2 * place)
        place += 0.05 * speed
    return np.stack([T, force, np.array(places)], 1)


@pytest.fixture
def table(tmp_path: Path) -> Callable[..., Path]:
    """A CSV file of these signals; `cell` replaces one value of the response in line `line`."""

    def write(name: str = "rig.csv", line: int = 0, cell: str = "") -> Path:
        rows = [",".join(f"{value:.6g}" for value in row) for row in signals()]
        if line:
            rows[line - 2] = rows[line - 2].rpartition(",")[0] + "," + cell
        path = tmp_path / name
        path.write_text("\n".join(["time (s),force [N],u [mm]", *rows]) + "\n")
        return path

    return write
