"""The layout of a stack of runs for kernels: every tensor has a leading axis of runs.

Outside `vmap` this axis has one run. Inside `vmap` it has all runs.
"""

from __future__ import annotations

from typing import Any

from torch import Tensor

#: number of programs that keeps a large GPU busy
PROGRAMS = 4096


def join_runs(info: Any, in_dims: tuple[int | None, ...], args: tuple[Any, ...]) -> list[Any]:
    """Return the arguments of a vmapped function with the axis of vmap merged into the leading axis of runs."""
    joined = []
    for value, d in zip(args, in_dims, strict=True):
        if isinstance(value, Tensor):
            stacked = value.expand(info.batch_size, *value.shape) if d is None else value.movedim(d, 0)
            value = stacked.flatten(0, 1)
        joined.append(value)
    return joined


def apart(info: Any, *results: Tensor) -> tuple[Tensor, ...]:
    """Return results with the axis of vmap first and the former axis of runs second: the inverse of `join_runs`."""
    return tuple(result.unflatten(0, (info.batch_size, -1)) for result in results)


def parts(samples: int, points: int, block: int) -> tuple[int, int]:
    """Cut the points of a sample so that every processor has work. Return the number of parts, and the blocks in each part."""
    blocks = -(-points // block)
    each = -(-blocks // min(blocks, max(1, PROGRAMS // samples)))
    return -(-blocks // each), each


def tile(count: int) -> int:
    """Return the side of a tile for `count` channels: a power of two, and at least 16, as matrix units require."""
    return max(16, 1 << (count - 1).bit_length())
