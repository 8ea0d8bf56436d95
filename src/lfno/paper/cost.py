"""The cost of a model: parameters, arithmetic operations, time and memory.

The operations of all models are counted by these conventions:

| unit              | definition                                                                               |
|-------------------|------------------------------------------------------------------------------------------|
| MAC               | one real multiplication and one real addition                                            |
| contraction       | a sum of k products: k MACs if the factors are real, 4k MACs if they are complex         |
| FLOP              | one real addition or multiplication, so a MAC is two FLOPs                               |
| pointwise         | real function 1 FLOP per element; complex product 6 FLOPs, other complex functions 2     |
| Fourier transform | complex: 5 n log₂ n FLOPs for n points; real: half as many; half as many MACs as FLOPs   |
"""

from __future__ import annotations

import math
import time
import weakref
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

#: operation → (FLOPs per real element, FLOPs per complex element). Operations that are neither listed here nor in `_operation`
#: count as zero, because most of them only move data
_POINTWISE: dict[str, tuple[int, int]] = {
    **dict.fromkeys(["add", "sub", "rsub", "neg", "sum", "mean", "cumsum"], (1, 2)),
    **dict.fromkeys(["mul", "div", "reciprocal", "cumprod"], (1, 6)),
    **dict.fromkeys(["addcmul", "addcdiv"], (2, 8)),  # a product and a sum
    "glu": (2, 0),  # a sigmoid and a product
    **dict.fromkeys(["exp", "log", "sin", "cos", "sqrt", "rsqrt", "pow", "polar", "abs", "angle"], (1, 2)),
    **dict.fromkeys(["relu", "gelu", "silu", "tanh", "sigmoid", "softplus", "elu", "leaky_relu", "clamp"], (1, 2)),
    **dict.fromkeys(["maximum", "minimum", "expm1", "log1p", "square", "norm", "linalg_vector_norm"], (1, 2)),
}
#: operations that are counted per element of their input; all others per element of their result
_REDUCTIONS = {"sum", "mean", "norm", "linalg_vector_norm"}


def count_parameters(model: nn.Module) -> dict[str, int]:
    """Return the numbers of trainable parameters {"complex_once", "real"}.

    A complex parameter counts once in `complex_once`, and twice in `real`. Some parameters store complex numbers as real
    tensors with a last axis (re, im). Their module lists the names of these parameters in its attribute `complex_parameters`.
    """
    split = {
        id(getattr(module, name)) for module in model.modules() for name in getattr(module, "complex_parameters", ())
    }
    once = real = 0
    for parameter in model.parameters():
        if parameter.requires_grad:
            once += parameter.numel() // 2 if id(parameter) in split else parameter.numel()
            real += 2 * parameter.numel() if parameter.is_complex() else parameter.numel()
    return {"complex_once": once, "real": real}


class OperationCounter(TorchDispatchMode):
    """Counts the MACs and FLOPs of all operations inside a `with` block. A composite operation counts as the sum of its parts.

    >>> with OperationCounter() as counter:
    ...     _ = torch.ones(3, 4) @ torch.ones(4, 5)
    >>> counter.macs, counter.flops
    (60.0, 120.0)
    """

    def __init__(self) -> None:
        super().__init__()
        self.macs = 0.0
        self.flops = 0.0

    def __torch_dispatch__(self, func: Any, types: Any, args: tuple = (), kwargs: dict | None = None) -> Any:
        kwargs = kwargs or {}
        if func is not torch.ops.prim.device.default:
            with self:
                opened = func.decompose(*args, **kwargs)
            if opened is not NotImplemented:
                return opened
        result = func(*args, **kwargs)
        macs, flops = _operation(func._schema.name.removeprefix("aten::"), args, result)
        self.macs += macs
        self.flops += flops
        return result


def _operation(name: str, args: Sequence[Any], result: Any) -> tuple[float, float]:
    """Return (MACs, FLOPs) of one operation of PyTorch."""
    if name in ("mm", "bmm", "addmm", "baddbmm", "mv", "dot", "vdot", "addmv"):
        left = args[1] if name in ("addmm", "baddbmm", "addmv") else args[0]
        return _products(result.numel() * left.shape[-1], left)
    if name in ("convolution", "_convolution", "convolution_overrideable"):
        signal, weight, transposed = args[0], args[1], args[6]
        positions = signal.numel() // signal.shape[1] if transposed else result.numel() // result.shape[1]
        return _products(positions * weight.numel(), weight)
    if name in ("_fft_r2c", "_fft_c2r", "_fft_c2c"):
        # a transform between real and complex numbers has all n points on its real side only
        full = result if name == "_fft_c2r" else args[0]
        points = math.prod(full.shape[axis] for axis in args[1])
        flops = (5.0 if name == "_fft_c2c" else 2.5) * full.numel() * math.log2(max(points, 1))
        return flops / 2, flops
    name = name.rstrip("_").removesuffix(".out")
    if name in _POINTWISE and isinstance(result, Tensor):
        operand = args[0] if name in _REDUCTIONS and isinstance(args[0], Tensor) else result
        if not (operand.is_floating_point() or operand.is_complex()):
            return 0.0, 0.0
        return 0.0, float(operand.numel() * _POINTWISE[name][operand.is_complex()])
    return 0.0, 0.0


def _products(count: int, factor: Tensor) -> tuple[float, float]:
    """Return (MACs, FLOPs) of `count` multiplications, each with one addition. They are complex if `factor` is complex."""
    macs = float(count * (4 if factor.is_complex() else 1))
    return macs, 2 * macs


def count_operations(run: Callable[[], Any]) -> dict[str, float]:
    """Return {"macs", "flops"} of one call, for example of `count_operations(lambda: model(inputs))`."""
    with torch.no_grad(), OperationCounter() as counter:
        run()
    return {"macs": counter.macs, "flops": counter.flops}


@dataclass(frozen=True)
class Latency:
    """The time of one call in milliseconds: mean, standard deviation and median over `runs` timed calls."""

    mean: float
    std: float
    median: float
    runs: int


def latency(run: Callable[[], Any], device: torch.device | str, warmups: int = 10, runs: int = 100) -> Latency:
    """Measure the wall-clock time of calls of `run`, after `warmups` calls that are not counted.

    A call on a GPU returns before the GPU has finished. Therefore the time includes the wait for the GPU.
    """
    device = torch.device(device)
    times = []
    for call in range(warmups + runs):
        _wait(device)
        start = time.perf_counter()
        run()
        _wait(device)
        if call >= warmups:
            times.append(1e3 * (time.perf_counter() - start))
    return Latency(float(np.mean(times)), float(np.std(times)), float(np.median(times)), runs)


def _wait(device: torch.device) -> None:
    """Wait until a GPU has finished all work."""
    if device.type == "cuda":
        torch.cuda.synchronize(device)


class MemoryTracker(TorchDispatchMode):
    """Measures the memory of tensors that are made inside a `with` block.

    live: bytes of the tensors that exist now.
    peak: largest value of `live` so far.

    Memory that an operation uses only inside itself is not included.
    """

    def __init__(self) -> None:
        super().__init__()
        self.live = 0
        self.peak = 0
        # storages that are counted already, or that existed before the block; an operation may return a view of them
        self._known: weakref.WeakSet[Any] = weakref.WeakSet()

    def __torch_dispatch__(self, func: Any, types: Any, args: tuple = (), kwargs: dict | None = None) -> Any:
        for leaf in tree_leaves((args, kwargs)):
            if isinstance(leaf, Tensor):
                self._known.add(leaf.untyped_storage())
        result = func(*args, **(kwargs or {}))
        for leaf in tree_leaves(result):
            if isinstance(leaf, Tensor) and leaf.untyped_storage() not in self._known:
                storage = leaf.untyped_storage()
                self._known.add(storage)
                self.live += storage.nbytes()
                weakref.finalize(storage, self._release, storage.nbytes())
        self.peak = max(self.peak, self.live)
        return result

    def _release(self, size: int) -> None:
        self.live -= size


def peak_memory(run: Callable[[], Any], device: torch.device | str) -> int:
    """Return the largest number of bytes that one call needs in addition to the memory in use before the call.

    On a GPU, PyTorch's memory allocator reports the number. On a CPU, it is the peak of `MemoryTracker`.
    """
    device = torch.device(device)
    if device.type == "cuda":
        torch.cuda.synchronize(device)
        before = torch.cuda.memory_allocated(device)
        torch.cuda.reset_peak_memory_stats(device)
        run()
        torch.cuda.synchronize(device)
        return torch.cuda.max_memory_allocated(device) - before
    with MemoryTracker() as tracker:
        run()
    return tracker.peak
