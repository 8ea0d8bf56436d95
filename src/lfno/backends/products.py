"""Matrix products in single precision on a CPU, with the faster of two libraries in torch.

`torch.mm` calls MKL, which uses only half of the arithmetic units of AMD processors. oneDNN uses all of them. torch has no
public function for the product of oneDNN, so we call a private one.

| library | GFLOP/s on one core of an EPYC 9005 |
|---------|-------------------------------------|
| MKL     | 110                                 |
| oneDNN  | 255                                 |
"""

from __future__ import annotations

import torch
from torch import Tensor

#: number of multiplications below which MKL is faster, because a call of oneDNN takes 10 µs
SMALL = 2**20


def product(a: Tensor, b: Tensor) -> Tensor:
    """Return a @ b. No gradient is computed.

    Each matrix must be contiguous or the transpose of a contiguous matrix, because oneDNN is slow for other layouts.
    """
    few = a.shape[0] * b.numel() < SMALL
    if few or a.dtype != torch.float32 or a.device.type != "cpu" or _ONEDNN is None:
        return a @ b
    return _ONEDNN(a, b.mT, None, "none", [], "")


_ONEDNN = getattr(torch.ops.mkldnn, "_linear_pointwise", None) if torch.backends.mkldnn.is_available() else None
