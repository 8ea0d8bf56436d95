"""The product with one channel matrix for each Fourier mode, by the fastest method on each device."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from lfno.backends import fused
from lfno.spectral import fourier

#: a weight with more entries than this (8 MB of complex64) is not copied for fast CPU products, to save memory
LARGE = 2**20


def mix_channels(spectrum: Tensor, weight: Tensor) -> Tensor:
    """Return the same product as `lfno.spectral.fourier.mix_channels`, (batch, out, *kept).

    spectrum: complex (batch, in, *kept).
    weight: complex (in, out, *kept).
    """
    if fused(spectrum) and weight.dtype == spectrum.dtype:
        from lfno.backends.mixing_kernel import mix

        return mix(spectrum, weight)
    if spectrum.is_cuda or weight.numel() > LARGE:
        return fourier.mix_channels(spectrum, weight)
    kept = spectrum.shape[2:]
    left, right = (values.flatten(2).permute(2, 0, 1) for values in (spectrum, weight))
    return _Products.apply(left, right).permute(1, 2, 0).unflatten(2, kept)


def arranged(weight: Tensor) -> Tensor:
    """Return `weight` (in, out, *kept) in a memory layout in which the matrix of each mode is contiguous.

    `mix_channels` on a CPU then needs no copies.
    """
    return weight.flatten(2).permute(2, 0, 1).contiguous().permute(1, 2, 0).unflatten(2, weight.shape[2:])


class _Products(torch.autograd.Function):
    """The product (l, b, o) of complex matrices (l, b, i) and (l, i, o), one product for each l.

    On a CPU, torch is fast only if all matrices are contiguous and not lazily conjugated. Otherwise it copies them one by one.
    """

    generate_vmap_rule = True

    @staticmethod
    def forward(left: Tensor, right: Tensor) -> Tensor:
        return torch.bmm(left.contiguous(), right.contiguous())

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Tensor, Tensor], output: Tensor) -> None:
        ctx.save_for_backward(*inputs)

    @staticmethod
    def backward(ctx: Any, g: Tensor) -> tuple[Tensor, Tensor]:
        # gradients with respect to left and right: g rightᴴ = conj(ḡ rightᵀ) and leftᴴ g = conj(leftᵀ ḡ)
        left, right = (values.contiguous() for values in ctx.saved_tensors)
        g = g.conj().resolve_conj().contiguous()
        return torch.bmm(g, right.mT).conj().resolve_conj(), torch.bmm(left.mT, g).conj().resolve_conj()
