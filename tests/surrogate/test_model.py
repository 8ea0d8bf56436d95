"""The public model: shapes of inputs and outputs, files, units and notes."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch

import lfno
from lfno.core.grid import Grid
from lfno.data.dataset import Dataset
from lfno.data.signals.record import Record
from lfno.identification.identify import Modes
from lfno.identification.modal import ModalModel
from lfno.surrogate import Surrogate
from lfno.systems.base import Channel

GRID = Grid.line(64, dt=0.1)
SIGNALS = {"inputs": [["force", "N"]], "outputs": [["x", "m"]], "warmup": 0, "record": False, "from_rest": True}


def network(seed: int = 0, **fields: int) -> lfno.LFNO:
    torch.manual_seed(seed)
    model = lfno.LFNO(GRID, width=4, modes=8, n_poles=2, projection=8, **fields)
    model.provenance = {"data": {"name": "rig", "signals": SIGNALS}}
    return model


def test_missing_axes_of_samples_and_channels_are_added() -> None:
    model = Surrogate([network()])
    force = np.random.default_rng(0).normal(size=(3, 1, 64))
    whole = model.predict(force)
    assert whole.shape == (3, 1, 64)
    np.testing.assert_array_equal(model.predict(force[:, 0]), whole[:, 0])
    np.testing.assert_allclose(model.predict(force[1, 0]), whole[1, 0], atol=1e-6)
    np.testing.assert_array_equal(model.predict(Dataset(force, force, GRID)), whole)
    transient, steady = model.decompose(force[1, 0])
    np.testing.assert_allclose(transient + steady, whole[1, 0], atol=1e-6)


def test_an_ensemble_predicts_the_mean_of_its_members_and_is_saved_in_one_file(tmp_path: Path) -> None:
    members = [network(seed) for seed in range(3)]
    model = Surrogate(members)
    force = np.random.default_rng(0).normal(size=64)
    answers = np.stack([member.predict(force) for member in members])
    told = model.ask(force)
    np.testing.assert_allclose(told.values, answers.mean(0), atol=1e-6)
    assert told.spread is not None
    np.testing.assert_allclose(told.spread, answers.std(0, ddof=1), atol=1e-6)
    again = lfno.load(model.save(tmp_path / "three.safetensors"))
    np.testing.assert_array_equal(again.predict(force), model.predict(force))
    assert repr(again) == "Surrogate(LFNO × 3, force [N] → x [m], 64 points of 0.1 s)"


def test_wrong_inputs_raise_an_error() -> None:
    model = Surrogate([network()])
    volts = (Channel("force", "V"),), (Channel("x", "m"),)
    record = Record(np.zeros((1, 64)), np.zeros((1, 64)), GRID, *volts)
    with pytest.raises(lfno.LfnoError, match="is in V and the model was trained with N"):
        model.predict(record)
    for wrong, words in [
        (np.zeros((2, 3, 64)), "3 input channels"),
        (np.full(64, np.nan), "NaN"),
        (np.zeros((0, 1, 64)), "empty"),
        (np.zeros((1, 1, 1, 1, 64)), "shape"),
        ("force", "inputs"),
    ]:
        with pytest.raises(lfno.LfnoError, match=words):
            model.predict(wrong)
    with pytest.raises(lfno.LfnoError, match="positive"):
        model.predict(np.zeros(64), dt=-1.0)


def test_another_time_step_or_duration_causes_a_warning() -> None:
    model = Surrogate([network()])
    with pytest.warns(UserWarning, match=r"time step of 0\.05"):
        model.predict(np.zeros(128), dt=0.05)
    with pytest.warns(UserWarning, match="trust the prediction less"):
        model.predict(np.zeros(128))


def test_a_model_needs_a_member() -> None:
    with pytest.raises(lfno.LfnoError, match="at least one member"):
        Surrogate([])


@pytest.mark.parametrize("hold", ["zero", "linear"])
def test_the_steady_part_of_a_linear_model_equals_the_response_after_many_repeats(hold: str) -> None:
    poles = np.array([-0.5 + 4j, -2.0 + 0j])
    residues = np.array([[[1 - 2j, 0.5]], [[0.3j, -1.0]]])
    modes = Modes(poles, residues, np.array([[0.2], [0.0]]), np.ones(2), 0.0, hold)
    model = Surrogate([ModalModel(modes, np.array([0.5]), np.array([1.0, -2.0]), GRID)])
    force = np.random.default_rng(0).normal(size=(1, 64))
    transient, steady = model.decompose(force)
    many = modes.simulate(np.tile(force - 0.5, 12)[None], 0.1)[0, :, -64:] + np.array([[1.0], [-2.0]])
    # after twelve repeats the response to the start has decayed
    np.testing.assert_allclose(steady, many, atol=1e-9)
    np.testing.assert_allclose(transient + steady, model.predict(force), atol=1e-12)
