"""Fast implementations of the formulas of `lfno.spectral`, for CPU and GPU. `lfno.models` calls these functions.

A small network spends most of its time on memory access: every pointwise operation reads and writes whole fields. A fused
kernel does many operations, but reads a field once and writes it once. Kernels run on a GPU, in single precision, and need
Triton. Without a kernel, the same results come from operations of torch.

Modules:
    fourier: truncated Fourier transforms, each axis by a matrix product or by a fast transform
    mixing: the product with one channel matrix for each mode
    mixing_kernel: the product of `mixing` as a GPU kernel
    convolution: a recurrence over a short window as one convolution, for a GPU
    chunk_products: the recurrence and the channel map of a layer in chunks of samples, as a few matrix products, for a CPU
    chunk_states: the states before all chunks of `chunk_products`, and their gradient
    scan: a recurrence as products with triangular matrices
    products: matrix products on a CPU with MKL or oneDNN, whichever library is faster
    recurrence_kernel: a whole layer with poles along time as a few GPU kernels
    chunked: the kernels of `recurrence_kernel`
    update: the last operations of a layer (channel map, activation, skip connection) as a GPU kernel
    gated: the last operations of a layer with a gate as a GPU kernel
    perceptron: the projection, a network of two layers at every point, as a GPU kernel
    activations: activation functions inside kernels
    stacked: tensors with an axis of networks, so that one kernel computes several networks (a stack)
    cache: results that are stored between calls: Fourier matrices, and functions of a layer's parameters
"""

from __future__ import annotations

from functools import cache

import torch
from torch import Tensor


def fused(x: Tensor) -> bool:
    """Return whether the kernels can process x: single precision, on a GPU, with Triton, and outside of `torch.compile`."""
    return x.is_cuda and x.dtype in (torch.float32, torch.complex64) and not torch.compiler.is_compiling() and _triton()


@cache
def _triton() -> bool:
    try:
        import triton  # noqa: F401
    except ImportError:
        return False
    return True
