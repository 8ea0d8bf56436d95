"""Inverse Fourier transforms to real signals, for any device and batch size.

Mode 0 and the Nyquist mode of a real signal are real. Their imaginary parts must not change the result.
"""

from __future__ import annotations

import pytest
import torch

from lfno.backends.fourier import from_modes, to_modes

DEVICES = [
    "cpu",
    pytest.param("cuda", marks=pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA device")),
]


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("size", [2048, 2047])
def test_imaginary_parts_of_mode_zero_and_the_nyquist_mode_are_ignored(device: str, size: int) -> None:
    """The truth is Σ_l c_l Re(α_l e^{iω_l t})/N in double precision, where α_l are the modes.

    c_l is 1 for mode 0 and for the Nyquist mode, and 2 for all other modes. There are 4096 signals, because a GPU uses another
    algorithm for large batches.
    """
    torch.manual_seed(0)
    modes = torch.randn(4096, size // 2 + 1, dtype=torch.complex64, device=device)
    found = from_modes(modes, (size,))[::512].double()
    turns = torch.outer(torch.arange(size // 2 + 1), torch.arange(size)).to(device) % size
    angle = 2 * torch.pi / size * turns.double()
    count = torch.full((size // 2 + 1,), 2.0, dtype=torch.float64, device=device)
    count[0] = 1
    if size % 2 == 0:
        count[-1] = 1
    weighted = modes[::512].to(torch.complex128) * count / size
    expected = weighted.real @ angle.cos() - weighted.imag @ angle.sin()
    assert (found - expected).abs().max() < 1e-5 * expected.abs().max()


@pytest.mark.parametrize("device", DEVICES)
def test_the_gradient_of_a_real_transform_of_many_signals(device: str) -> None:
    """The gradient of ⟨g, F x⟩ with respect to x is Re F* g, where F is the Fourier transform."""
    torch.manual_seed(0)
    x = torch.randn(4096, 2048, device=device, requires_grad=True)
    g = torch.randn(4096, 1025, dtype=torch.complex64, device=device)
    (gradient,) = torch.autograd.grad(to_modes(x, [None]), x, g)
    exact = x[::512].detach().double().requires_grad_()
    (expected,) = torch.autograd.grad(torch.fft.rfft(exact), exact, g[::512].to(torch.complex128))
    assert (gradient[::512] - expected).abs().max() < 1e-5 * expected.abs().max()
