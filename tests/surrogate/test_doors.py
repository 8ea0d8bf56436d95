"""The command line and Python give the same model and the same errors for the same data."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import lfno
from tests.cli.rig import answer

SMALL = {"epochs": 2, "width": 2, "projection": 4, "steady_decay": 1e-4, "transient_layers": 2}
SETTINGS = [word for name, value in SMALL.items() for word in ("--set", f"{name}={value}")]
RNG = np.random.default_rng(0)
STEP = 0.05


def filtered(force: np.ndarray) -> np.ndarray:
    """Return the response of x′ = f − x along the last axis. The input f is constant during a step, so each step is exact."""
    motion = np.zeros_like(force)
    for k in range(1, force.shape[-1]):
        motion[..., k] = np.exp(-STEP) * motion[..., k - 1] + (1 - np.exp(-STEP)) * force[..., k - 1]
    return motion


def record() -> tuple[dict[str, np.ndarray], Any]:
    """Return the columns of a file with one long record, and the same data for `lfno.fit`."""
    force = RNG.normal(size=1500)
    columns = {"t": STEP * np.arange(1500), "f": force, "u": filtered(force)}
    return columns, columns


def trajectories() -> tuple[dict[str, np.ndarray], Any]:
    """Return the arrays of a file with 20 trajectories, and the same data for `lfno.fit`."""
    force = RNG.normal(size=(20, 96))
    motion = filtered(force)
    return {"t": STEP * np.arange(96), "f": force, "u": motion}, (force, motion)


def several_inputs() -> tuple[dict[str, np.ndarray], Any]:
    """Return the arrays of a file with 20 trajectories of two inputs, and the same data for `lfno.fit`."""
    force = RNG.normal(size=(20, 2, 96))
    motion = filtered(force[:, 0] - 2 * force[:, 1])
    columns = {"t": STEP * np.arange(96), "f": force[:, 0], "g": force[:, 1], "u": motion}
    return columns, (force, motion)


def fields() -> tuple[dict[str, np.ndarray], Any]:
    """Return the arrays of a file with 12 fields in space and time, and the same data for `lfno.fit`."""
    force = RNG.normal(size=(12, 16, 24))
    columns = {"x": np.linspace(0, 1, 16), "t": STEP * np.arange(24), "f": force, "u": filtered(force)}
    return columns, columns


@pytest.mark.parametrize("kind", [record, trajectories, several_inputs, fields])
def test_python_and_the_command_line_give_the_same_numbers(kind: Any, tmp_path: Path) -> None:
    columns, arrays = kind()
    inputs = ",".join(name for name in ("f", "g") if name in columns)
    file = tmp_path / "data.npz"
    np.savez(file, **columns)  # type: ignore[arg-type]
    told = answer("fit", file, "--input", inputs, "--output", "u", *SETTINGS, "--device", "cpu", "--out", tmp_path / "run")
    options: dict[str, Any] = {"dt": STEP} if isinstance(arrays, tuple) else {"input": inputs, "output": "u"}
    model = lfno.fit(arrays, device="cpu", **options, **SMALL)
    assert model.scores is not None
    for name, row in told["test"].items():
        assert model.scores.rows[name]["l2"] == pytest.approx(row["l2"], rel=1e-6), name
    assert model.scores.verdict == told["verdict"]
    assert model.kind == "linear" or kind is fields
    assert lfno.load(tmp_path / "run").kind == model.kind


def test_python_and_the_command_line_fit_the_same_linear_model(tmp_path: Path) -> None:
    columns, _ = trajectories()
    np.savez(tmp_path / "data.npz", **columns)  # type: ignore[arg-type]
    told = answer("fit", tmp_path / "data.npz", "--input", "f", "--output", "u", "--linear", "--out", tmp_path / "run")
    model = lfno.fit((columns["f"], columns["u"]), dt=STEP, model="linear")
    assert model.scores is not None
    assert model.scores.rows["linear"]["l2"] == pytest.approx(told["test"]["linear"]["l2"])
    with pytest.raises(lfno.LfnoError, match="leave out epochs"):
        lfno.fit((columns["f"], columns["u"]), dt=STEP, model="linear", epochs=3)


def test_a_model_file_has_the_range_of_the_inputs_and_the_errors_for_intervals(tmp_path: Path) -> None:
    columns, _ = trajectories()
    made = lfno.fit((columns["f"], columns["u"]), dt=STEP, model="linear")
    model = lfno.load(made.save(tmp_path / "model.safetensors"))
    with pytest.warns(UserWarning, match=r"out of the range of training: the peak of the input is"):
        model.predict(10 * columns["f"])
    lower, upper = model.interval(columns["f"][0], level=0.5)
    assert lower.shape == upper.shape == (96,)
    assert (lower <= model.ask(columns["f"][0]).values).all()
    wide = model.interval(10 * columns["f"][0], level=0.5)
    assert (wide[1] - wide[0]).max() > 5 * (upper - lower).max(), "the interval is wider because the input exceeds its range"
    with pytest.raises(lfno.LfnoError, match="are too few for a 99 % interval"):
        model.interval(columns["f"][0], level=0.99)
