"""Fast implementations of the formulas of `lfno.spectral`, for CPU and GPU. `lfno.models` calls these functions.

Memory traffic limits a small operator: every pointwise operation reads and writes whole fields. A fused kernel reads a field
once and writes it once. The kernels need Triton and run in single precision on a GPU. The plain formulas run everywhere else.

Modules:
    fourier: truncated Fourier transforms, each axis by a matrix product or by a fast transform
    mixing: the product with one channel matrix for each mode
    mixing_kernel: the product of `mixing` as a GPU kernel
    convolution: a recurrence over a short window as one convolution, for a GPU
    chunk_products: the recurrence and the pointwise map of a layer on chunked signals, as a few matrix products, for a CPU
    chunk_states: the states before all chunks, and their adjoint
    scan: a short recurrence as products with triangular matrices
    products: matrix products with the faster CPU library
    recurrence_kernel: a whole layer with poles on time as a few GPU kernels
    chunked: the kernels of `recurrence_kernel`
    update: GPU kernel of the pointwise end of a layer
    gated: GPU kernel of the pointwise end of a layer with a gate
    perceptron: GPU kernel of the projection
    activations: activation functions inside kernels
    stacked: the layout of a stack of networks for kernels
    cache: wave matrices and functions of a layer's parameters, kept between calls
"""

from __future__ import annotations

from functools import cache

import torch
from torch import Tensor


def fused(x: Tensor) -> bool:
    """Return whether the kernels can process x: single precision on a GPU, Triton installed, and no graph being traced."""
    return x.is_cuda and x.dtype in (torch.float32, torch.complex64) and not torch.compiler.is_compiling() and _triton()


@cache
def _triton() -> bool:
    try:
        import triton  # noqa: F401
    except ImportError:
        return False
    return True
