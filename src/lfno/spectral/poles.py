"""Exponentials and their transforms along one axis: the three matrices every pole–residue layer is made of.

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
    """1 / (iω − μ) for every pole and frequency: (…, M), (L,) → (…, M, L)."""
    return 1 / (1j * frequencies - poles[..., None])


def analysis_matrix(poles: Tensor, size: int, step: float) -> Tensor:
    """G with Σ_n x_n G_n = (1/N) Σ_l α_l / (μ − iω_l): how strongly a sampled signal x excites the pole; (…, M, N).

    The transform of the data has moved to the (fewer) weights: Σ_l α_l K_l = Σ_n x_n (Σ_l e^{−iω_l t_n} K_l).
    """
    return _analysis(poles, size, step) if torch.compiler.is_compiling() else _Analysis.apply(poles, size, step)


def _analysis(poles: Tensor, size: int, step: float, power: int = 1) -> Tensor:
    kernel = -resolvent(poles, angular_frequencies(size, step, poles))
    return torch.fft.fft(kernel if power == 1 else kernel.square(), norm="forward")


def synthesis_matrix(poles: Tensor, size: int, step: float) -> Tensor:
    """e^{μ t_n} at t_n = n · step: (…, M) → (…, M, N)."""
    return _synthesis(poles, size, step) if torch.compiler.is_compiling() else _Synthesis.apply(poles, size, step)


def _synthesis(poles: Tensor, size: int, step: float) -> Tensor:
    # n = K a + b, so e^{μt} is the outer product of 2√N exponentials: complex exponentials are slow, products are not
    stride = next(k for k in range(math.isqrt(size), 0, -1) if size % k == 0)
    fine = step * torch.arange(stride, dtype=poles.real.dtype, device=poles.device)
    coarse = step * torch.arange(0, size, stride, dtype=poles.real.dtype, device=poles.device)
    outer = torch.exp(poles[..., None] * coarse)[..., None] * torch.exp(poles[..., None] * fine)[..., None, :]
    return outer.flatten(-2)


class _Analysis(torch.autograd.Function):
    """Both matrices are holomorphic in the pole: their gradients are one inner product with dG/dμ or t e^{μt}."""

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
        (poles,) = ctx.saved_tensors
        return -torch.linalg.vecdot(_analysis(poles, ctx.size, ctx.step, power=2), g), None, None


class _Synthesis(torch.autograd.Function):
    generate_vmap_rule = True

    @staticmethod
    def forward(poles: Tensor, size: int, step: float) -> Tensor:
        return _synthesis(poles, size, step)

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Tensor, int, float], output: Tensor) -> None:
        _, ctx.size, ctx.step = inputs
        ctx.save_for_backward(output)

    @staticmethod
    def backward(ctx: Any, g: Tensor) -> tuple[Tensor, None, None]:
        (matrix,) = ctx.saved_tensors
        time = ctx.step * torch.arange(ctx.size, dtype=g.real.dtype, device=g.device)
        return torch.linalg.vecdot(matrix, g * time), None, None


def stable_poles(log_decay: Tensor, frequency: Tensor) -> Tensor:
    """μ = −e^a + i b: the real part is negative whatever the parameters, so e^{μt} never grows."""
    return torch.complex(-torch.exp(log_decay), frequency)
