"""What an effect may know of the future: nothing in an exact layer, a little of order dt in a stack, much with R."""

import itertools

import pytest
import torch

from lfno import FNO, LFNO
from lfno.models.layers import PoleResidue, steady
from tests.models.test_discretisation import WINDOW, exact_network, line, wave


def times(n):
    return WINDOW / n * torch.arange(n, dtype=torch.float64)


def leak(model, n, change, start):
    """Largest change of the output before `start`, relative to the largest after it."""
    with torch.no_grad():
        effect = (model(wave(n) + change, line(n)) - model(wave(n), line(n)))[0, 0].abs()
    return (effect[times(n) < start].max() / effect[times(n) >= start].max()).item()


def test_one_exact_layer_does_not_see_a_smooth_change_before_it_happens():
    """The layer is the response to the signal's interpolation; a bump that is zero there has no effect."""
    n, start = 1024, 12.0
    kernel: PoleResidue = exact_network().blocks[0].kernel
    x = wave(n).expand(1, 4, n)
    bump = torch.exp(-(((times(n) - 15) / 0.25) ** 2))

    def respond(v):
        step = (20.0 / n,)
        return kernel.transient(v, v.shape[2:], step) + steady(v, kernel, None, "exact", v.shape[2:], step)

    effect = (respond(x + bump) - respond(x)).abs()
    assert effect[..., times(n) < start].max() < 1e-12 * effect.max()


@pytest.mark.parametrize(("padding", "most"), [(0.0, 1e-2), (1.0, 5e-3)])
def test_a_stack_of_exact_layers_is_causal_up_to_order_dt(padding, most):
    """A step is not band-limited and the window's ends do not meet: both cost O(dt), and no more."""
    model = exact_network(padding=padding)
    leaks = [leak(model, n, (times(n) >= 12.0).double(), 12.0) for n in (1024, 2048, 4096)]
    assert leaks[1] < most, leaks
    assert all(1.7 < coarse / fine < 2.3 for coarse, fine in itertools.pairwise(leaks)), leaks


def test_fourier_weights_see_the_future_at_any_resolution():
    torch.manual_seed(0)
    model = LFNO(line(2048), width=4, n_poles=8, modes=8, steady="free").double()
    assert min(leak(model, n, (times(n) >= 12.0).double(), 12.0) for n in (1024, 4096)) > 0.05


def test_padding_does_not_change_what_is_causal():
    """Zeros after the window are in its future: exact layers answer the same, up to the order dt of their ends."""
    differences = []
    for n in (1024, 2048, 4096):
        padded, plain = exact_network(padding=1.0), exact_network()
        assert plain(wave(n), line(n)).shape == padded(wave(n), line(n)).shape
        answer = plain(wave(n), line(n))
        differences.append(((padded(wave(n), line(n)) - answer).abs().max() / answer.abs().max()).item())
    assert differences[1] < 1e-2, differences
    assert all(a / b > 1.7 for a, b in itertools.pairwise(differences)), differences


def test_padding_keeps_the_end_of_the_window_from_its_beginning():
    """With Fourier weights a change at the very end leaks around to the start; padding takes most of that away."""

    def early_leak(padding):
        torch.manual_seed(0)
        model = FNO(line(512), width=4, modes=64, layers=1, padding=padding).double().requires_grad_(False)
        weight = model.blocks[0].weights.weight
        short = torch.exp(-((torch.arange(64) / 20.0) ** 2))  # the modes of a short, smooth kernel
        weight.copy_(torch.stack((short, 0 * short), -1).expand_as(weight))
        bump = torch.exp(-(((times(512) - WINDOW) / 0.2) ** 2))
        effect = (model(wave(512) + bump, line(512)) - model(wave(512), line(512)))[0, 0].abs()
        return effect[times(512) < 0.3].max() / effect.max()

    assert early_leak(0.5) < 0.1 * early_leak(0.0)
