"""The transient and the steady part add up to the prediction. The steady part is the response to a repeated input.

The table of poles is in physical units.
"""

import math

import numpy as np
import pytest
import torch

from lfno import FNO, LFNO, LNO, Grid
from lfno.core.grid import Axis
from lfno.models.kernel import WINDOW

GRID = Grid.line(128, dt=0.05)
PLANE = Grid((Axis("x", 9, 0.1), Axis("t", 12, 0.1, time=True)))


def with_linear_ends(model):
    """Make lift and projection identity maps. The projection has a ReLU: z = relu(z + 1000) − 1000 for all z > −1000."""
    model = model.double().requires_grad_(False)
    for part in (model.lift, model.hidden, model.project):
        part.weight.fill_(1.0)
        part.bias.zero_()
    model.hidden.bias.fill_(1000.0)
    model.project.bias.fill_(-1000.0)
    return model


@pytest.mark.parametrize("kind", ["exact", "free", "shared", "residual"])
def test_a_linear_layer_returns_its_pole_residue_terms(kind):
    torch.manual_seed(0)
    model = LFNO(GRID, width=1, projection=1, modes=8, steady=kind, layout="branches", transient_layers=1,
                 steady_layers=1, activation="relu")  # fmt: skip
    model = with_linear_ends(model)
    x = torch.randn(1, 1, 128, dtype=torch.float64)
    kernel, step = model.kernels[0], model.steps(GRID)
    transient, rest = model.decompose(x)
    np.testing.assert_allclose(transient, kernel.transient(x, x.shape[2:], step), atol=1e-11)
    (ringing,) = model.steadies[0](x, step, transient=False)
    ringing = ringing + model.pointwise[0](x)
    np.testing.assert_allclose(rest, ringing, atol=1e-11)
    assert np.abs(transient).max() > 1e-3


@pytest.mark.parametrize(("layout", "gate"), [("blocks", False), ("blocks", True), ("sequence", False), ("sequence", True)])
def test_the_steady_part_is_the_response_to_a_repeated_input(layout, gate):
    """The input is repeated eight times. In the last period, the transients of all three layers have decayed."""
    torch.manual_seed(0)
    model = LFNO(GRID, width=4, modes=4, steady="exact", layout=layout, transient_layers=3, n_poles=3, gate=gate).double()
    with torch.no_grad():
        for block in model.blocks:
            block.kernel.poles_0[..., 0].clamp_(min=math.log(0.5))  # time constants of at most a tenth of the window
    t, period = GRID.axes[0].points, 128 * 0.05
    x = np.sin(2 * math.pi * 3 * t / period) + 0.5 * np.cos(2 * math.pi * 7 * t / period)
    transient, rest = model.decompose(x)
    long = model.predict(np.tile(x, 8), grid=Grid.line(8 * 128, 0.05))
    scale = np.abs(rest).max()
    assert np.abs(long[-128:-8] - rest[:-8]).max() < 0.01 * scale
    assert np.abs(transient).max() > 0.1 * scale


@pytest.mark.parametrize(
    "model",
    [
        lambda grid: FNO(grid, width=3, modes=3),
        lambda grid: LNO(grid, width=3, modes=3),
        lambda grid: LNO(grid, width=3, modes=3, version="decoupled", layers=2),
        lambda grid: LFNO(grid, width=3, modes=3),
        lambda grid: LFNO(grid, width=3, modes=3, gate=True),
        lambda grid: LFNO(grid, width=3, modes=3, layout="branches", steady="shared"),
        lambda grid: LFNO(grid, width=3, modes=3, layout="branches", steady="exact", steady_layers=5),
        lambda grid: LFNO(grid, width=3, modes=3, layout="sequence", steady="free", skip=False),
    ],
)
@pytest.mark.parametrize("grid", [GRID, PLANE])
def test_the_parts_add_up_to_the_prediction(model, grid):
    torch.manual_seed(0)
    network = model(grid)
    x = np.random.default_rng(0).standard_normal((2, 1, *grid.shape))
    transient, rest = network.decompose(x)
    np.testing.assert_allclose(transient + rest, network.predict(x), atol=1e-5)
    if isinstance(network, FNO):
        assert not transient.any()
    else:
        assert np.abs(transient).max() > 0


def test_inputs_without_batch_or_channel_axis_are_accepted():
    model = LFNO(GRID, width=3, modes=3)
    x = np.random.default_rng(0).standard_normal((2, 1, 128))
    whole = model.predict(x)
    assert whole.shape == (2, 1, 128)
    np.testing.assert_allclose(model.predict(x[1]), whole[1], atol=1e-6)
    np.testing.assert_allclose(model.predict(x[1, 0]), whole[1, 0], atol=1e-6)
    np.testing.assert_allclose(model.predict(x, batch=1), whole, atol=1e-6)
    assert model.decompose(x[1, 0])[0].shape == (128,)


def test_offset_and_scale_are_applied_to_inputs_and_outputs():
    torch.manual_seed(0)
    plain = LFNO(GRID, width=3, modes=3)
    scaled = LFNO(GRID, plain.config)
    scaled.load_state_dict(plain.state_dict())
    scaled.normalise(input_offset=2.0, input_scale=[4.0], output_offset=-1.0, output_scale=3.0)
    x = np.random.default_rng(0).standard_normal(128)
    np.testing.assert_allclose(scaled.predict(2 + 4 * x), 3 * plain.predict(x) - 1, atol=1e-5)


def test_a_known_oscillator_is_found_in_hertz():
    """The poles are set to 2 Hz with 5 % damping, 0.6 Hz with 1 % damping, and a pure decay with 0.4 s."""
    grid = Grid.line(1000, dt=0.01)
    model = LNO(grid, width=1, n_poles=3)
    natural, damping = 2 * math.pi * np.array([2.0, 0.6]), np.array([0.05, 0.01])
    poles = np.append(natural * (-damping + 1j * np.sqrt(1 - damping**2)), -1 / 0.4)
    unit = WINDOW / 10.0
    with torch.no_grad():
        stored = torch.tensor(np.stack((np.log(-poles.real / unit), poles.imag / unit), -1))
        model.blocks[0].kernel.poles_0.copy_(stored)
        model.blocks[0].kernel.residues.zero_()[..., 0] = torch.tensor([0.1, 1.0, 0.2])
    table = model.poles()
    energy = np.array([0.01, 1.0, 0.04]) / (2 * -poles.real)
    order = np.argsort(-energy)
    np.testing.assert_allclose(table.pole, poles[order], rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(table.frequency[:2], [0.6 * math.sqrt(1 - 1e-4), 0], rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(table.frequency[2], 2 * math.sqrt(1 - 0.05**2), rtol=1e-5)
    np.testing.assert_allclose(table.damping_ratio, [0.01, 1.0, 0.05], rtol=1e-4)
    np.testing.assert_allclose(table.time_constant, -1 / poles.real[order], rtol=1e-4)
    np.testing.assert_allclose(table.contribution, energy[order] / energy.sum(), rtol=1e-4)
    first = table.top(1).rows()
    assert len(first) == 1
    assert first[0]["axis"] == "t"
    assert first[0]["frequency"] == pytest.approx(0.6, rel=1e-3)


@pytest.mark.parametrize("share", [False, True])
def test_contributions_of_a_layer_and_axis_add_up_to_one(share):
    model = LFNO(PLANE, width=3, modes=3, n_poles=2, share_poles=share, transient_layers=2)
    table = model.poles()
    for layer in (0, 1):
        for axis in ("x", "t"):
            chosen = (table.layer == layer) & (table.axis == axis)
            assert chosen.sum() == (2 if share else 18)
            assert table.contribution[chosen].sum() == pytest.approx(1.0, rel=1e-5)
