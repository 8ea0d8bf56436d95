"""The three matrices of a pole–residue layer along one axis: resolvent, analysis and synthesis.

A pole μ responds to the excitation e^{iωt}, which starts at t = 0, with

    (e^{iωt} − e^{μt}) / (iω − μ)  =  e^{iωt} / (iω − μ)   [steady, S]   +   e^{μt} / (μ − iω)   [transient, T]

Poles are complex tensors: (in, out, M) with one set for each pair of channels, or (M,) if the layer shares one set.
"""

from __future__ import annotations

import math
from typing import Any

import torch
from torch import Tensor

from lfno.spectral.axes import angular_frequencies


def resolvent(poles: Tensor, frequencies: Tensor) -> Tensor:
    """Return 1 / (iω − μ) for every pole μ (…, M) and frequency ω (L,): (…, M, L).

    The frequencies may also differ between poles; their shape is then (…, M, L).
    """
    return _resolvent(poles, frequencies) if torch.compiler.is_compiling() else _Resolvent.apply(poles, frequencies)


def _resolvent(poles: Tensor, frequencies: Tensor) -> Tensor:
    return torch.reciprocal(1j * frequencies - poles[..., None])


class _Resolvent(torch.autograd.Function):
    """The resolvent with a formula for its gradient, 1 / (iω − μ)². Automatic differentiation would need more memory."""

    generate_vmap_rule = True

    @staticmethod
    def forward(poles: Tensor, frequencies: Tensor) -> Tensor:
        return _resolvent(poles, frequencies)

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Tensor, Tensor], output: Tensor) -> None:
        ctx.save_for_backward(output)

    @staticmethod
    def backward(ctx: Any, g: Tensor) -> tuple[Tensor, None]:
        (result,) = ctx.saved_tensors
        return ((result * result).conj() * g).sum(-1), None


def analysis_matrix(poles: Tensor, size: int, step: float) -> Tensor:
    """Return the matrix G (…, M, N) for N samples: Σ_n x_n G_n is the amplitude of e^{μt} in the response to a signal x.

    The amplitude is (1/N) Σ_l α_l K_l, with the Fourier coefficients α of x and K_l = 1 / (μ − iω_l). We transform K instead of
    x: G_n = (1/N) Σ_l e^{−iω_l t_n} K_l. K usually has fewer rows than a batch of signals x, and K does not depend on x.
    """
    return _analysis(poles, size, step) if torch.compiler.is_compiling() else _Analysis.apply(poles, size, step)


def _analysis(poles: Tensor, size: int, step: float) -> Tensor:
    # K / N = 1 / (N μ − i N ω)
    return torch.fft.fft(torch.reciprocal(size * poles[..., None] - 1j * size * angular_frequencies(size, step, poles)))


class _Analysis(torch.autograd.Function):
    """The matrix G and its gradient. G is a holomorphic function of μ, so the gradient is one inner product with dG/dμ."""

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
        # dG/dμ is the Fourier transform of −K²/N; conj(dG/dμ) is the inverse transform of −conj(K)²/N
        (poles,) = ctx.saved_tensors
        kernel = _resolvent(-ctx.size * poles.conj(), ctx.size * angular_frequencies(ctx.size, ctx.step, poles))
        slope = torch.fft.ifft(kernel * kernel, norm="forward")
        return -ctx.size * (slope * g).sum(-1), None, None


def synthesis_planes(poles: Tensor, size: int, step: float) -> Tensor:
    """Return the real and the imaginary part of e^{μ t_n} at N times t_n = n · step: (…, M, 2, N) for poles (…, M)."""
    # with n = stride · a + b, e^{μt} is a product of two exponentials. If N has a divisor near √N, about 2√N exponentials and N
    # products replace N exponentials; products are much faster
    stride = next(k for k in range(math.isqrt(size), 0, -1) if size % k == 0)
    fine = step * torch.arange(stride, dtype=poles.real.dtype, device=poles.device)
    coarse = step * torch.arange(0, size, stride, dtype=poles.real.dtype, device=poles.device)
    left, right = torch.exp(poles[..., None] * coarse), torch.exp(poles[..., None] * fine)
    rows = torch.stack((left.real, -left.imag), -1), torch.stack((left.imag, left.real), -1)
    outer = torch.cat(rows, -2) @ torch.stack((right.real, right.imag), -2)
    return outer.reshape(*poles.shape, 2, size)


def synthesis_matrix(poles: Tensor, size: int, step: float) -> Tensor:
    """Return e^{μ t_n} at N times t_n = n · step: complex (…, M, N) for poles (…, M)."""
    return torch.complex(*synthesis_planes(poles, size, step).unbind(-2))


def stable_poles(log_decay: Tensor, frequency: Tensor) -> Tensor:
    """Return the poles μ = −e^a + i b. The real part is negative for all parameters a and b, so e^{μt} never grows."""
    return torch.complex(-torch.exp(log_decay), frequency)
