"""Modal analysis of fields: eigenvalues of the equations, exact responses, and errors."""

from pathlib import Path

import numpy as np
import pytest

import lfno
from lfno.core.errors import LfnoError
from lfno.core.grid import Axis, Grid
from lfno.data.dataset import Dataset
from lfno.identification.field import FieldModel, identify_field
from lfno.systems import Beam, Heat


def relative(found: np.ndarray, truth: np.ndarray) -> float:
    """Return the relative L2 error."""
    return float(np.linalg.norm(found - truth) / np.linalg.norm(truth))


@pytest.fixture(scope="module")
def heat(tmp_path_factory: pytest.TempPathFactory) -> Dataset:
    return lfno.dataset("heat-rich", out=tmp_path_factory.mktemp("data"), count=60)


def test_the_poles_of_heat_are_its_eigenvalues_and_new_fields_are_predicted(heat: Dataset) -> None:
    model = identify_field(heat.inputs[:40], heat.outputs[:40], heat.grid)
    assert model.basis == "sine"
    assert model.offset is None
    for k, truth in enumerate(Heat().linearised_poles()[:4]):
        strongest = model.modes[k].poles[0]
        assert abs(strongest - truth) < 2e-3 * abs(truth)
    assert relative(model.predict(heat.inputs[40:]), heat.outputs[40:]) < 5e-4


def test_the_poles_of_a_beam_are_its_eigenfrequencies(tmp_path: Path) -> None:
    data = lfno.dataset("beam-rich", out=tmp_path, count=40)
    model = identify_field(data.inputs[:30], data.outputs[:30], data.grid)
    # the fourth mode oscillates 1.5 times in the window; the data cannot distinguish slower modes from decays
    truth = Beam().linearised_poles()[3]
    assert np.abs(model.modes[3].poles - truth).min() < 0.01 * abs(truth)
    assert relative(model.predict(data.inputs[30:]), data.outputs[30:]) < 1e-3


def test_steady_is_the_periodic_steady_state_of_the_equation(heat: Dataset) -> None:
    model = identify_field(heat.inputs[:40], heat.outputs[:40], heat.grid)
    # the input is smooth and periodic in the window: one period of a sine in time, and the first sine in space
    x, t = heat.grid.axes
    shape = np.sin(np.pi * x.points / (49 * x.step))[:, None] * np.sin(2 * np.pi * t.points / t.length)
    truth = Heat().steady_state(shape).values
    transient, steady = model.decompose(shape[None, None], heat.grid)
    assert relative(steady, truth) < 2e-3
    assert np.allclose(transient + steady, model.predict(shape[None, None]))


def test_a_model_predicts_on_a_finer_grid(heat: Dataset) -> None:
    model = identify_field(heat.inputs[:40], heat.outputs[:40], heat.grid)
    fine = Grid((Axis("x", 99, 0.04, unit="m", boundary="fixed"), Axis("t", 99, 0.005, unit="s", time=True)))
    force = np.sin(np.pi * fine["x"].points / 3.92)[:, None] * np.cos(20 * fine["t"].points)
    assert relative(model.predict(force[None, None], fine), Heat().solve(force, fine)) < 1e-3


def test_a_model_predicts_on_a_grid_with_fewer_points_than_modes(heat: Dataset) -> None:
    model = identify_field(heat.inputs[:40], heat.outputs[:40], heat.grid)
    x = heat.grid["x"]
    coarse = heat.grid.change("x", size=8, step=7 * x.step)
    force = np.sin(2 * np.pi * np.arange(50) / 49)[:, None] * np.cos(9 * heat.grid["t"].points)
    whole = model.predict(force[None, None])
    assert len(model.modes) > 8
    assert relative(model.predict(force[None, None, ::7], coarse), whole[:, :, ::7]) < 1e-6
    with pytest.raises(LfnoError, match="at least 2 time steps"):
        model.predict(force[None, None, :, :1], heat.grid.change("t", size=1))


def test_a_motion_without_input_becomes_the_offset_of_the_model() -> None:
    """The field also moves without an input: y = response + drift. All samples have the same drift."""
    grid = Grid((Axis("x", 33, 1 / 32, boundary="free"), Axis("t", 60, 0.05, time=True)))
    x, t = grid.mesh()
    gains = np.random.default_rng(0).normal(size=(20, 1, 1, 1))
    drift = t * np.cos(np.pi * x)
    # y' = −2 y + f with f = g e^{−t}: y = g (e^{−t} − e^{−2t})
    forces, fields = gains * np.exp(-t), gains * (np.exp(-t) - np.exp(-2 * t)) + drift
    model = identify_field(forces, fields, grid)
    assert model.basis == "cosine"
    assert relative(model.predict(np.zeros_like(forces[:1])), drift[None, None]) < 1e-6
    assert relative(model.predict(forces), fields) < 1e-4


def test_a_saved_model_predicts_the_same(heat: Dataset, tmp_path: Path) -> None:
    model = identify_field(heat.inputs[:40], heat.outputs[:40], heat.grid)
    model.save(tmp_path / "rod.safetensors")
    again = FieldModel.load(tmp_path / "rod.safetensors")
    assert np.array_equal(again.predict(heat.inputs[:2]), model.predict(heat.inputs[:2]))


def test_other_fields_are_refused() -> None:
    ring = Grid((Axis("x", 16, 0.1, periodic=True), Axis("t", 20, 0.1, time=True)))
    with pytest.raises(LfnoError, match="is periodic"):
        identify_field(np.ones((2, 1, 16, 20)), np.ones((2, 1, 16, 20)), ring)
    line = Grid((Axis("x", 16, 0.1), Axis("t", 20, 0.1, time=True)))
    with pytest.raises(LfnoError, match="the same in all samples"):
        identify_field(np.ones((2, 1, 16, 20)), np.ones((2, 1, 16, 20)), line)
    short = Grid((Axis("x", 1, 0.1), Axis("t", 20, 0.1, time=True)))
    with pytest.raises(LfnoError, match="at least 3"):
        identify_field(np.ones((2, 1, 1, 20)), np.ones((2, 1, 1, 20)), short)
    with pytest.raises(LfnoError, match="2 and 1"):
        identify_field(np.ones((2, 2, 16, 20)), np.ones((2, 1, 16, 20)), line)
