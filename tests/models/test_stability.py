"""Stable poles stay stable during training. The outputs of networks with free poles, as in the literature, blow up."""

import math

import pytest
import torch

from lfno import LFNO, Grid

GRID = Grid.line(2048, dt=20 / 2048)


def transient_stack(poles, width=4, n_poles=16):
    """Return the transient branch of the paper's network: four layers, by default with the paper's width and poles."""
    torch.manual_seed(0)
    return LFNO(GRID, width=width, n_poles=n_poles, poles=poles, layout="branches", steady_layers=0, projection=32)


def signal(batch=2):
    t = torch.tensor(GRID["t"].points, dtype=torch.float32)
    amplitude = torch.linspace(0.5, 2, batch)[:, None, None]
    return amplitude * torch.sin(2 * math.pi * 0.7 * t)


def largest_gradient(model, loss):
    model.zero_grad()
    loss.backward()
    return max(parameter.grad.abs().max().item() for parameter in model.parameters())


def test_before_training_the_outputs_of_stable_layers_are_of_order_one():
    model, x = transient_stack("stable"), signal()
    hidden = model.layers(model.lift(x), model.steps(GRID), True)
    assert 0.1 < hidden.abs().max() < 10
    assert 0.01 < model(x).abs().max() < 10
    assert largest_gradient(model, model(x).square().mean()) < 1e3


@pytest.mark.parametrize(("width", "n_poles"), [(2, 4), pytest.param(4, 16, marks=pytest.mark.long)])
def test_stable_layers_stay_stable_for_a_thousand_training_steps(width, n_poles):
    model, x = transient_stack("stable", width, n_poles), signal()
    target = torch.cumsum(x, -1) * GRID["t"].step
    optimiser = torch.optim.Adam(model.parameters(), lr=2.5e-3)
    losses = []
    for _ in range(1000):
        loss = (model(x) - target).square().mean()
        largest = largest_gradient(model, loss)
        assert math.isfinite(loss.item())
        assert largest < 1e3
        optimiser.step()
        losses.append(loss.item())
    assert losses[-1] < 0.1 * losses[0]
    assert all((mu.real < 0).all() for kernel in model.kernels for mu in kernel.values())


def test_free_poles_blow_up():
    """Free poles, as in the literature, have Re μ > 0, so that e^{μt} grows. Each of four layers multiplies the growth."""
    model, x = transient_stack("free"), signal()
    assert all((mu.real > 0).all() for kernel in model.kernels for mu in kernel.values())
    hidden = model.layers(model.lift(x), model.steps(GRID), True)
    assert hidden.abs().max() > 1e5
    assert largest_gradient(model, model(x).square().mean()) > 1e9
