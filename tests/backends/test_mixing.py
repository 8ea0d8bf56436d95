"""Products with one channel matrix for each mode: values and gradients equal the sum over channels, with every method."""

import pytest
import torch
from torch.func import vmap

from lfno.backends import mixing


def draw(*shape, seed):
    return torch.randn(*shape, dtype=torch.complex128, generator=torch.Generator().manual_seed(seed)).requires_grad_()


@pytest.mark.parametrize("large", [0, mixing.LARGE])
@pytest.mark.parametrize("kept", [(7,), (3, 5), (3, 2, 4)])
def test_the_product_equals_the_sum_over_channels(kept, large, monkeypatch):
    monkeypatch.setattr(mixing, "LARGE", large)
    spectrum, weight = draw(4, 2, *kept, seed=0), draw(2, 3, *kept, seed=1)
    expected = sum(spectrum[:, i, None] * weight[None, i] for i in range(2))
    found = mixing.mix_channels(spectrum, weight)
    assert torch.allclose(found, expected, rtol=1e-13)
    seen = draw(*expected.shape, seed=2).detach()
    gradients = [torch.autograd.grad(out, (spectrum, weight), seen) for out in (found, expected)]
    for own, true in zip(*gradients, strict=True):
        assert torch.allclose(own, true, rtol=1e-13)


def test_vmap_over_products_equals_each_product_alone():
    spectrum, weight = draw(3, 4, 2, 7, seed=0), draw(3, 2, 5, 7, seed=1)
    together = vmap(mixing.mix_channels)(spectrum, weight)
    alone = torch.stack([mixing.mix_channels(a, b) for a, b in zip(spectrum, weight, strict=True)])
    assert torch.allclose(together, alone, rtol=1e-13)
    (one,), (other,) = (torch.autograd.grad(out.abs().square().sum(), weight, retain_graph=True) for out in (together, alone))
    assert torch.allclose(one, other, rtol=1e-12)
