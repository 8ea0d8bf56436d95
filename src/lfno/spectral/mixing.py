"""One channel matrix for each mode: the product that a Fourier layer, a transfer function and R have in common."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from lfno.backends import fused

#: numbers of a weight whose copies, which the fast products of a CPU need, would take too much room
LARGE = 2**20


def mix_channels(spectrum: Tensor, weight: Tensor) -> Tensor:
    """Σ_i α_i(l) R_io(l): the Fourier integral operator, one channel matrix for each mode.

    `spectrum` is (batch, in, *kept) and `weight` (in, out, *kept), both complex; the result is (batch, out, *kept).
    """
    if fused(spectrum) and weight.dtype == spectrum.dtype:
        from lfno.backends.mixing import mix

        return mix(spectrum, weight)
    if spectrum.is_cuda or weight.numel() > LARGE:
        return torch.einsum("bi...,io...->bo...", spectrum, weight)
    kept = spectrum.shape[2:]
    left, right = (values.flatten(2).permute(2, 0, 1) for values in (spectrum, weight))
    return _Products.apply(left, right).permute(1, 2, 0).unflatten(2, kept)


def arranged(weight: Tensor) -> Tensor:
    """The same matrices, (in, out, *kept), each in one piece of memory: the products of a CPU then need no copies of them."""
    return weight.flatten(2).permute(2, 0, 1).contiguous().permute(1, 2, 0).unflatten(2, weight.shape[2:])


class _Products(torch.autograd.Function):
    """(l, b, i), (l, i, o) → (l, b, o). A CPU multiplies complex matrices fast only where each lies in one piece and none
    is a conjugate: otherwise they are copied, one by one."""

    generate_vmap_rule = True

    @staticmethod
    def forward(left: Tensor, right: Tensor) -> Tensor:
        return torch.bmm(left.contiguous(), right.contiguous())

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Tensor, Tensor], output: Tensor) -> None:
        ctx.save_for_backward(*inputs)

    @staticmethod
    def backward(ctx: Any, g: Tensor) -> tuple[Tensor, Tensor]:
        # g Rᴴ = (ḡ Rᵀ)‾ and αᴴ g = (αᵀ ḡ)‾
        left, right = (values.contiguous() for values in ctx.saved_tensors)
        g = g.conj().resolve_conj().contiguous()
        return torch.bmm(g, right.mT).conj().resolve_conj(), torch.bmm(left.mT, g).conj().resolve_conj()
