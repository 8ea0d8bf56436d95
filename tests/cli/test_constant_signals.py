"""Signals that are zero or constant: every command and function gives a right result or an error message."""

from __future__ import annotations

import warnings
from pathlib import Path

import numpy as np
import pytest

import lfno
from lfno.core.errors import LfnoError
from lfno.core.grid import Grid
from lfno.evaluation.baselines import fit_baselines
from lfno.evaluation.metrics import scores
from lfno.evaluation.regimes import regimes
from lfno.identification.frequency import measure_response
from lfno.identification.identify import identify
from lfno.identification.linear import fit_record
from tests.cli.rig import SMALL, STEP, answer, call, signals, write_csv

SIZE = 600  # samples of a signal
T = STEP * np.arange(SIZE)
DECAY = np.exp(-0.2 * T) * np.cos(3 * T)
MOVING = signals(SIZE)
ZERO = np.zeros(SIZE)

#: name of the file -> its columns, and words of the error message of `lfno fit`
FILES: dict[str, tuple[dict[str, np.ndarray], str]] = {
    "zero input": ({"force": ZERO, "u": DECAY}, "cannot learn the response"),
    "constant input": ({"force": ZERO + 3, "u": DECAY}, "cannot learn the response"),
    "constant output": ({"force": MOVING["force"], "u": ZERO + 2}, "nothing to learn"),
    "all zero": ({"force": ZERO, "u": ZERO}, "nothing to learn"),
    "no input": ({"u": DECAY}, "initial state"),
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with the files, with the linear model `modes` and with the trained model `network`."""
    place = tmp_path_factory.mktemp("still")
    for name, (columns, _) in FILES.items():
        write_csv(place / f"{name}.csv", {"t": T, **columns})
    write_csv(place / "rig.csv", MOVING)
    call("fit", place / "rig.csv", "--linear", "--out", place / "modes")
    call("fit", place / "rig.csv", "--epochs", 1, *SMALL, "--out", place / "network")
    np.savez(place / "two.npz", t=MOVING["t"], f1=MOVING["force"], f2=ZERO, u=MOVING["u"])
    return place


@pytest.mark.parametrize("name", FILES)
def test_a_fit_to_constant_signals_ends_with_an_error_message(folder: Path, name: str) -> None:
    for more in ([], ["--linear"]):
        with pytest.raises(LfnoError, match=FILES[name][1]):
            call("fit", folder / f"{name}.csv", *more)
    assert FILES[name][1] in answer("inspect", folder / f"{name}.csv")["problems"][0]
    with pytest.raises(LfnoError, match=FILES[name][1]):
        lfno.fit({"t": T, **FILES[name][0]}, epochs=1)


@pytest.mark.parametrize("name", [name for name in FILES if name != "no input"])
def test_models_predict_the_response_to_constant_inputs(folder: Path, name: str, tmp_path: Path) -> None:
    file = folder / f"{name}.csv"
    for model in ("modes", "network"):
        call("predict", folder / model, file, "-o", tmp_path / "answer.csv")
        found = np.genfromtxt(tmp_path / "answer.csv", delimiter=",", skip_header=1)
        assert np.isfinite(found).all()
        with pytest.raises(LfnoError, match=FILES[name][1]):
            call("poles", folder / model, "--data", file)
    call("decompose", folder / "network", file, "-o", tmp_path / "parts")


def test_one_of_two_inputs_is_zero(folder: Path, tmp_path: Path) -> None:
    """The model has the same error as a model of the other input alone, and the Bode plot can be drawn."""
    options = ["--input", "f1,f2", "--output", "u"]
    told = answer("fit", folder / "two.npz", "--linear", *options, "--out", tmp_path / "two")
    assert any("'f2' is constant (0)" in note for note in told["notes"])
    alone = answer("fit", folder / "two.npz", "--linear", "--input", "f1", "--output", "u", "--out", tmp_path / "one")
    assert told["test"]["linear"]["nrmse"] == pytest.approx(alone["test"]["linear"]["nrmse"], rel=0.01)
    call("poles", tmp_path / "two", "--data", folder / "two.npz")


#: name -> inputs and outputs, (channels, time)
PAIRS = {
    "zero": (ZERO[None], ZERO[None]),
    "constant": (ZERO[None] + 3, ZERO[None] - 1),
    "decay": (ZERO[None], DECAY[None]),
    "one of two": (np.stack([MOVING["force"], ZERO]), np.stack([DECAY, ZERO])),
}


@pytest.mark.parametrize(("inputs", "outputs"), PAIRS.values(), ids=PAIRS)
def test_identification_and_evaluation_of_constant_signals_give_finite_values_without_warnings(
    inputs: np.ndarray, outputs: np.ndarray
) -> None:
    grid = Grid.line(SIZE, STEP)
    batch = [np.repeat(values[None, :, :100], 6, 0) for values in (inputs, outputs)]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        modes = identify(inputs[None], outputs[None], grid, max_poles=2)
        assert modes.shapes.shape == (len(outputs), len(modes.poles))
        for model in (fit_record(inputs, outputs, grid), modes):
            simulated = model.simulate(inputs[None], STEP) if model is modes else model.predict(inputs[None])
            assert np.isfinite(simulated).all()
        response = measure_response(inputs[None], outputs[None], STEP)
        assert np.isnan(response.response[:, np.ptp(inputs, axis=1) == 0]).all()
        for predict in fit_baselines(*batch, None, Grid.line(100, STEP)).values():
            assert np.isfinite(predict(batch[0], None)).all()
        scores(outputs[None], outputs[None])
        regimes(0 * batch[1], batch[1], 50)
