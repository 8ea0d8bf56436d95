"""How kernels see a stack of runs: every tensor has a leading axis of runs, one outside `vmap`, all of them inside."""

from __future__ import annotations

from typing import Any

from torch import Tensor

#: programs that keep a large GPU busy
PROGRAMS = 4096


def join_runs(info: Any, in_dims: tuple[int | None, ...], args: tuple[Any, ...]) -> list[Any]:
    """The arguments of a vmapped function, (…, 1, …) each, with vmap's axis in the place of the 1 in front."""
    joined = []
    for value, d in zip(args, in_dims, strict=True):
        if isinstance(value, Tensor):
            stacked = value.expand(info.batch_size, *value.shape) if d is None else value.movedim(d, 0)
            value = stacked.flatten(0, 1)
        joined.append(value)
    return joined


def apart(info: Any, *results: Tensor) -> tuple[Tensor, ...]:
    """Results with vmap's axis in front again, and the axis of runs that was there before it after that."""
    return tuple(result.unflatten(0, (info.batch_size, -1)) for result in results)


def parts(samples: int, points: int, block: int) -> tuple[int, int]:
    """Cut the points of a sample so that every processor has work: (number of parts, blocks in each)."""
    blocks = -(-points // block)
    each = -(-blocks // min(blocks, max(1, PROGRAMS // samples)))
    return -(-blocks // each), each


def tile(count: int) -> int:
    """The side of a tile that holds `count` channels: a power of two, at least the 16 that matrix units want."""
    return max(16, 1 << (count - 1).bit_length())
