"""Fused GPU kernels: the pointwise half of a network, and the product with one channel matrix for each mode.

A small operator is limited by memory traffic: every pointwise step reads and writes whole fields. These kernels read a field
once and write it once. They compute what the plain formulas beside their callers compute, which run everywhere else.
"""

from __future__ import annotations

from functools import cache

import torch
from torch import Tensor


def fused(x: Tensor) -> bool:
    """Whether the kernels apply: single precision on a GPU, with Triton installed, and not while a graph is traced."""
    return x.is_cuda and x.dtype in (torch.float32, torch.complex64) and not torch.compiler.is_compiling() and _triton()


@cache
def _triton() -> bool:
    try:
        import triton  # noqa: F401
    except ImportError:
        return False
    return True
