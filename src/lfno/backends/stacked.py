"""The layout of tensors for kernels: every tensor has a leading axis of runs. A run is one network.

Inside `torch.func.vmap` this axis has all networks of a stack. Outside `vmap` it has one network.
"""

from __future__ import annotations

from typing import Any

from torch import Tensor

#: number of programs (parts of a kernel that run in parallel) that keeps a large GPU busy
PROGRAMS = 4096


def join_runs(info: Any, in_dims: tuple[int | None, ...], args: tuple[Any, ...]) -> list[Any]:
    """Return the arguments `args` of a function under vmap, with the axis of vmap merged into the axis of runs.

    info: information from torch, with the size of the axis of vmap.
    in_dims: the position of the axis of vmap in each argument; None if an argument has no such axis.
    """
    joined = []
    for value, d in zip(args, in_dims, strict=True):
        if isinstance(value, Tensor):
            stacked = value.expand(info.batch_size, *value.shape) if d is None else value.movedim(d, 0)
            value = stacked.flatten(0, 1)
        joined.append(value)
    return joined


def apart(info: Any, *results: Tensor) -> tuple[Tensor, ...]:
    """Return results with the axis of vmap first and the axis of runs second: the inverse of `join_runs`."""
    return tuple(result.unflatten(0, (info.batch_size, -1)) for result in results)


def parts(samples: int, points: int, block: int, programs: int = PROGRAMS) -> tuple[int, int]:
    """Divide the points of each sample into parts, so that all processors of the GPU have work.

    samples: number of samples.
    points: number of points of a sample.
    block: number of points in a block; a part has one or more blocks.
    programs: number of programs that keeps the GPU busy.

    Returns the number of parts, and the number of blocks in each part.
    """
    blocks = -(-points // block)
    each = -(-blocks // min(blocks, max(1, programs // samples)))
    return -(-blocks // each), each


def tile(count: int) -> int:
    """Return the size of a tile for `count` channels: a power of two of at least 16, as the matrix units of a GPU require."""
    return max(16, 1 << (count - 1).bit_length())
