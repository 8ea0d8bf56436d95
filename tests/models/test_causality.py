"""The effect of a later input on an earlier output: zero for recurrences, O(dt) in the frequency form, large with R.

In the frequency form, a layer computes its response from Fourier transforms of the whole window.
"""

import itertools
import math

import pytest
import torch

from lfno import FNO, LFNO
from tests.models.test_discretisation import WINDOW, exact_network, line, wave


def times(n):
    """Return n times of the window."""
    return WINDOW / n * torch.arange(n, dtype=torch.float64)


def leak(model, n, change, start):
    """Change the input after `start`. Return the largest change of the output before `start`, divided by the largest after."""
    with torch.no_grad():
        effect = (model(wave(n) + change, line(n)) - model(wave(n), line(n)))[0, 0].abs()
    return (effect[times(n) < start].max() / effect[times(n) >= start].max()).item()


@pytest.mark.parametrize("hold", ["linear", "cubic"])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_in_a_network_of_recurrences_later_inputs_change_no_bit_of_earlier_outputs(hold, dtype):
    n = 300
    model, x = exact_network(n, hold=hold, gate=True).to(dtype), wave(n).to(dtype)
    before = model(x, line(n))
    for moment in (1, 8, 101, 299):
        later = x + (torch.arange(n) >= moment)
        after = model(later, line(n))
        assert torch.equal(after[..., :moment], before[..., :moment])
        assert not torch.equal(after[..., moment:], before[..., moment:])


def test_one_exact_layer_in_the_frequency_form_is_causal_for_smooth_inputs():
    """A layer in the frequency form interpolates its input over the window. For a smooth bump the interpolation is exact."""
    n, start = 1024, 12.0
    layer = exact_network(hold="trigonometric").blocks[0].response
    x = wave(n).expand(1, 4, n)
    bump = torch.exp(-(((times(n) - 15) / 0.25) ** 2))
    effect = (sum(layer(x + bump, (20.0 / n,))) - sum(layer(x, (20.0 / n,)))).abs()
    assert effect[..., times(n) < start].max() < 1e-12 * effect.max()


def test_a_stack_of_exact_layers_in_the_frequency_form_is_causal_up_to_order_dt():
    """A step is not band-limited, and the signals between layers are not periodic in the window. Both cause errors of O(dt)."""
    model = exact_network(hold="trigonometric")
    leaks = [leak(model, n, (times(n) >= 12.0).double(), 12.0) for n in (1024, 2048, 4096)]
    assert leaks[1] < 1e-2, leaks
    assert all(1.7 < coarse / fine < 2.3 for coarse, fine in itertools.pairwise(leaks)), leaks


def test_with_fourier_weights_later_inputs_change_earlier_outputs_at_any_resolution():
    torch.manual_seed(0)
    model = LFNO(line(2048), width=4, n_poles=8, modes=8, steady="free").double()
    assert min(leak(model, n, (times(n) >= 12.0).double(), 12.0) for n in (1024, 4096)) > 0.05


@pytest.mark.parametrize("steady", ["exact", "residual"])
def test_padding_changes_nothing_without_r(steady):
    """Only R connects the two ends of the window, and only R uses the padding. Before training, R is zero."""
    plain, padded = exact_network(), exact_network(steady=steady, padding=0.5)
    assert torch.equal(plain(wave(1024), line(1024)), padded(wave(1024), line(1024)))


def kernel_of(model, seconds):
    """Set R to the Fourier coefficients of a short, smooth kernel. Give all poles the time constant `seconds`."""
    block = model.blocks[0]
    short = torch.exp(-((torch.arange(64) / 20.0) ** 2))
    block.weights.weight.copy_(torch.stack((short, 0 * short), -1).expand_as(block.weights.weight))
    if block.kernel is not None:
        block.kernel.poles_0[..., 0] = math.log(WINDOW / 20 / seconds)
    return model


@pytest.mark.parametrize("steady", ["", "free", "shared", "residual"])
def test_padding_separates_the_end_of_the_window_from_its_start(steady):
    """R connects the ends of the window: a change at the end changes the start. Padding removes most of this effect."""

    def early_leak(padding):
        torch.manual_seed(0)
        fields = {"width": 4, "modes": 64, "padding": padding}
        one = {"transient_layers": 1, "steady": steady} if steady else {"layers": 1}
        model = (LFNO if steady else FNO)(line(512), **fields, **one).double().requires_grad_(False)
        model = kernel_of(model, seconds=0.2)
        bump = torch.exp(-(((times(512) - WINDOW) / 0.2) ** 2))
        effect = (model(wave(512) + bump, line(512)) - model(wave(512), line(512)))[0, 0].abs()
        return effect[times(512) < 0.3].max() / effect.max()

    assert early_leak(0.5) < 0.1 * early_leak(0.0)
