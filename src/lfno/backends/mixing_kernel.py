"""The product with one complex channel matrix H for each mode l, y_bo(l) = Σ_i x_bi(l) H_io(l), as a GPU kernel.

b is the sample, i an input channel, o an output channel. The kernel reads arrays with the modes on the last axis, as they are
stored. A batched matrix product of torch needs modes on the first axis: all arrays would be copied before and after it.
"""

from __future__ import annotations

from typing import Any

import torch
import triton
import triton.language as tl
from torch import Tensor

from lfno.backends.stacked import apart, join_runs

#: tiles of a program for small and for large products. With large tiles, a small product would have fewer programs than a GPU
#: has processors. The values are the number of rows, of modes and of warps, and the number of input channels in a tile of H. A
#: row is a pair (sample, channel) of y, or a pair (input channel, output channel) of H
SMALL, LARGE = (16, 8, 1, 4), (64, 32, 4, 8)
#: largest number of modes, of all networks together, of a small product
FEW = 4096
#: samples in a tile of y
SAMPLES = 16


@triton.jit
def _load(numbers, row, start, modes, inside, ROWS: tl.constexpr, MODES: tl.constexpr):
    """Load MODES modes, from mode `start` on, of some rows of a contiguous array. Return real and imaginary parts."""
    place = 2 * start + tl.arange(0, 2 * MODES)[None, :]
    values = tl.load(numbers + 2 * row * modes + place, mask=inside & (place < 2 * modes), other=0.0)
    return tl.split(tl.reshape(values, (ROWS, MODES, 2)))


@triton.jit
def _store(numbers, row, start, modes, inside, real, imaginary, ROWS: tl.constexpr, MODES: tl.constexpr):
    """Store MODES modes, from mode `start` on, in some rows of a contiguous array."""
    place = 2 * start + tl.arange(0, 2 * MODES)[None, :]
    values = tl.reshape(tl.join(real, imaginary), (ROWS, 2 * MODES))
    tl.store(numbers + 2 * row * modes + place, values, mask=inside & (place < 2 * modes))


@triton.jit
def _product(
    x, h, y, samples, modes, I: tl.constexpr, O: tl.constexpr, at_i, at_o, SIGN: tl.constexpr,
    SAMPLES: tl.constexpr, CHANNELS: tl.constexpr, ROWS: tl.constexpr, MODES: tl.constexpr,
):  # fmt: skip
    """Compute y = x H, with the conjugate of H if SIGN is −1.

    at_i, at_o: distance, in rows of H, between two input channels and between two output channels.
    """
    run, start = tl.program_id(0).to(tl.int64), tl.program_id(1) * MODES
    groups = tl.cdiv(O, CHANNELS)
    row = tl.arange(0, ROWS)[:, None]
    b = tl.program_id(2) // groups * SAMPLES + row % SAMPLES
    o = tl.program_id(2) % groups * CHANNELS + row // SAMPLES
    inside = (b < samples) & (o < O)
    real, imaginary = tl.zeros((ROWS, MODES), tl.float32), tl.zeros((ROWS, MODES), tl.float32)
    for i in range(I):
        xr, xi = _load(x, (run * samples + b) * I + i, start, modes, inside, ROWS, MODES)
        hr, hi = _load(h, run * I * O + i * at_i + o * at_o, start, modes, inside, ROWS, MODES)
        real += xr * hr - SIGN * xi * hi
        imaginary += SIGN * xr * hi + xi * hr
    _store(y, (run * samples + b) * O + o, start, modes, inside, real, imaginary, ROWS, MODES)


@triton.jit
def _correlation(
    x, g, h, samples: tl.constexpr, modes, I: tl.constexpr, O: tl.constexpr,
    ONE: tl.constexpr, OTHER: tl.constexpr, ROWS: tl.constexpr, MODES: tl.constexpr,
):  # fmt: skip
    """Compute h_io = Σ_b conj(x_bi) g_bo: the gradient with respect to H, from the gradient g with respect to y."""
    run, start = tl.program_id(0).to(tl.int64), tl.program_id(1) * MODES
    groups = tl.cdiv(O, OTHER)
    row = tl.arange(0, ROWS)[:, None]
    i = tl.program_id(2) // groups * ONE + row // OTHER
    o = tl.program_id(2) % groups * OTHER + row % OTHER
    inside = (i < I) & (o < O)
    real, imaginary = tl.zeros((ROWS, MODES), tl.float32), tl.zeros((ROWS, MODES), tl.float32)
    for b in range(samples):
        xr, xi = _load(x, (run * samples + b) * I + i, start, modes, inside, ROWS, MODES)
        gr, gi = _load(g, (run * samples + b) * O + o, start, modes, inside, ROWS, MODES)
        real += xr * gr + xi * gi
        imaginary += xr * gi - xi * gr
    _store(h, (run * I + i) * O + o, start, modes, inside, real, imaginary, ROWS, MODES)


def _mixed(x: Tensor, h: Tensor, back: bool) -> Tensor:
    """Return x H. With `back`, return x Hᴴ."""
    runs, samples, _, modes = x.shape
    own, other = (h.shape[2], h.shape[1]) if back else (h.shape[1], h.shape[2])
    rows = (1, h.shape[2]) if back else (h.shape[2], 1)
    y = x.new_empty(runs, samples, other, modes)
    size, length, warps, _ = SMALL if runs * modes <= FEW else LARGE
    channels = size // SAMPLES
    grid = runs, triton.cdiv(modes, length), triton.cdiv(samples, SAMPLES) * triton.cdiv(other, channels)
    given = (*(torch.view_as_real(values) for values in (x, h, y)), samples, modes, own, other, *rows)
    _product[grid](*given, -1 if back else 1, SAMPLES, channels, size, length, num_warps=warps)
    return y


class _Mix(torch.autograd.Function):
    """The product x H for a stack of networks, all complex64.

    x: (runs, samples, in, modes).
    h: H, (runs, in, out, modes).
    Returns (runs, samples, out, modes).
    """

    @staticmethod
    def forward(x: Tensor, h: Tensor) -> Tensor:
        return _mixed(_in_one_piece(x), _in_one_piece(h), back=False)

    @staticmethod
    def setup_context(ctx: Any, inputs: Any, output: Tensor) -> None:
        ctx.save_for_backward(*inputs)

    @staticmethod
    def backward(ctx: Any, g: Tensor) -> tuple[Tensor, Tensor]:
        x, h, g = (_in_one_piece(values) for values in (*ctx.saved_tensors, g))
        runs, samples, channels, modes = x.shape
        gh = torch.empty_like(h)
        rows, length, warps, one = SMALL if runs * modes <= FEW else LARGE
        sizes = channels, h.shape[2], one, rows // one
        pairs = triton.cdiv(channels, one) * triton.cdiv(h.shape[2], rows // one)
        planes = [torch.view_as_real(values) for values in (x, g, gh)]
        grid = runs, triton.cdiv(modes, length), pairs
        _correlation[grid](*planes, samples, modes, *sizes, rows, length, num_warps=warps)
        return _mixed(g, h, back=True), gh

    @staticmethod
    def vmap(info: Any, in_dims: Any, *args: Any) -> tuple[Tensor, int]:
        return apart(info, _Mix.apply(*join_runs(info, in_dims, args)))[0], 0


def _in_one_piece(values: Tensor) -> Tensor:
    """Return a contiguous tensor without lazy conjugation."""
    return values.resolve_conj().contiguous()


def mix(x: Tensor, h: Tensor) -> Tensor:
    """Return the product (samples, out, *modes) of x (samples, in, *modes) and H (in, out, *modes)."""
    return _Mix.apply(x.flatten(2)[None], h.flatten(2)[None]).squeeze(0).unflatten(2, x.shape[2:])
