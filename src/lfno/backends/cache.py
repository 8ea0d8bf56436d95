"""Two caches: wave matrices, and functions of a layer's parameters.

The transfer function of a layer, or the tables of its recurrence, cost more time than the response to one signal. A cached
value is valid until a parameter changes. We compare parameter values, because version counters miss some in-place edits.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Hashable, Iterator, Sequence
from typing import Any, TypeVar
from weakref import WeakKeyDictionary

import torch
from torch import Tensor, nn

from lfno.spectral.waves import waves

WAVES = 32  # number of cached wave matrices; more than one run needs, because a captured graph keeps reading its matrices
LARGE = 2**20  # entries of the largest cached result, 8 MB
RESULTS = 4  # number of cached results for one layer

_WAVES: dict[tuple[Any, ...], Tensor] = {}

Value = TypeVar("Value")
Kept = dict[Hashable, tuple[list[Tensor], Any]]
_KEPT: WeakKeyDictionary[nn.Module, Kept] = WeakKeyDictionary()
_WRITING = threading.Lock()


def cached_waves(period: int, points: int, modes: int, half: bool, like: Tensor) -> Tensor:
    """Return the matrix of `lfno.spectral.waves.waves` in the precision and on the device of `like`."""
    double = like.dtype in (torch.float64, torch.complex128)
    given = (period, points, modes, half, torch.float64 if double else torch.float32, like.device)
    if torch.compiler.is_compiling():
        return waves(*given)
    known = _WAVES.get(given)
    if known is not None:
        return known
    with torch.inference_mode(False):  # training uses the cached matrices too
        made = waves(*given)
    if _lasting(made):
        while len(_WAVES) >= WAVES:
            _WAVES.pop(next(iter(list(_WAVES))), None)
        _WAVES[given] = made
    return made


def _lasting(values: Tensor) -> bool:
    """Return whether a tensor may be cached. A tensor inside vmap or grad becomes invalid after the call.

    torch has no public function for this test.
    """
    return type(values) is Tensor and not torch._C._functorch.is_functorch_wrapped_tensor(values)


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
    if isinstance(value, Tensor):
        yield value
    else:
        for part in value:
            yield from _tensors(part)


def _quiet(module: nn.Module, parameters: Sequence[Tensor]) -> bool:
    """Return whether results may be cached: a prediction on a CPU with the stored parameters of one model, and no tracing.

    On a GPU, a comparison of values would wait for all running kernels.
    """
    own = all(type(values) is nn.Parameter and values.device.type == "cpu" for values in parameters)
    return own and not (module.training or torch.is_grad_enabled() or torch.compiler.is_compiling())


def _same(own: Tensor, old: Tensor) -> bool:
    return own.dtype == old.dtype and torch.equal(own, old)
