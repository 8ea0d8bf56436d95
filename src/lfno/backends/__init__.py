"""How a formula of `lfno.spectral` runs fast on a device: one name for each operation, called by `lfno.models`.

A small operator is limited by memory traffic: every pointwise step reads and writes whole fields. The kernels read a field
once and write it once. They run in single precision on a GPU with Triton; the plain formulas run everywhere else.

Modules:
    fourier: truncated Fourier transforms, each axis by a matrix product or by a fast transform
    mixing: one channel matrix for each mode
    mixing_kernel: the same product as a GPU kernel
    convolution: a recurrence over a short window as one convolution, for a GPU
    chunk_products: the recurrence and the pointwise map of a layer on signals in chunks, as a few products, for a CPU
    chunk_states: the states before all chunks, and the adjoint
    scan: a short recurrence by products with triangular matrices
    products: matrix products by the faster library
    recurrence_kernel: a whole layer with poles on time as a few GPU kernels
    chunked: the kernels that it launches
    update: GPU kernel of the pointwise end of a layer
    gated: GPU kernel of the pointwise end of a layer with a gate
    perceptron: GPU kernel of the projection
    activations: activation functions inside kernels
    stacked: how kernels see a stack of networks
    cache: matrices of waves, and functions of a layer's parameters, kept between calls
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
