"""`lfno demo` makes its page and model, and an exact model has no error."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import lfno
from lfno.cli import demo
from lfno.cli.demo_outcome import Trained, judge
from lfno.cli.demo_page import DATA
from lfno.data import storage
from lfno.data.dataset import Dataset
from lfno.data.split import standard
from lfno.identification.identify import Modes
from lfno.identification.modal import ModalModel
from lfno.paper.presets import find_preset
from lfno.systems import Duffing
from tests.cli.rig import answer


def test_the_quick_demo_writes_a_page_and_a_model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tiny = demo.Size(samples=20, points=128, epochs=2, changes={"width": 4, "modes": 8, "projection": 8})
    monkeypatch.setattr(demo, "QUICK", tiny)
    told = answer("demo", "--quick", "--out", tmp_path / "demo")
    assert set(told["error"]) == {"LFNO", "FNO", "FNO, equal time", "linear baseline"}
    assert told["runs"]["FNO, equal time"]["epochs"] >= told["runs"]["FNO"]["epochs"]
    page = Path(told["page"]).read_text()
    assert "This is the quick demo" in page
    assert page.count("<img") == 1
    assert page.count("<table>") == 2
    assert f"lfno poles {tmp_path / 'demo'}/lfno" in page  # the commands on the page name the folder of this demo
    true = told["true_mode"]
    assert true["frequency"] == pytest.approx(np.sqrt(1 - 0.25**2) / (2 * np.pi))
    assert true["damping_ratio"] == pytest.approx(0.25)
    assert len(storage.load(tmp_path / "demo" / DATA)) == 20
    model = lfno.load(told["model"])
    assert model.predict(np.zeros(128)).shape == (128,)


def test_a_complex_parameter_counts_once() -> None:
    """The paper's LFNO has 3417 parameters."""
    grid = lfno.Grid.line(2048, dt=0.01)
    network = lfno.LFNO(grid, **find_preset("paper")("lfno", grid).fields)
    assert Trained(network, standard(30), 1, 1.0).parameters == 3417


def test_an_exact_model_in_place_of_the_network_has_no_error() -> None:
    """The exact model of a linear oscillator is one mode. Its response, its parts and its mode equal the true ones."""
    grid, system = lfno.Grid.line(256, dt=0.08), Duffing(c=0.5, beta=0.0)
    rng = np.random.default_rng(0)
    waves = np.exp(2j * np.pi * np.arange(1, 6)[:, None] * grid.axes[0].points / 20.48)
    forces = (rng.normal(size=(30, 5)) @ waves).imag
    data = Dataset(forces[:, None], system.solve(forces, grid), grid)
    pole = -0.25 + 1j * np.sqrt(1 - 0.25**2)
    found = Modes(
        np.array([pole]), np.full((1, 1, 1), -1j / pole.imag), np.zeros((1, 1)), np.ones(1), 0.0, "cubic",
        covariance=np.eye(2)[None] * 1e-8,
    )  # fmt: skip
    model: Any = ModalModel(found, np.zeros(1), np.zeros(1), grid)
    outcome = judge(data, {"LFNO": Trained(model, standard(30), 1, 1.0)}, system)
    assert outcome.error["LFNO"] < 1e-3
    assert max(outcome.split_error.values()) < 2e-3
    assert outcome.modes[0].frequency == pytest.approx(outcome.true_frequency)
    assert outcome.modes[0].damping_ratio == pytest.approx(outcome.true_damping)
