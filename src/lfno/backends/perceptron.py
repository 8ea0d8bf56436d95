"""The projection u = W₂ act(W₁ v + b₁) + b₂ at every point of a field v, in one kernel.

The hidden layer act(W₁ v + b₁) has many more channels than v. The kernel saves memory because it never stores this layer.
"""

from __future__ import annotations

from typing import Any

import torch
import triton
import triton.language as tl
from torch import Tensor

from lfno.backends.activations import activate, slope
from lfno.backends.stacked import apart, join_runs, parts, tile

#: points that one program handles at once
BLOCK = 32
#: warps of one program
WARPS = 4


@triton.jit
def _forward(
    v, w1, b1, w2, b2, u, batch, points,
    C: tl.constexpr, H: tl.constexpr, O: tl.constexpr,
    CP: tl.constexpr, HP: tl.constexpr, OP: tl.constexpr, BLOCK: tl.constexpr, KIND: tl.constexpr,
):  # fmt: skip
    """Compute u at BLOCK points of one sample. CP, HP and OP are the padded numbers of channels C, H and O."""
    sample = tl.program_id(0).to(tl.int64)
    run = sample // batch
    c, h = tl.arange(0, CP), tl.arange(0, HP)
    p = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    inside = (p < points)[None, :]
    first = tl.load(w1 + (run * H + h[:, None]) * C + c[None, :], mask=(h < H)[:, None] & (c < C)[None, :], other=0.0)
    x = tl.load(v + (sample * C + c[:, None]) * points + p[None, :], mask=(c < C)[:, None] & inside, other=0.0)
    hidden = tl.dot(first, x, input_precision="tf32x3") + tl.load(b1 + run * H + h, mask=h < H, other=0.0)[:, None]
    active = activate(hidden, KIND)
    for o in tl.static_range(O):
        weight = tl.load(w2 + (run * O + o) * H + h, mask=h < H, other=0.0)[:, None]
        out = tl.sum(weight * active, axis=0) + tl.load(b2 + run * O + o)
        tl.store(u + (sample * O + o) * points + p, out, mask=p < points)


@triton.jit
def _backward(
    v, w1, b1, w2, g, gv, gw1, gb1, gw2, batch, points, EACH: tl.constexpr,
    C: tl.constexpr, H: tl.constexpr, O: tl.constexpr,
    CP: tl.constexpr, HP: tl.constexpr, OP: tl.constexpr, BLOCK: tl.constexpr, KIND: tl.constexpr,
):  # fmt: skip
    """Compute the gradients at EACH · BLOCK points of one sample.

    g is the gradient with respect to u. Other names with a leading g are gradients, too: gv is the gradient with respect to v.
    """
    sample, part = tl.program_id(0).to(tl.int64), tl.program_id(1)
    run = sample // batch
    c, h, o = tl.arange(0, CP), tl.arange(0, HP), tl.arange(0, OP)
    first = tl.load(w1 + (run * H + h[:, None]) * C + c[None, :], mask=(h < H)[:, None] & (c < C)[None, :], other=0.0)
    bias = tl.load(b1 + run * H + h, mask=h < H, other=0.0)[:, None]
    sum1, sum2 = tl.zeros((HP, CP), tl.float32), tl.zeros((HP, OP), tl.float32)
    sum_bias = tl.zeros((HP,), tl.float32)
    for block in range(EACH):
        p = (part * EACH + block) * BLOCK + tl.arange(0, BLOCK)
        inside = (p < points)[None, :]
        x = tl.load(v + (sample * C + c[:, None]) * points + p[None, :], mask=(c < C)[:, None] & inside, other=0.0)
        hidden = tl.dot(first, x, input_precision="tf32x3") + bias
        active, d = activate(hidden, KIND), tl.zeros((HP, BLOCK), tl.float32)
        for j in tl.static_range(O):
            e = tl.load(g + (sample * O + j) * points + p, mask=p < points, other=0.0)[None, :]
            d += tl.load(w2 + (run * O + j) * H + h, mask=h < H, other=0.0)[:, None] * e
            sum2 += tl.where(o[None, :] == j, tl.sum(active * e, axis=1)[:, None], 0.0)
        d *= slope(hidden, KIND)
        sum1 += tl.dot(d, tl.trans(x), input_precision="tf32x3")
        sum_bias += tl.sum(d, axis=1)
        back = tl.dot(tl.trans(first), d, input_precision="tf32x3")
        tl.store(gv + (sample * C + c[:, None]) * points + p[None, :], back, mask=(c < C)[:, None] & inside)
    place = sample * tl.num_programs(1) + part
    tl.store(gw1 + (place * H + h[:, None]) * C + c[None, :], sum1, mask=(h < H)[:, None] & (c < C)[None, :])
    tl.store(gw2 + (place * O + o[None, :]) * H + h[:, None], sum2, mask=(o < O)[None, :] & (h < H)[:, None])
    tl.store(gb1 + place * H + h, sum_bias, mask=h < H)


class _Perceptron(torch.autograd.Function):
    """The projection of a stack of networks ("runs"). Return u, (runs, batch, O, points).

    v: (runs, batch, C, points).
    w1: W₁, (runs, H, C).
    b1: b₁, (runs, H).
    w2: W₂, (runs, O, H).
    b2: b₂, (runs, O).
    kind: name of the activation.
    """

    @staticmethod
    def forward(v: Tensor, w1: Tensor, b1: Tensor, w2: Tensor, b2: Tensor, kind: str) -> Tensor:
        runs, batch, _, points = v.shape
        u = v.new_empty(runs, batch, w2.shape[1], points)
        given = [t.contiguous() for t in (v, w1, b1, w2, b2)]
        grid = runs * batch, triton.cdiv(points, BLOCK)
        _forward[grid](*given, u, batch, points, *_sizes(w1, w2), BLOCK, kind, num_warps=WARPS)
        return u

    @staticmethod
    def setup_context(ctx: Any, inputs: Any, output: Tensor) -> None:
        *tensors, _, ctx.kind = inputs
        ctx.save_for_backward(*tensors)

    @staticmethod
    def backward(ctx: Any, g: Tensor) -> Any:
        v, w1, b1, w2 = given = [t.contiguous() for t in ctx.saved_tensors]
        runs, batch, _, points = v.shape
        count, each = parts(runs * batch, points, BLOCK)
        gv = torch.empty_like(v)
        sums = [v.new_empty(runs, batch * count, *t.shape[1:]) for t in (w1, b1, w2)]
        sizes = _sizes(w1, w2)
        _backward[runs * batch, count](
            *given, g.contiguous(), gv, *sums, batch, points, each, *sizes, BLOCK, ctx.kind, num_warps=WARPS
        )
        return gv, *(t.sum(1) for t in sums), g.sum((1, 3)), None

    @staticmethod
    def vmap(info: Any, in_dims: Any, *args: Any) -> tuple[Tensor, int]:
        return apart(info, _Perceptron.apply(*join_runs(info, in_dims, args)))[0], 0


def _sizes(w1: Tensor, w2: Tensor) -> tuple[int, ...]:
    sizes = w1.shape[2], w1.shape[1], w2.shape[1]
    return (*sizes, tile(sizes[0]), tile(sizes[1]), triton.next_power_of_2(sizes[2]))


def perceptron(v: Tensor, w1: Tensor, b1: Tensor, w2: Tensor, b2: Tensor, kind: str) -> Tensor:
    """Return u, (batch, O, *grid).

    v: (batch, C, *grid).
    w1: W₁, (H, C).
    b1: b₁, (H,).
    w2: W₂, (O, H).
    b2: b₂, (O,).
    kind: name of the activation.
    """
    given = (v.flatten(2), w1, b1, w2, b2)
    return _Perceptron.apply(*(t[None] for t in given), kind).squeeze(0).unflatten(2, v.shape[2:])
