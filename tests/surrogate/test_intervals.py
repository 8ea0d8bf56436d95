"""An output that was not measured in the test samples has no prediction interval, and every surface says so."""

from __future__ import annotations

import warnings
from pathlib import Path

import numpy as np
import pytest
from scipy.signal import lfilter

import lfno
from lfno.core.errors import LfnoError
from lfno.core.grid import Grid
from lfno.data import storage
from lfno.data.dataset import Dataset
from lfno.data.prepare import prepare
from lfno.systems.base import Channel
from tests.cli.rig import answer, call

WORDS = "there is no interval for the outputs that were not measured"


@pytest.fixture(scope="module", params=[0, 1])
def missing(request: pytest.FixtureRequest) -> int:
    """Return the index of the output that was not measured in the test samples."""
    return int(request.param)


@pytest.fixture(scope="module")
def data(missing: int) -> Dataset:
    """Return trajectories of the outputs a and b. One of them was not measured in the test samples."""
    force = np.random.default_rng(0).normal(size=(50, 1, 120))
    outputs = np.concatenate([lfilter([0.1], [1, -0.9], force), lfilter([0.2], [1, -0.8], force)], 1)
    outputs += 0.01 * np.random.default_rng(1).normal(size=outputs.shape)
    names = (Channel("force", "N"),), (Channel("a", "m"), Channel("b", "m"))
    whole = Dataset(force, outputs, Grid.line(120, 0.1), {}, *names)
    mask = np.ones(outputs.shape, bool)
    mask[prepare(whole).split.test, missing] = False
    return Dataset(force, outputs, whole.grid, {}, *names, mask=mask)


def test_the_bounds_of_an_output_that_was_not_measured_are_nan(data: Dataset, missing: int, tmp_path: Path) -> None:
    model = lfno.fit(data, model="linear")
    model.save(tmp_path / "model.safetensors")
    for one in (model, lfno.load(tmp_path / "model.safetensors")):
        with pytest.warns(UserWarning, match=f"{WORDS}.*: '{'ab'[missing]}'"):
            lower, upper = one.interval(data[:3], 0.5)
        assert (lower[:, 1 - missing] < upper[:, 1 - missing]).all()
        assert np.isnan(lower[:, missing]).all()
        assert np.isnan(upper[:, missing]).all()
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            one.interval(data[:3], 0.5, warn=False)
        assert one.scores is not None
        assert np.isnan(one.scores.own["rmse"][missing])
        assert np.isfinite(one.accuracy)


def test_the_command_and_the_page_say_that_there_is_no_interval(data: Dataset, missing: int, tmp_path: Path) -> None:
    file = storage.save(data, tmp_path / "data.h5")
    told = answer("fit", file, "--linear", "--out", tmp_path / "run")
    assert told["test"]["linear"]["rmse"][missing] is None
    page = (tmp_path / "run" / "report.html").read_text()
    assert WORDS in page.replace("There", "there")
    assert "± nan" not in page
    report = answer("predict", tmp_path / "run", file, "-o", tmp_path / "answer.npz", "--interval", 0.5)
    assert any(note.startswith(WORDS) for note in report["notes"])
    with np.load(tmp_path / "answer.npz") as arrays:
        assert np.isfinite(arrays[f"{'ba'[missing]}_lower"]).all()
        assert np.isnan(arrays[f"{'ab'[missing]}_lower"]).all()
    assert "nan" not in call("predict", tmp_path / "run", file, "-o", tmp_path / "answer.npz", "--quiet")


def test_outputs_with_measured_test_samples_have_intervals_without_a_warning(data: Dataset) -> None:
    whole = Dataset(data.inputs, data.outputs, data.grid)
    model = lfno.fit(whole, model="linear")
    assert model.without_interval == ""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        lower, upper = model.interval(whole[:3], 0.5)
    assert (lower < upper).all()
    with pytest.raises(LfnoError, match="too few"):
        model.interval(whole[:3], 0.999)
