"""Functions that call the kernels. They choose tile sizes and the number of programs, and allocate the results.

`lfno.backends.chunked` defines the symbols s, w, Ŵ and b₀.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
import triton
from torch import Tensor

from lfno.backends.chunked.coefficients import CONSTANTS, Tables
from lfno.backends.chunked.gradients import lag_gradient, point_gradient, residue_gradient
from lfno.backends.chunked.pointwise import pointwise_answer, pointwise_gradient
from lfno.backends.chunked.products import ROWS, STEPS
from lfno.backends.chunked.response import answer, input_gradient
from lfno.backends.chunked.states import chunk_states
from lfno.backends.stacked import parts, tile


@dataclass(frozen=True)
class Tiles:
    """The tile size and the number of warps of each kernel. These values were the fastest in measurements on an H200.

    The tile size of `gate` and `pointwise` is a number of time points. The values of `states` are the number of chunks in an
    unrolled loop, the number of warps, and the largest number of states (of all poles and channels) that a program computes
    side by side. All other tile sizes are numbers of chunks. Kernels that compute sums have a third value: the number of
    programs that keeps all processors of a large GPU busy.
    """

    states: tuple[int, int, int] = (2, 8, 1024)
    answer: tuple[int, int] = (8, 1)
    gate: tuple[int, int] = (64, 2)
    input: tuple[int, int] = (8, 1)
    pointwise: tuple[int, int, int] = (32, 2, 4096)
    lags: tuple[int, int, int] = (16, 4, 256)
    residues: tuple[int, int, int] = (32, 2, 512)
    points: tuple[int, int, int] = (8, 1, 512)


tiles = Tiles()


@dataclass(frozen=True)
class Sizes:
    """The sizes of a stack of layers.

    runs: number of networks.
    batch: number of samples of one network.
    channels: number of channels.
    points: number of time points.
    poles: number of poles.
    """

    runs: int
    batch: int
    channels: int
    points: int
    poles: int

    @classmethod
    def of(cls, v: Tensor, poles: Tensor) -> Sizes:
        """Return the sizes for an input v (runs, batch, channels, points) and poles (runs, M)."""
        runs, batch, channels, points = v.shape
        return cls(runs, batch, channels, points, poles.shape[1])

    @property
    def samples(self) -> int:
        """The number of samples of all networks."""
        return self.runs * self.batch

    @property
    def padded(self) -> int:
        """The number of channels of a tile."""
        return tile(self.channels)

    @property
    def points_in_step(self) -> int:
        """P, the number of time points in a step."""
        return ROWS // self.padded

    @property
    def length(self) -> int:
        """L, the number of time points in a chunk."""
        return self.points_in_step * STEPS

    @property
    def chunks(self) -> int:
        """The number of chunks of a sample."""
        return triton.cdiv(self.points, self.length)

    @property
    def layer(self) -> tuple[int, ...]:
        """The constants C, CP, M, P and STEPS of a kernel."""
        return self.channels, self.padded, self.poles, self.points_in_step, STEPS


def states(size: Sizes, field: Tensor, tables: Tables) -> Tensor:
    """Return s at the start of every chunk, (run, sample, chunk, M, 2, C)."""
    return _states(size, field, tables, field, None, None)


def states_back(size: Sizes, slopes: Tensor, tables: Tables, v: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Return Ŵ at the start of every chunk, and the gradients with respect to v[0] and b₀ through s[0] = −b₀ v[0]."""
    gfirst = v.new_empty(size.samples, size.channels)
    gstart = v.new_empty(size.runs, size.batch, size.poles, 2)
    return _states(size, slopes, tables, v, gfirst, gstart), gfirst, gstart


def _states(size: Sizes, field: Tensor, tables: Tables, v: Tensor, gfirst: Tensor | None, gstart: Tensor | None) -> Tensor:
    result = field.new_empty(size.runs, size.batch, size.chunks, size.poles, 2, size.channels)
    unroll, warps, entries = tiles.states
    back = gfirst is not None
    poles = max(8, triton.next_power_of_2(size.poles))
    shape = size.channels, size.padded, size.poles, poles, size.length, max(16, size.length)
    groups = min(max(1, entries // (poles * size.padded)), triton.next_power_of_2(triton.cdiv(size.chunks, unroll)))
    rounds = triton.cdiv(size.chunks, groups * unroll)
    ends = field.new_empty(size.samples, groups, size.poles, 2, size.channels)
    chunk_states[size.samples,](
        field, tables.powers, tables.constants, tables.mixing, v, ends, result, gfirst if back else v, gstart if back else v,
        size.batch, size.points, size.chunks, *shape, CONSTANTS, groups, rounds, unroll, back, num_warps=warps,
    )  # fmt: skip
    return result


def argument(size: Sizes, v: Tensor, starts: Tensor, tables: Tables, bias: Tensor, term: Tensor | None) -> Tensor:
    """Return the argument of the activation."""
    before = torch.empty_like(v)
    chunks, warps = tiles.answer
    count = triton.cdiv(size.chunks, chunks)
    answer[size.samples * count,](
        v, starts, *tables, bias, v if term is None else term, before, size.batch, size.points, size.chunks, count,
        *size.layer, chunks, CONSTANTS, term is not None, num_warps=warps,
    )  # fmt: skip
    return before


def output(
    size: Sizes, before: Tensor, v: Tensor, gate: Tensor | None, gate_bias: Tensor | None, act: str, skip: bool
) -> Tensor:
    """Return the output of the layer from the argument of its activation."""
    y = torch.empty_like(v)
    points, warps = tiles.gate
    pointwise_answer[size.samples, triton.cdiv(size.points, points)](
        before, v, *(v if x is None else x for x in (gate, gate_bias)), y, size.batch, size.points,
        size.channels, size.padded, points, gate is not None, skip, act, num_warps=warps,
    )  # fmt: skip
    return y


def input_slopes(
    size: Sizes, slopes: Tensor, back: Tensor, tables: Tables, g: Tensor, gfirst: Tensor, skip: bool
) -> tuple[Tensor, Tensor]:
    """Return the gradient with respect to v, and the gradient with respect to the state at the end of every chunk."""
    gv, mixed = torch.empty_like(g), torch.empty_like(back)
    chunks, warps = tiles.input
    count = triton.cdiv(size.chunks, chunks)
    input_gradient[size.samples * count,](
        slopes, back, mixed, *tables, g, gfirst, gv, size.batch, size.points, size.chunks, count, *size.layer, chunks,
        CONSTANTS, skip, num_warps=warps,
    )  # fmt: skip
    return gv, mixed


def pointwise_slopes(
    size: Sizes, before: Tensor, gate: Tensor | None, gate_bias: Tensor | None, g: Tensor, act: str
) -> tuple[Tensor, Tensor, Tensor | None, Tensor | None]:
    """Return the gradients with respect to the argument of the activation, the bias, and the parameters of the gate."""
    C = size.channels
    points, warps, programs = tiles.pointwise
    count, each = parts(size.samples, size.points, points, programs)
    slopes = torch.empty_like(before)
    sums = before.new_empty(size.runs, size.batch * count, C if gate is None else 3 * C + 2 * C * C)
    pointwise_gradient[size.samples, count](
        before, *(before if x is None else x for x in (gate, gate_bias)), g, slopes, sums, size.batch, size.points,
        C, size.padded, points, each, gate is not None, act, num_warps=warps,
    )  # fmt: skip
    total = sums.sum(1)
    if gate is None:
        return slopes, total, None, None
    gbias, ggate, ggate_bias = total.split((C, 2 * C * C, 2 * C), 1)
    return slopes, gbias, ggate.unflatten(1, (2 * C, C)), ggate_bias


def lag_sums(size: Sizes, v: Tensor, slopes: Tensor) -> Tensor:
    """Return the sums of `lag_gradient`, (run, step, 2 ROWS, 2 ROWS)."""
    chunks, warps, programs = tiles.lags
    count, each = parts(size.samples, size.chunks, chunks, programs)
    sums = v.new_empty(size.runs, size.batch * count, STEPS // 2, 2 * ROWS, 2 * ROWS)
    steps = 2 * size.points_in_step, STEPS // 2
    shape = size.channels, size.padded, *steps, chunks, each
    lag_gradient[size.samples, count](v, slopes, sums, size.points, *shape, num_warps=warps)
    return sums.sum(1)


def residue_sums(size: Sizes, starts: Tensor, back: Tensor, tables: Tables) -> tuple[Tensor, Tensor]:
    """Return w, the product of residues and states, and the sums of `residue_gradient`, (run, M, 8, C, C)."""
    rows, warps, programs = tiles.residues
    total = size.batch * size.chunks
    count, each = parts(size.runs * size.poles, total, rows, programs)
    mixed = torch.empty_like(starts)
    sums = starts.new_empty(size.runs, count, size.poles, 8, size.channels, size.channels)
    residue_gradient[size.runs, size.poles, count](
        starts, back, tables.powers, tables.mixing, mixed, sums, total, size.chunks, size.channels, size.padded, size.poles,
        size.length, rows, each, num_warps=warps,
    )  # fmt: skip
    return mixed, sums.sum(1)


def point_sums(size: Sizes, slopes: Tensor, mixed: Tensor, v: Tensor, mixed_back: Tensor) -> Tensor:
    """Return the sums of `point_gradient`, (run, 2, L, M, 2)."""
    chunks, warps, programs = tiles.points
    count, each = parts(size.samples, size.chunks, chunks, programs)
    sums = v.new_empty(size.runs, size.batch * count, 2, size.length, size.poles, 2)
    shape = size.channels, size.padded, size.poles, tile(2 * size.poles), size.length, max(16, size.length)
    given = slopes, mixed, v, mixed_back, sums, size.points, size.chunks
    point_gradient[size.samples, count, 2](*given, *shape, chunks, each, num_warps=warps)
    return sums.sum(1)
