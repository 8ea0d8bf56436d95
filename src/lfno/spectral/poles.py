"""Exponentials and their transforms along one axis: the three matrices of every pole–residue layer.

For a pole μ, an excitation e^{iωt} that starts at t = 0 has the response

    (e^{iωt} − e^{μt}) / (iω − μ)  =  e^{iωt} / (iω − μ)   [steady, S]   +   e^{μt} / (μ − iω)   [transient, T]

Poles are complex tensors (in, out, M), one set for each pair of channels, or (M,), shared by the whole layer.
"""

from __future__ import annotations

import math
from typing import Any

import torch
from torch import Tensor

from lfno.spectral.axes import angular_frequencies


def resolvent(poles: Tensor, frequencies: Tensor) -> Tensor:
    """1 / (iω − μ) for every pole and frequency: (…, M), (L,) → (…, M, L); frequencies may differ from pole to pole."""
    return _resolvent(poles, frequencies) if torch.compiler.is_compiling() else _Resolvent.apply(poles, frequencies)


def _resolvent(poles: Tensor, frequencies: Tensor) -> Tensor:
    return torch.reciprocal(1j * frequencies - poles[..., None])


class _Resolvent(torch.autograd.Function):
    """The resolvent with its derivative 1 / (iω − μ)², which needs fewer large arrays than automatic differentiation."""

    generate_vmap_rule = True

    @staticmethod
    def forward(poles: Tensor, frequencies: Tensor) -> Tensor:
        return _resolvent(poles, frequencies)

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Tensor, Tensor], output: Tensor) -> None:
        ctx.save_for_backward(output)

    @staticmethod
    def backward(ctx: Any, g: Tensor) -> tuple[Tensor, None]:
        (rings,) = ctx.saved_tensors
        return ((rings * rings).conj() * g).sum(-1), None


def analysis_matrix(poles: Tensor, size: int, step: float) -> Tensor:
    """G with Σ_n x_n G_n = (1/N) Σ_l α_l / (μ − iω_l), the excitation of the pole by a sampled signal x; (…, M, N).

    The Fourier transform is applied to the weights, which are fewer than the data: Σ_l α_l K_l = Σ_n x_n (Σ_l e^{−iω_l t_n}
    K_l).
    """
    return _analysis(poles, size, step) if torch.compiler.is_compiling() else _Analysis.apply(poles, size, step)


def _analysis(poles: Tensor, size: int, step: float) -> Tensor:
    # multiply by N where the array is small
    return torch.fft.fft(torch.reciprocal(size * poles[..., None] - 1j * size * angular_frequencies(size, step, poles)))


class _Analysis(torch.autograd.Function):
    """G is holomorphic in the pole: its gradient is one inner product with dG/dμ."""

    generate_vmap_rule = True

    @staticmethod
    def forward(poles: Tensor, size: int, step: float) -> Tensor:
        return _analysis(poles, size, step)

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Tensor, int, float], output: Tensor) -> None:
        poles, ctx.size, ctx.step = inputs
        ctx.save_for_backward(poles)

    @staticmethod
    def backward(ctx: Any, g: Tensor) -> tuple[Tensor, None, None]:
        # dG/dμ is the transform of −K²/N, and its conjugate the inverse transform of the conjugate
        (poles,) = ctx.saved_tensors
        kernel = _resolvent(-ctx.size * poles.conj(), ctx.size * angular_frequencies(ctx.size, ctx.step, poles))
        slope = torch.fft.ifft(kernel * kernel, norm="forward")
        return -ctx.size * (slope * g).sum(-1), None, None


def synthesis_planes(poles: Tensor, size: int, step: float) -> Tensor:
    """Real and imaginary part of e^{μ t_n} at t_n = n · step: complex (…, M) → real (…, M, 2, N)."""
    # n = K a + b: e^{μt} is an outer product of 2√N exponentials, because products are faster than complex exponentials
    stride = next(k for k in range(math.isqrt(size), 0, -1) if size % k == 0)
    fine = step * torch.arange(stride, dtype=poles.real.dtype, device=poles.device)
    coarse = step * torch.arange(0, size, stride, dtype=poles.real.dtype, device=poles.device)
    left, right = torch.exp(poles[..., None] * coarse), torch.exp(poles[..., None] * fine)
    rows = torch.stack((left.real, -left.imag), -1), torch.stack((left.imag, left.real), -1)
    outer = torch.cat(rows, -2) @ torch.stack((right.real, right.imag), -2)
    return outer.reshape(*poles.shape, 2, size)


def synthesis_matrix(poles: Tensor, size: int, step: float) -> Tensor:
    """e^{μ t_n} at t_n = n · step: (…, M) → (…, M, N)."""
    return torch.complex(*synthesis_planes(poles, size, step).unbind(-2))


def stable_poles(log_decay: Tensor, frequency: Tensor) -> Tensor:
    """μ = −e^a + i b. The real part is negative for all parameters, so e^{μt} never grows."""
    return torch.complex(-torch.exp(log_decay), frequency)
