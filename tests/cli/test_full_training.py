"""The accuracy of `lfno fit` and `lfno poles` after full training. These tests take minutes and run in `make test-long`."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from lfno.core.grid import Grid
from lfno.identification.pulse import small_signal_modes
from lfno.surrogate import load
from lfno.systems import Duffing
from tests.cli.rig import answer
from tests.identification.oscillator import Oscillator, multisine


@pytest.mark.long
def test_small_signal_modes_of_the_default_network(tmp_path: Path) -> None:
    """A network is trained on fifty responses of a linear oscillator with two masses. Its frequencies are right within 2 %."""
    system, step, size = Oscillator(), 0.05, 1024
    force = multisine(50, size, step, 0, substeps=4)
    motion = system.respond(force, step, 4)
    np.savez(tmp_path / "a.npz", t=step * np.arange(size), f=force[:, 0, ::4], u=motion[:, 0], w=motion[:, 1])
    answer("fit", tmp_path / "a.npz", "--input", "f", "--output", "u,w", "--out", tmp_path / "run", "--device", "cpu")
    rows = answer("poles", tmp_path / "run")["modes"]
    strong = np.array([row["frequency"] for row in rows if row["contribution"] > 0.05])
    true = system.poles.imag / (2 * np.pi)
    for frequency in true:
        assert np.abs(strong / frequency - 1).min() < 0.02
    for frequency in strong:
        assert np.abs(frequency / true - 1).min() < 0.02


@pytest.mark.long
def test_the_frequency_of_a_duffing_system_rises_with_amplitude(tmp_path: Path) -> None:
    """A network is trained on 200 responses of ẍ + ẋ + x + x³ = f.

    The damping coefficient is 1. With a third of this damping, 200 responses were too few: the error of the linear baseline
    was only 1.3 times the error of the network.
    """
    grid, system = Grid.line(512, dt=0.05), Duffing(c=1, alpha=1, beta=1)
    rng = np.random.default_rng(0)
    scale, tones = rng.uniform(0.2, 4, (200, 1)), rng.uniform(0.2, 6, (200, 12, 1))
    force = scale * np.sin(tones * grid.axes[0].points + rng.uniform(0, 6, (200, 12, 1))).sum(1) / 2.5
    motion = system.solve(force, grid)[:, 0]
    np.savez(tmp_path / "a.npz", t=grid.axes[0].points, f=force, u=motion)
    told = answer("fit", tmp_path / "a.npz", "--input", "f", "--output", "u", "--out", tmp_path / "run", "--device", "cpu")
    assert told["test"]["LFNO"]["nrmse"] < told["test"]["linear baseline"]["nrmse"] / 2
    model = load(tmp_path / "run").networks[0]
    heights = (0.5, 2.0, 4.0)
    seen = [small_signal_modes(model.predict, grid, height, order=2, width=1.0).poles.imag.max() for height in heights]
    true = [
        small_signal_modes(lambda x: system.solve(x[:, 0], grid), grid, height, order=2, width=1.0).poles.imag.max()
        for height in heights
    ]
    assert seen[0] < seen[1] < seen[2]
    np.testing.assert_allclose(seen, true, rtol=0.05)
