"""The last operations of a layer, at every point, in one kernel: y = act(W v + b + s + t) + v.

v is the input of the layer. s and t are two parts of its response. s, t, act and the last v may each be missing.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
import triton
import triton.language as tl
from torch import Tensor

from lfno.backends.activations import activate, slope
from lfno.backends.stacked import apart, join_runs, parts, tile

#: points that one program handles at once
BLOCK = 64
#: warps of one program
WARPS = 4


@triton.jit
def _forward(
    v, w, b, s, t, y, before, batch, points,
    C: tl.constexpr, O: tl.constexpr, CP: tl.constexpr, OP: tl.constexpr, BLOCK: tl.constexpr,
    HAS_S: tl.constexpr, HAS_T: tl.constexpr, SKIP: tl.constexpr, KIND: tl.constexpr,
):  # fmt: skip
    """Compute y at BLOCK points of one sample, and `before`, the argument of act. CP and OP are padded numbers of channels."""
    sample = tl.program_id(0).to(tl.int64)
    run = sample // batch
    c, o = tl.arange(0, CP), tl.arange(0, OP)
    p = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    inside = (o < O)[:, None] & (p < points)[None, :]
    weight = tl.load(w + (run * O + o[:, None]) * C + c[None, :], mask=(o < O)[:, None] & (c < C)[None, :], other=0.0)
    x = tl.load(v + (sample * C + c[:, None]) * points + p[None, :], mask=(c < C)[:, None] & (p < points)[None, :], other=0.0)
    place = (sample * O + o[:, None]) * points + p[None, :]
    total = tl.dot(weight, x, input_precision="tf32x3") + tl.load(b + run * O + o, mask=o < O, other=0.0)[:, None]
    if HAS_S:
        total += tl.load(s + place, mask=inside, other=0.0)
    if HAS_T:
        total += tl.load(t + place, mask=inside, other=0.0)
    if KIND != "":
        tl.store(before + place, total, mask=inside)
        total = activate(total, KIND)
    if SKIP:
        total += tl.load(v + place, mask=inside, other=0.0)
    tl.store(y + place, total, mask=inside)


@triton.jit
def _backward(
    v, w, before, g, gv, gsum, gw, gb, batch, points, EACH: tl.constexpr,
    C: tl.constexpr, O: tl.constexpr, CP: tl.constexpr, OP: tl.constexpr, BLOCK: tl.constexpr,
    SKIP: tl.constexpr, KIND: tl.constexpr,
):  # fmt: skip
    """Compute the gradients at EACH · BLOCK points of one sample.

    g is the gradient with respect to y, and gsum with respect to the argument of act. Other names with a leading g are
    gradients, too: gw is the gradient with respect to w.
    """
    sample, part = tl.program_id(0).to(tl.int64), tl.program_id(1)
    run = sample // batch
    c, o = tl.arange(0, CP), tl.arange(0, OP)
    weight = tl.load(w + (run * O + o[None, :]) * C + c[:, None], mask=(o < O)[None, :] & (c < C)[:, None], other=0.0)
    sum_weight, sum_bias = tl.zeros((OP, CP), tl.float32), tl.zeros((OP,), tl.float32)
    for block in range(EACH):
        p = (part * EACH + block) * BLOCK + tl.arange(0, BLOCK)
        inside = (o < O)[:, None] & (p < points)[None, :]
        there = (c < C)[:, None] & (p < points)[None, :]
        place = (sample * O + o[:, None]) * points + p[None, :]
        x = tl.load(v + (sample * C + c[:, None]) * points + p[None, :], mask=there, other=0.0)
        d = tl.load(g + place, mask=inside, other=0.0)
        if KIND != "":
            d *= slope(tl.load(before + place, mask=inside, other=0.0), KIND)
            tl.store(gsum + place, d, mask=inside)
        sum_weight += tl.dot(d, tl.trans(x), input_precision="tf32x3")
        sum_bias += tl.sum(d, axis=1)
        back = tl.dot(weight, d, input_precision="tf32x3")
        if SKIP:
            back += tl.load(g + (sample * C + c[:, None]) * points + p[None, :], mask=there, other=0.0)
        tl.store(gv + (sample * C + c[:, None]) * points + p[None, :], back, mask=there)
    place = sample * tl.num_programs(1) + part
    tl.store(gw + (place * O + o[:, None]) * C + c[None, :], sum_weight, mask=(o < O)[:, None] & (c < C)[None, :])
    tl.store(gb + place * O + o, sum_bias, mask=o < O)


class _Update(torch.autograd.Function):
    """The last operations of layers, for a stack of networks ("runs").

    Return y and the argument of act, each (runs, batch, O, points).

    v: (runs, batch, C, points).
    w: W, (runs, O, C).
    b: (runs, O).
    s, t: in the shape of y, or None.
    kind: name of the activation; empty for no activation.
    skip: whether the last v is added.
    """

    @staticmethod
    def forward(
        v: Tensor, w: Tensor, b: Tensor, s: Tensor | None, t: Tensor | None, kind: str, skip: bool
    ) -> tuple[Tensor, Tensor]:
        runs, batch, _, points = v.shape
        y = v.new_empty(runs, batch, w.shape[1], points)
        before = torch.empty_like(y) if kind else y.new_empty(0)
        given = [v if x is None else x.contiguous() for x in (v, w, b, s, t)]
        flags = s is not None, t is not None, skip
        grid = runs * batch, triton.cdiv(points, BLOCK)
        _forward[grid](*given, y, before, batch, points, *_sizes(w), BLOCK, *flags, kind, num_warps=WARPS)
        return y, before

    @staticmethod
    def setup_context(ctx: Any, inputs: Any, output: tuple[Tensor, Tensor]) -> None:
        v, w, _, s, t, ctx.kind, ctx.skip = inputs
        ctx.given = s is not None, t is not None
        ctx.mark_non_differentiable(output[1])
        ctx.set_materialize_grads(False)  # else torch fills a tensor of zeros for the argument of act
        ctx.save_for_backward(v, w, output[1])

    @staticmethod
    def backward(ctx: Any, g: Tensor, _: Any) -> Any:
        v, w, before = (x.contiguous() for x in ctx.saved_tensors)
        g = g.contiguous()
        runs, batch, _, points = v.shape
        count, each = parts(runs * batch, points, BLOCK)
        gv, gsum = torch.empty_like(v), torch.empty_like(g) if ctx.kind else g
        gw, gb = (v.new_empty(runs, batch * count, *shape) for shape in (w.shape[1:], w.shape[1:2]))
        _backward[runs * batch, count](
            v, w, before, g, gv, gsum, gw, gb, batch, points, each, *_sizes(w), BLOCK, ctx.skip, ctx.kind, num_warps=WARPS
        )
        sums = (gsum if given else None for given in ctx.given)
        return gv, gw.sum(1), gb.sum(1), *sums, None, None

    @staticmethod
    def vmap(info: Any, in_dims: Any, *args: Any) -> tuple[tuple[Tensor, ...], tuple[int, int]]:
        y, before = _Update.apply(*join_runs(info, in_dims, args))
        return apart(info, y, before), (0, 0)


def _sizes(w: Tensor) -> tuple[int, ...]:
    sizes = w.shape[2], w.shape[1]
    return (*sizes, *(tile(size) for size in sizes))


def update(v: Tensor, w: Tensor, b: Tensor, terms: Sequence[Tensor], kind: str, skip: bool) -> Tensor:
    """Return y, (batch, O, *grid).

    v: (batch, C, *grid).
    w: W, (O, C).
    b: (O,).
    terms: s and t: at most two fields in the shape of y.
    kind: name of the activation; empty for no activation.
    skip: whether the last v is added.
    """
    fields = [term.flatten(2)[None] for term in terms] + [None] * (2 - len(terms))
    y, _ = _Update.apply(v.flatten(2)[None], w[None], b[None], *fields, kind, skip)
    return y.squeeze(0).unflatten(2, v.shape[2:])
