"""Equal weights on different grids are the same operator, because poles are in physical units."""

import math

import pytest
import torch

from lfno import FNO, LFNO, LNO, Grid
from lfno.core.grid import Axis

WINDOW = 20.48


def line(n):
    """Return a grid with n points of the window."""
    return Grid.line(n, dt=WINDOW / n)


def wave(n):
    """Return n samples of a periodic signal with two low frequencies."""
    t = WINDOW / n * torch.arange(n, dtype=torch.float64)
    omega = 2 * math.pi / WINDOW
    return (torch.sin(3 * omega * t) + 0.5 * torch.cos(7 * omega * t + 0.3))[None, None]


def exact_network(n=2048, **options):
    """Return a network of four exact layers whose residues all have the absolute value one."""
    torch.manual_seed(0)
    fields = {"width": 4, "n_poles": 8, "modes": 8, "steady": "exact"} | options
    model = LFNO(line(n), **fields).double().requires_grad_(False)
    for block in model.blocks:
        residues = torch.randn_like(block.kernel.residues)
        block.kernel.residues.copy_(residues / residues.norm(dim=-1, keepdim=True))
    return model


@pytest.mark.parametrize(("hold", "order"), [("trigonometric", 1), ("linear", 2)])
def test_four_layers_agree_at_twice_the_resolution_up_to_the_order_of_their_hold(hold, order):
    """In the frequency form the order is one, because signals after a nonlinear layer are not periodic in the window."""
    model = exact_network(hold=hold)
    answer = {n: model(wave(n), line(n)) for n in (1024, 2048, 4096)}
    scale = answer[4096].abs().max()
    differences = [((answer[n] - answer[2 * n][..., ::2]).abs().max() / scale).item() for n in (1024, 2048)]
    assert differences[1] < 5e-3
    assert differences[0] / differences[1] == pytest.approx(2**order, rel=0.1), differences
    # with a wrong dt, the output is different
    ignorant = model(wave(4096), Grid.line(4096, dt=WINDOW / 2048))
    assert (ignorant[..., ::2] - answer[2048]).abs().max() > 0.1 * scale


@pytest.mark.parametrize("steady", ["free", "shared", "residual", "exact"])
def test_one_layer_gives_the_same_output_at_any_resolution(steady):
    """This holds for one layer in the frequency form, followed by maps that act on each point alone. The test uses float64."""
    torch.manual_seed(0)
    fields = {"width": 3, "n_poles": 4, "modes": 9, "steady": steady, "transient_layers": 1, "hold": "trigonometric"}
    model = LFNO(line(256), **fields).double()
    model.requires_grad_(False)
    if steady == "residual":
        model.blocks[0].weights.weight.normal_()
    coarse, fine = model(wave(256)), model(wave(512), line(512))
    assert coarse.dtype == torch.float64
    assert (coarse - fine[..., ::2]).abs().max() < 1e-10 * coarse.abs().max()


@pytest.mark.parametrize("n", [64, 65])
def test_the_window_may_be_measured_in_any_unit(n):
    """In seconds or in milliseconds, the output is the same. Only the table of poles has another unit."""
    torch.manual_seed(0)
    seconds = LNO(Grid.line(n, dt=0.01), width=3, modes=4)
    milliseconds = LNO(Grid.line(n, dt=10.0, unit="ms"), seconds.config)
    milliseconds.load_state_dict(seconds.state_dict())
    x = torch.randn(2, 1, n)
    torch.testing.assert_close(seconds(x), milliseconds(x))
    torch.testing.assert_close(
        torch.tensor(seconds.poles().frequency / 1000), torch.tensor(milliseconds.poles().frequency)
    )


def field_grid(shape):
    """Return a grid of one, two or three axes with time last."""
    names = ("x", "y", "t")[-len(shape) :] if len(shape) > 1 else ("t",)
    return Grid(tuple(Axis(name, n, 0.1, time=name == "t") for name, n in zip(names, shape, strict=True)))


@pytest.mark.parametrize("shape", [(16,), (17,), (8, 9), (9, 8), (5, 6, 7), (6, 5, 8)])
@pytest.mark.parametrize(("inputs", "outputs"), [(1, 1), (3, 2)])
@pytest.mark.parametrize("kind", [FNO, LNO, LFNO])
def test_every_dimension_parity_and_number_of_channels(kind, shape, inputs, outputs):
    torch.manual_seed(0)
    options = {} if kind is FNO else {"n_poles": 2}
    model = kind(
        field_grid(shape), width=3, modes=2, in_channels=inputs, out_channels=outputs, grid_channels=True, padding=0.3,
        **options,
    )  # fmt: skip
    x = torch.randn(2, inputs, *shape)
    y = model(x)
    assert y.shape == (2, outputs, *shape)
    assert torch.isfinite(y).all()
    # a sample has the same output alone and in a batch
    torch.testing.assert_close(model(x[1:]), y[1:], rtol=1e-4, atol=1e-5)
    y.square().mean().backward()
    assert all(parameter.grad is not None for parameter in model.parameters())


def test_a_model_can_have_poles_on_some_axes_and_fourier_modes_on_others():
    grid = field_grid((8, 6, 10))
    x = torch.randn(2, 1, 8, 6, 10)
    for axes in ("time", (2,), (0, 2), (0, 1, 2), None):
        model = LFNO(grid, width=3, modes=3, n_poles=2, laplace_axes=axes, transient_layers=2)
        assert model(x).shape == x.shape
        found = set(model.poles().axis.tolist())
        named = {"time": {"t"}, None: {"x", "y", "t"}}.get(axes) or {"xyt"[d] for d in axes}
        assert found == named
