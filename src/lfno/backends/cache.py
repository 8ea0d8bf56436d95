"""Two caches: one for wave matrices (see `lfno.spectral.waves`), one for functions of a layer's parameters.

A layer computes functions of its parameters, such as its transfer function. Such a function costs more time than the response
to one signal. A cached result is valid until a parameter changes. We compare parameter values, because the version counters of
torch miss some in-place edits.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Hashable, Iterator, Sequence
from typing import Any, TypeVar
from weakref import WeakKeyDictionary

import torch
from torch import Tensor, nn

from lfno.spectral.waves import waves

#: number of cached wave matrices. A CUDA graph reads its matrices again at every replay, so they must stay in memory: this
#: number is larger than the number of matrices of one run
WAVES = 32
#: largest number of entries of a cached result; 8 MB of complex64
LARGE = 2**20
#: number of cached results for one layer
RESULTS = 4

_WAVES: dict[tuple[Any, ...], Tensor] = {}

Value = TypeVar("Value")
Kept = dict[Hashable, tuple[list[Tensor], Any]]
_KEPT: WeakKeyDictionary[nn.Module, Kept] = WeakKeyDictionary()
_WRITING = threading.Lock()


def cached_waves(period: int, points: int, modes: int, half: bool, like: Tensor) -> Tensor:
    """Return the matrix of `lfno.spectral.waves.waves`, (2, kept, points), in the precision and on the device of `like`."""
    double = like.dtype in (torch.float64, torch.complex128)
    given = (period, points, modes, half, torch.float64 if double else torch.float32, like.device)
    if torch.compiler.is_compiling():
        return waves(*given)
    known = _WAVES.get(given)
    if known is not None:
        return known
    with torch.inference_mode(False):  # a matrix made in inference mode could not be used in training
        made = waves(*given)
    if _lasting(made):
        while len(_WAVES) >= WAVES:
            _WAVES.pop(next(iter(list(_WAVES))), None)
        _WAVES[given] = made
    return made


def _lasting(values: Tensor) -> bool:
    """Return whether a tensor may be cached. Tensors inside `torch.func.vmap` or `grad` are invalid after the call."""
    return type(values) is Tensor and not wrapped(values)


def wrapped(values: Tensor) -> bool:
    """Return whether a tensor belongs to `torch.func.vmap` or `grad`. torch has no public function for this test."""
    return torch._C._functorch.is_functorch_wrapped_tensor(values)


def cached(
    module: nn.Module,
    parameters: Sequence[Tensor],
    key: Hashable,
    make: Callable[[], Value],
    arrange: Callable[[Value], Value] = lambda value: value,
) -> Value:
    """Return make(), or the cached result for equal parameters and an equal `key`.

    module: the layer that owns the cached results.
    parameters: the parameters that the result depends on.
    key: identifies the result within the layer.
    make: a function that returns a tensor or a (nested) tuple of tensors.
    arrange: a function that improves the memory layout of a result before it is cached.
    """
    if not _quiet(module, parameters):
        return make()
    kept = _KEPT.setdefault(module, {})
    before, value = kept.get(key, ([], None))
    if value is not None and all(_same(own, old) for own, old in zip(parameters, before, strict=True)):
        return value
    value = arrange(make())
    tensors = list(_tensors(value))
    if sum(part.numel() for part in tensors) <= LARGE and all(_lasting(part) for part in tensors):
        with _WRITING:
            kept.pop(key, None)
            while len(kept) >= RESULTS:
                del kept[next(iter(kept))]
            kept[key] = [own.detach().clone() for own in parameters], value
    return value


def _tensors(value: Any) -> Iterator[Tensor]:
    """Yield the tensors of a nested tuple."""
    if isinstance(value, Tensor):
        yield value
    else:
        for part in value:
            yield from _tensors(part)


def _quiet(module: nn.Module, parameters: Sequence[Tensor]) -> bool:
    """Return whether results may be cached: in predictions of one model (not of a stack) on a CPU, outside of `torch.compile`.

    On a GPU, the comparison of parameter values would have to wait for all running kernels.
    """
    own = all(type(values) is nn.Parameter and values.device.type == "cpu" for values in parameters)
    return own and not (module.training or torch.is_grad_enabled() or torch.compiler.is_compiling())


def _same(own: Tensor, old: Tensor) -> bool:
    """Return whether two tensors have the same type and the same values."""
    return own.dtype == old.dtype and torch.equal(own, old)
