"""The demo runs from data to page; its true steady state is that of the equation."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import lfno
from lfno.cli.demo_page import damping, frequency, steady_state
from lfno.data.dataset import Dataset
from lfno.systems import Duffing
from tests.cli.rig import answer


def test_the_quick_demo_leaves_a_page_and_a_model(tmp_path: Path) -> None:
    told = answer("demo", "--quick", "--out", tmp_path / "demo")
    assert set(told["error"]) == {"LFNO", "FNO", "FNO, equal time", "best linear model"}
    assert told["runs"]["FNO, equal time"]["epochs"] >= told["runs"]["FNO"]["epochs"]
    page = Path(told["page"]).read_text()
    assert "hardly trained" in page
    assert page.count("<img") == 1
    assert page.count("<table>") == 2
    truth = [complex(*row["truth"]) for row in told["modes"]]
    assert frequency(truth[0]) == pytest.approx(1 / (2 * np.pi), rel=0.01)
    assert damping(truth[0]) == pytest.approx(0.25, rel=0.02)
    assert frequency(truth[1]) > frequency(truth[0])  # the spring stiffens
    model = lfno.load(told["model"])
    assert model.predict(np.zeros(128)).shape == (128,)


def test_the_true_steady_state_of_a_linear_oscillator() -> None:
    """A sine with a whole number of periods in the window: the response is the sine times the transfer function."""
    grid = lfno.Grid.line(256, dt=0.08)
    t, omega = grid.axes[0].points, 2 * np.pi * 3 / 20.48
    force = np.sin(omega * t)
    data = Dataset(force[None, None], force[None, None], grid)
    found = steady_state(Duffing(c=0.5, beta=0.0), force, data)
    gain = 1 / (1 - omega**2 + 0.5j * omega)
    np.testing.assert_allclose(found, (gain * np.exp(1j * omega * t)).imag, atol=1e-4)
