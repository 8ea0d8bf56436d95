"""The last operations of a layer with a gate, at every point, in one kernel:

    y = v + (A u + a) sigmoid(B u + c)   with   u = act(W v + b + s + t).

v is the input of the layer. s and t are two parts of its response; each may be missing. The forward pass stores the argument of
act. The backward pass computes u from this argument again.
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
def _square(w, first, c, C: tl.constexpr):
    """Load the C × C matrix that begins at row `first` of w, padded with zeros."""
    return tl.load(w + (first + c[:, None]) * C + c[None, :], mask=(c < C)[:, None] & (c < C)[None, :], other=0.0)


@triton.jit
def _forward(
    v, w, b, gate, gate_bias, s, t, y, before, batch, points,
    C: tl.constexpr, CP: tl.constexpr, BLOCK: tl.constexpr, HAS_S: tl.constexpr, HAS_T: tl.constexpr, KIND: tl.constexpr,
):  # fmt: skip
    """Compute y, and `before`, the argument of act, at BLOCK points of one sample. CP is the padded number of channels."""
    sample = tl.program_id(0).to(tl.int64)
    run = sample // batch
    c = tl.arange(0, CP)
    p = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    inside = (c < C)[:, None] & (p < points)[None, :]
    place = (sample * C + c[:, None]) * points + p[None, :]
    x = tl.load(v + place, mask=inside, other=0.0)
    total = tl.dot(_square(w, run * C, c, C), x, input_precision="tf32x3")
    total += tl.load(b + run * C + c, mask=c < C, other=0.0)[:, None]
    if HAS_S:
        total += tl.load(s + place, mask=inside, other=0.0)
    if HAS_T:
        total += tl.load(t + place, mask=inside, other=0.0)
    tl.store(before + place, total, mask=inside)
    u = activate(total, KIND)
    value = tl.dot(_square(gate, 2 * run * C, c, C), u, input_precision="tf32x3")
    value += tl.load(gate_bias + 2 * run * C + c, mask=c < C, other=0.0)[:, None]
    gated = tl.dot(_square(gate, (2 * run + 1) * C, c, C), u, input_precision="tf32x3")
    gated += tl.load(gate_bias + (2 * run + 1) * C + c, mask=c < C, other=0.0)[:, None]
    tl.store(y + place, x + value * tl.sigmoid(gated), mask=inside)


@triton.jit
def _backward(
    v, w, gate, gate_bias, before, g, gv, gsum, gw, gb, ggate, ggate_bias, batch, points, EACH: tl.constexpr,
    C: tl.constexpr, CP: tl.constexpr, BLOCK: tl.constexpr, KIND: tl.constexpr,
):  # fmt: skip
    """Compute the gradients at EACH · BLOCK points of one sample.

    g is the gradient with respect to y, and gsum with respect to the argument of act. Other names with a leading g are
    gradients, too: gw is the gradient with respect to w.
    """
    sample, part = tl.program_id(0).to(tl.int64), tl.program_id(1)
    run = sample // batch
    c = tl.arange(0, CP)
    weight = tl.trans(_square(w, run * C, c, C))
    A, B = _square(gate, 2 * run * C, c, C), _square(gate, (2 * run + 1) * C, c, C)
    a = tl.load(gate_bias + 2 * run * C + c, mask=c < C, other=0.0)[:, None]
    constant = tl.load(gate_bias + (2 * run + 1) * C + c, mask=c < C, other=0.0)[:, None]
    sum_w, sum_A, sum_B = tl.zeros((CP, CP), tl.float32), tl.zeros((CP, CP), tl.float32), tl.zeros((CP, CP), tl.float32)
    sum_b, sum_a, sum_c = tl.zeros((CP,), tl.float32), tl.zeros((CP,), tl.float32), tl.zeros((CP,), tl.float32)
    for block in range(EACH):
        p = (part * EACH + block) * BLOCK + tl.arange(0, BLOCK)
        inside = (c < C)[:, None] & (p < points)[None, :]
        place = (sample * C + c[:, None]) * points + p[None, :]
        argument = tl.load(before + place, mask=inside, other=0.0)
        e = tl.load(g + place, mask=inside, other=0.0)
        u = activate(argument, KIND)
        opened = tl.sigmoid(tl.dot(B, u, input_precision="tf32x3") + constant)
        by_A = e * opened
        by_B = e * (tl.dot(A, u, input_precision="tf32x3") + a) * opened * (1 - opened)
        seen = tl.trans(u)
        sum_A += tl.dot(by_A, seen, input_precision="tf32x3")
        sum_B += tl.dot(by_B, seen, input_precision="tf32x3")
        sum_a += tl.sum(by_A, axis=1)
        sum_c += tl.sum(by_B, axis=1)
        d = tl.dot(tl.trans(A), by_A, input_precision="tf32x3") + tl.dot(tl.trans(B), by_B, input_precision="tf32x3")
        d *= slope(argument, KIND)
        tl.store(gsum + place, d, mask=inside)
        x = tl.load(v + place, mask=inside, other=0.0)
        sum_w += tl.dot(d, tl.trans(x), input_precision="tf32x3")
        sum_b += tl.sum(d, axis=1)
        tl.store(gv + place, e + tl.dot(weight, d, input_precision="tf32x3"), mask=inside)
    row = (sample * tl.num_programs(1) + part) * C
    own = (c < C)[:, None] & (c < C)[None, :]
    tl.store(gw + (row + c[:, None]) * C + c[None, :], sum_w, mask=own)
    tl.store(ggate + (2 * row + c[:, None]) * C + c[None, :], sum_A, mask=own)
    tl.store(ggate + (2 * row + C + c[:, None]) * C + c[None, :], sum_B, mask=own)
    tl.store(gb + row + c, sum_b, mask=c < C)
    tl.store(ggate_bias + 2 * row + c, sum_a, mask=c < C)
    tl.store(ggate_bias + 2 * row + C + c, sum_c, mask=c < C)


class _Gated(torch.autograd.Function):
    """The last operations of gated layers, for a stack of networks ("runs"). Return y and the argument of act.

    v, s, t: (runs, batch, C, points); s and t may be None.
    w: W, (runs, C, C).
    b: (runs, C).
    gate: the rows of A, then the rows of B, (runs, 2C, C).
    gate_bias: the entries of a, then the entries of c, (runs, 2C).
    kind: name of the activation.
    """

    @staticmethod
    def forward(
        v: Tensor, w: Tensor, b: Tensor, gate: Tensor, gate_bias: Tensor, s: Tensor | None, t: Tensor | None, kind: str
    ) -> tuple[Tensor, Tensor]:
        runs, batch, channels, points = v.shape
        given = [v if x is None else x.contiguous() for x in (v, w, b, gate, gate_bias, s, t)]
        y, before = torch.empty_like(given[0]), torch.empty_like(given[0])
        grid = runs * batch, triton.cdiv(points, BLOCK)
        flags = s is not None, t is not None
        sizes = channels, tile(channels), BLOCK
        _forward[grid](*given, y, before, batch, points, *sizes, *flags, kind, num_warps=WARPS)
        return y, before

    @staticmethod
    def setup_context(ctx: Any, inputs: Any, output: tuple[Tensor, Tensor]) -> None:
        v, w, _, gate, gate_bias, s, t, ctx.kind = inputs
        ctx.given = s is not None, t is not None
        ctx.mark_non_differentiable(output[1])
        ctx.set_materialize_grads(False)  # else torch fills a tensor of zeros for the argument of act
        ctx.save_for_backward(v, w, gate, gate_bias, output[1])

    @staticmethod
    def backward(ctx: Any, g: Tensor, _: Any) -> Any:
        v, w, gate, gate_bias, before = (x.contiguous() for x in ctx.saved_tensors)
        runs, batch, channels, points = v.shape
        count, each = parts(runs * batch, points, BLOCK)
        gv, gsum = torch.empty_like(v), torch.empty_like(v)
        gw, ggate = (v.new_empty(runs, batch * count, *x.shape[1:]) for x in (w, gate))
        gb, ggate_bias = (v.new_empty(runs, batch * count, x.shape[1]) for x in (w, gate))
        _backward[runs * batch, count](
            v, w, gate, gate_bias, before, g.contiguous(), gv, gsum, gw, gb, ggate, ggate_bias, batch, points, each,
            channels, tile(channels), BLOCK, ctx.kind, num_warps=WARPS,
        )  # fmt: skip
        sums = (gsum if given else None for given in ctx.given)
        return gv, gw.sum(1), gb.sum(1), ggate.sum(1), ggate_bias.sum(1), *sums, None

    @staticmethod
    def vmap(info: Any, in_dims: Any, *args: Any) -> tuple[tuple[Tensor, ...], tuple[int, int]]:
        y, before = _Gated.apply(*join_runs(info, in_dims, args))
        return apart(info, y, before), (0, 0)


def update_with_gate(
    v: Tensor, w: Tensor, b: Tensor, gate: Tensor, gate_bias: Tensor, terms: Sequence[Tensor], kind: str
) -> Tensor:
    """Return y, (batch, C, *grid).

    v: (batch, C, *grid).
    w: W, (C, C).
    b: (C,).
    gate: the rows of A, then the rows of B, (2C, C).
    gate_bias: the entries of a, then the entries of c, (2C,).
    terms: s and t: at most two fields in the shape of v.
    kind: name of the activation.
    """
    fields = [term.flatten(2)[None] for term in terms] + [None] * (2 - len(terms))
    y, _ = _Gated.apply(v.flatten(2)[None], w[None], b[None], gate[None], gate_bias[None], *fields, kind)
    return y.squeeze(0).unflatten(2, v.shape[2:])
