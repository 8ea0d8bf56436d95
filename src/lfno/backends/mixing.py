"""The product with one channel matrix for each mode, in the fastest form for the device.

Fourier layers, transfer functions and residues all need this product.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from lfno.backends import fused
from lfno.spectral import fourier

#: largest number of entries of a weight that is copied for fast CPU products, 16 MB; a larger copy takes too much memory
LARGE = 2**20


def mix_channels(spectrum: Tensor, weight: Tensor) -> Tensor:
    """Return the product of `lfno.spectral.fourier.mix_channels`, (batch, out, *kept).

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
    """Return the same matrices (in, out, *kept), each contiguous in memory, so that CPU products need no copies."""
    return weight.flatten(2).permute(2, 0, 1).contiguous().permute(1, 2, 0).unflatten(2, weight.shape[2:])


class _Products(torch.autograd.Function):
    """Batched matrix product (l, b, i), (l, i, o) → (l, b, o).

    A CPU multiplies complex matrices fast only if they are contiguous and not lazily conjugated. Otherwise torch copies the
    matrices one by one.
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
        # g Rᴴ = (ḡ Rᵀ)‾ and αᴴ g = (αᵀ ḡ)‾
        left, right = (values.contiguous() for values in ctx.saved_tensors)
        g = g.conj().resolve_conj().contiguous()
        return torch.bmm(g, right.mT).conj().resolve_conj(), torch.bmm(left.mT, g).conj().resolve_conj()
