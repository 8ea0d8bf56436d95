"""The response as a convolution equals the response as a recurrence, in values and gradients, and inside vmap."""

import pytest
import torch

from lfno.backends.convolution import convolve
from lfno.spectral.recurrence import respond


def case(modes: tuple[int, ...], size: int) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    draw = torch.Generator().manual_seed(0)
    u = torch.randn(2, 3, *modes, size, dtype=torch.float64, generator=draw)
    poles = torch.complex(-torch.rand(4, dtype=torch.float64, generator=draw), 8 * torch.rand(4, dtype=torch.float64))
    residues = torch.randn(3, 2, *modes, 4, 2, dtype=torch.float64, generator=draw)
    return u, poles, torch.view_as_complex(residues)


@pytest.mark.parametrize("hold", ["linear", "cubic"])
@pytest.mark.parametrize(("modes", "size"), [((), 1), ((), 2), ((), 37), ((5,), 50), ((2, 3), 9)])
def test_a_convolution_equals_the_recurrence(hold: str, modes: tuple[int, ...], size: int) -> None:
    u, poles, residues = case(modes, size)
    expected = respond(u, poles, residues, 0.1, hold)
    assert torch.allclose(convolve(u, poles, residues, 0.1, hold), expected, atol=1e-12 * float(expected.abs().max() + 1))


@pytest.mark.parametrize("hold", ["linear", "cubic"])
def test_a_convolution_in_fourier_modes_equals_the_recurrence(hold: str) -> None:
    u, poles, residues = case((2, 3), 21)
    u = torch.complex(u, u.flip(-1))
    expected = respond(u, poles, residues, 0.1, hold)
    assert torch.allclose(convolve(u, poles, residues, 0.1, hold), expected, atol=1e-12 * float(expected.abs().max() + 1))


def test_gradients_equal_those_of_the_recurrence() -> None:
    given = [value.requires_grad_() for value in case((3,), 20)]
    found = [torch.autograd.grad(f(*given, 0.1, "cubic").square().sum(), given) for f in (convolve, respond)]
    for one, other in zip(*found, strict=True):
        assert torch.allclose(one, other, rtol=1e-9, atol=1e-9)


def test_vmap_over_layers_equals_each_layer_alone() -> None:
    u, poles, residues = (torch.stack([value, 0.7 * value]) for value in case((3,), 20))
    together = torch.vmap(lambda *given: convolve(*given, 0.1, "linear"))(u, poles, residues)
    assert torch.allclose(together[1], convolve(u[1], poles[1], residues[1], 0.1, "linear"), atol=1e-12)
