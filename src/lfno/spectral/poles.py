"""Exponentials and their transforms along one axis: the three matrices every pole–residue layer is made of.

For a pole μ, an excitation e^{iωt} that starts at t = 0 has the response

    (e^{iωt} − e^{μt}) / (iω − μ)  =  e^{iωt} / (iω − μ)   [steady, S]   +   e^{μt} / (μ − iω)   [transient, T]

Poles are complex tensors (in, out, M), one set for each pair of channels, or (M,), shared by the whole layer.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor

from lfno.spectral.fourier import angular_frequencies


def resolvent(poles: Tensor, frequencies: Tensor) -> Tensor:
    """1 / (iω − μ) for every pole and frequency: (…, M), (L,) → (…, M, L)."""
    return 1 / (1j * frequencies - poles[..., None])


def analysis_matrix(poles: Tensor, size: int, step: float) -> Tensor:
    """G with Σ_n x_n G_n = (1/N) Σ_l α_l / (μ − iω_l): how strongly a sampled signal x excites the pole; (…, M, N).

    The transform of the data has moved to the (fewer) weights: Σ_l α_l K_l = Σ_n x_n (Σ_l e^{−iω_l t_n} K_l).
    """
    return torch.fft.fft(1 / (poles[..., None] - 1j * angular_frequencies(size, step, poles)), norm="forward")


def synthesis_matrix(poles: Tensor, size: int, step: float) -> Tensor:
    """e^{μ t_n} at t_n = n · step: (…, M) → (…, M, N)."""
    # n = K a + b, so e^{μt} is the outer product of 2√N exponentials: complex exponentials are slow, products are not
    stride = next(k for k in range(math.isqrt(size), 0, -1) if size % k == 0)
    fine = step * torch.arange(stride, dtype=poles.real.dtype, device=poles.device)
    coarse = step * torch.arange(0, size, stride, dtype=poles.real.dtype, device=poles.device)
    outer = torch.exp(poles[..., None] * coarse)[..., None] * torch.exp(poles[..., None] * fine)[..., None, :]
    return outer.flatten(-2)


def stable_poles(log_decay: Tensor, frequency: Tensor) -> Tensor:
    """μ = −e^a + i b: the real part is negative whatever the parameters, so e^{μt} never grows."""
    return torch.complex(-torch.exp(log_decay), frequency)
