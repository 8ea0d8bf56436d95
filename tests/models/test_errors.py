"""Every error of a user gives one clear error message."""

import math

import numpy as np
import pytest
import torch

import lfno
from lfno import FNO, LFNO, LNO, Grid, LfnoError
from lfno.core.grid import Axis

GRID = Grid.line(32, dt=0.1)
PLANE = Grid((Axis("x", 8, 0.1), Axis("y", 9, 0.1)))


def model():
    return LFNO(GRID, width=2, modes=3, n_poles=2, in_channels=2)


@pytest.mark.parametrize(
    ("x", "sentence"),
    [
        (torch.zeros(1, 3, 32), "has 3 channels; the model takes 2"),
        (torch.zeros(2, 32), r"has shape \(2, 32\); expected \(batch, 2, t=32\)"),
        (torch.zeros(1, 2, 31), "has 31 points, but the grid has t=32; pass the grid of the input"),
        (torch.zeros(0, 2, 32), "no sample"),
        (torch.zeros(1, 2, 32, dtype=torch.int64), "dtype torch.int64; the model computes in torch.float32"),
        (torch.zeros(1, 2, 32, dtype=torch.float64), "dtype torch.float64; the model computes in torch.float32"),
        (torch.zeros(1, 2, 32, dtype=torch.complex64), "dtype torch.complex64"),
        (torch.full((1, 2, 32), math.nan), "NaN or infinite"),
        (torch.full((1, 2, 32), math.inf), "NaN or infinite"),
        (np.zeros((1, 2, 32)), "predict takes arrays"),
        ([[0.0]], "predict takes arrays"),
    ],
)
def test_wrong_inputs(x, sentence):
    with pytest.raises(LfnoError, match=sentence):
        model()(x)


@pytest.mark.parametrize(
    ("inputs", "sentence"),
    [
        (["a"] * 32, "real numbers are needed"),
        ([[1.0, 2.0], [3.0]], "different lengths"),
        (np.zeros((2, 32)) + 1j, "dtype complex128"),
        (None, "dtype object"),
        (np.zeros((3, 2, 33)), "33 points, but the grid has t=32"),
        (np.zeros(32), "has shape"),
    ],
)
def test_wrong_arrays(inputs, sentence):
    with pytest.raises(LfnoError, match=sentence):
        model().predict(inputs)
    with pytest.raises(LfnoError, match=sentence):
        model().decompose(inputs)


@pytest.mark.parametrize(
    ("size", "grid", "sentence"),
    [
        ((32,), PLANE, "has 2 axes, but the model was built for 1"),
        ((16,), Grid.line(17, dt=0.1), "16 points, but the grid has t=17"),
        ((4,), Grid.line(4, dt=0.1), "4 modes on axis 't' are too many: 4 points allow at most 3"),
        ((32,), 0.1, "found Tensor and float"),
    ],
)
def test_grids_that_do_not_match(size, grid, sentence):
    network = LFNO(GRID, width=2, modes=4, n_poles=2)
    with pytest.raises(LfnoError, match=sentence):
        network(torch.zeros(1, 1, *size), grid)


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"modes": 18}, r"18 modes on axis 't' are too many: 32 points allow at most 17 \(Nyquist limit\)"),
        ({"modes": (3, 3)}, r"modes=\(3, 3\) has 2 values; give one value for each axis of the grid: t"),
        ({"modes": "all"}, "modes='all' must be a whole number"),
        ({"modes": 0}, "modes=0"),
        ({"width": 0}, "width=0 must be a whole number from 1"),
        ({"width": 2.5}, "width=2.5"),
        ({"width": True}, "width=True"),
        ({"depth": 3}, "LFNOConfig has no field 'depth'"),
        ({"activation": "swish"}, "activation='swish' is not known; choose one of relu"),
        ({"steady": "wobbly"}, "steady='wobbly'"),
        ({"layout": "ring"}, "layout='ring'"),
        ({"poles": "wild"}, "poles='wild'"),
        ({"laplace_axes": "space"}, "laplace_axes='space'"),
        ({"laplace_axes": (1,)}, "must name different axes from 0 to 0"),
        ({"laplace_axes": ()}, "must name different axes"),
        ({"laplace_axes": 0}, "laplace_axes=0 must be None, 'time' or a tuple"),
        ({"padding": -1}, "padding=-1"),
        ({"padding": "half"}, "padding='half'"),
        ({"cycles": math.nan}, "cycles=nan"),
        ({"mixed": "yes"}, "mixed='yes' must be true or false"),
        ({"share_poles": 1}, "share_poles=1 must be true or false"),
        ({"grid_channels": None}, "grid_channels=None"),
        ({"gate": "open"}, "gate='open' must be true or false"),
        ({"gate": True, "skip": False}, "gate=True needs skip=True"),
        ({"gate": True, "layout": "branches"}, "gate=True needs skip=True and the layout blocks or sequence"),
        ({"transient_layers": 0}, "blocks need at least one layer"),
        ({"layout": "branches", "transient_layers": 0, "steady_layers": 0}, "network has no layers"),
        ({"layout": "sequence", "transient_layers": 0, "steady": "exact"}, "network has no layers"),
    ],
)
def test_wrong_options(options, sentence):
    with pytest.raises(LfnoError, match=sentence):
        LFNO(GRID, **{"modes": 3, **options})


def test_wrong_constructions():
    with pytest.raises(LfnoError, match="needs a time axis"):
        LNO(PLANE, modes=3, laplace_axes="time")
    with pytest.raises(LfnoError, match="training grid"):
        FNO(2048, modes=3)
    with pytest.raises(LfnoError, match="either a configuration or its fields"):
        FNO(GRID, FNO(GRID, modes=3).config, width=3)
    with pytest.raises(LfnoError, match="needs a LFNOConfig; found FNOConfig"):
        LFNO(GRID, FNO(GRID, modes=3).config)
    with pytest.raises(LfnoError, match="8 points allow at most 4"):
        FNO(PLANE, modes=5)  # 8 points have the modes |l| < 4 with both signs; l = −4 has no partner l = 4


@pytest.mark.parametrize(
    ("scales", "sentence"),
    [
        (((0.0, 0.0, 0.0), 1.0, 0.0, 1.0), "input_offset has 3 values, but the model has 2 channels"),
        ((0.0, 0.0, 0.0, 1.0), "input_scale must be finite and, for a scale, not zero"),
        ((0.0, 1.0, math.nan, 1.0), "output_offset must be finite"),
    ],
)
def test_wrong_normalisation(scales, sentence):
    with pytest.raises(LfnoError, match=sentence):
        model().normalise(*scales)


def test_wrong_grids_paths_and_devices_give_one_error_message():
    model = FNO(Grid.line(16, 0.1), width=2, modes=2)
    with pytest.raises(LfnoError, match="found str"):
        model.predict(np.zeros(16), grid="fine")
    with pytest.raises(LfnoError, match="found int"):
        lfno.load(3)
    with pytest.raises(LfnoError, match="FNO has no poles"):
        model.poles()
    data = (np.arange(320.0).reshape(20, 16), np.arange(320.0).reshape(20, 16))
    with pytest.raises(LfnoError, match="choose lfno, lno, fno or marching"):
        lfno.fit(data, dt=0.1, model=FNO)
    with pytest.raises(LfnoError, match="not known; choose cpu or cuda"):
        lfno.fit(data, dt=0.1, device="gpu")


@pytest.mark.parametrize("outputs", [1, 2])
def test_a_batch_of_signals_needs_no_channel_axis(outputs):
    model = FNO(Grid.line(16, 0.1), width=2, modes=2, out_channels=outputs)
    x = np.random.default_rng(0).normal(size=(4, 16))
    whole = model.predict(x[:, None])
    np.testing.assert_array_equal(model.predict(x), whole[:, 0] if outputs == 1 else whole)
    np.testing.assert_allclose(model.predict(x[0]), whole[0, 0] if outputs == 1 else whole[0], rtol=1e-5, atol=1e-6)
    transient, steady = model.decompose(x)
    assert transient.shape == steady.shape == model.predict(x).shape
