"""Activation, gate and skip connection, which act on each point alone, and their gradients.

The output of a layer is y = v + (A u + a) sigmoid(B u + b) with u = act(argument). Without a gate, y = v + u.
"""

from __future__ import annotations

import triton
import triton.language as tl

from lfno.backends.activations import activate, activate_with_slope, once
from lfno.backends.chunked.products import load_tile, product, product_of, rounded_product, store_tile


@triton.jit
def _square(w, c, C: tl.constexpr):
    """Load a C × C matrix, padded with zeros."""
    return tl.load(w + c[:, None] * C + c[None, :], mask=(c < C)[:, None] & (c < C)[None, :], other=0.0)


@triton.jit
def _gate(gate, gate_bias, run, c, C: tl.constexpr):
    """Return the matrices A and B of one network, and the biases a and b as columns."""
    A, B = _square(gate + 2 * run * C * C, c, C), _square(gate + (2 * run + 1) * C * C, c, C)
    a = tl.load(gate_bias + 2 * run * C + c, mask=c < C, other=0.0)[:, None]
    b = tl.load(gate_bias + (2 * run + 1) * C + c, mask=c < C, other=0.0)[:, None]
    return A, B, a, b


@triton.jit
def pointwise_answer(
    before, v, gate, gate_bias, y, batch, points,
    C: tl.constexpr, CP: tl.constexpr, SIZE: tl.constexpr, HAS_GATE: tl.constexpr, SKIP: tl.constexpr, KIND: tl.constexpr,
):  # fmt: skip
    """Compute y from `before`, the argument of the activation. One program handles SIZE points of one sample."""
    sample, first = tl.program_id(0).to(tl.int64), tl.program_id(1) * SIZE
    whole = sample * C * points
    c = tl.arange(0, CP)
    u = activate(load_tile(before + whole, first, c, points, C, SIZE), KIND)
    if HAS_GATE:
        A, B, a, b = _gate(gate, gate_bias, sample // batch, c, C)
        u = (product_of(A, u) + a) * tl.sigmoid(product_of(B, u) + b)
    if SKIP:
        u += load_tile(v + whole, first, c, points, C, SIZE)
    store_tile(y + whole, first, c, points, u, C, SIZE)


@triton.jit
def pointwise_gradient(
    before, gate, gate_bias, g, slopes, sums, batch, points,
    C: tl.constexpr, CP: tl.constexpr, SIZE: tl.constexpr, EACH: tl.constexpr, HAS_GATE: tl.constexpr, KIND: tl.constexpr,
):  # fmt: skip
    """Compute the gradients through the gate and the activation. One program handles EACH · SIZE points of one sample.

    before: the argument of the activation.
    g: the gradient with respect to y.
    slopes: the kernel writes the gradient with respect to `before` here.
    sums: the kernel writes the gradients with respect to parameters here, in this order: bias of the layer (C), A and B
        (2 C, C), a and b (2 C). Each program writes its own part of the sum.
    """
    sample, part = tl.program_id(0).to(tl.int64), tl.program_id(1)
    run = sample // batch
    whole = sample * C * points
    c = tl.arange(0, CP)
    sum_bias = tl.zeros((CP,), tl.float32)
    if HAS_GATE:
        A, B, a, b = _gate(gate, gate_bias, run, c, C)
        sum_A, sum_B = tl.zeros((CP, CP), tl.float32), tl.zeros((CP, CP), tl.float32)
        sum_a, sum_b = tl.zeros((CP,), tl.float32), tl.zeros((CP,), tl.float32)
    for block in range(EACH):
        first = (part * EACH + block) * SIZE
        argument = load_tile(before + whole, first, c, points, C, SIZE)
        d = load_tile(g + whole, first, c, points, C, SIZE)
        u, rise = activate_with_slope(argument, KIND)
        if HAS_GATE:
            u, rise = once(u), once(rise)
            opened = tl.sigmoid(product_of(B, u) + b)
            by_A = d * opened
            by_B = d * (product_of(A, u) + a) * opened * (1 - opened)
            seen = tl.trans(u)
            sum_A = rounded_product(by_A, seen, sum_A)
            sum_B = rounded_product(by_B, seen, sum_B)
            sum_a += tl.sum(by_A, axis=1)
            sum_b += tl.sum(by_B, axis=1)
            d = product(tl.trans(B), by_B, product_of(tl.trans(A), by_A))
        d *= rise
        sum_bias += tl.sum(d, axis=1)
        store_tile(slopes + whole, first, c, points, d, C, SIZE)
    sums += (sample * tl.num_programs(1) + part) * (C + (2 * C * C + 2 * C if HAS_GATE else 0))
    tl.store(sums + c, sum_bias, mask=c < C)
    if HAS_GATE:
        place = sums + C + c[:, None] * C + c[None, :]
        own = (c < C)[:, None] & (c < C)[None, :]
        tl.store(place, sum_A, mask=own)
        tl.store(place + C * C, sum_B, mask=own)
        tl.store(sums + C + 2 * C * C + c, sum_a, mask=c < C)
        tl.store(sums + 2 * C + 2 * C * C + c, sum_b, mask=c < C)
