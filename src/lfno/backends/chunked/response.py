"""The response of a layer, and the gradient with respect to its input. The gradient is the same computation backwards in time.

`lfno.backends.chunked` defines the symbols. Ŵ are the states of the recurrence that runs backwards in time. REVERSE is True in
the computation of the gradient.
"""

from __future__ import annotations

import triton
import triton.language as tl

from lfno.backends.chunked.products import from_steps, load_tile, product, product_of, store_tile, to_steps, zero_steps


@triton.jit
def mix(residues, c, d, states, C: tl.constexpr, CP: tl.constexpr, REVERSE: tl.constexpr):
    """Return w_o = Σ_i R_io s_i of one pole. With REVERSE, return ŝ_i = Σ_o conj(R_io) Ŵ_o.

    residues: R, (2, in, out).
    states: s or Ŵ, (2 CP, Q): rows of real parts, then rows of imaginary parts.

    The result is two matrices (CP, Q): real parts and imaginary parts.
    """
    part, other = d[None, :] // CP, d[None, :] % CP
    inside = (c < C)[:, None] & (other < C)
    pair = (c[:, None] * C + other) if REVERSE else (other * C + c[:, None])
    direct = tl.load(residues + part * C * C + pair, mask=inside, other=0.0)
    crossed = tl.load(residues + (1 - part) * C * C + pair, mask=inside, other=0.0)
    if REVERSE:
        return product_of(direct, states), product_of(tl.where(part == 0, -crossed, crossed), states)
    else:
        return product_of(tl.where(part == 0, direct, -direct), states), product_of(crossed, states)


@triton.jit
def load_states(states, m, chunk, chunks, d, C: tl.constexpr, CP: tl.constexpr, M: tl.constexpr):
    """Load the states of pole m at some chunks of one sample, (2 CP, Q): rows of real parts, then rows of imaginary parts."""
    place = (chunk[None, :] * M + m) * 2 * C + (d // CP * C + d % CP)[:, None]
    return tl.load(states + place, mask=(d % CP < C)[:, None] & (chunk < chunks)[None, :], other=0.0)


@triton.jit
def store_states(states, m, chunk, chunks, c, re, im, C: tl.constexpr, M: tl.constexpr):
    """Store the states of pole m at some chunks of one sample, from real and imaginary parts (CP, Q)."""
    place = states + (chunk[None, :] * M + m) * 2 * C + c[:, None]
    inside = (c < C)[:, None] & (chunk < chunks)[None, :]
    tl.store(place, re, mask=inside)
    tl.store(place + C, im, mask=inside)


@triton.jit
def _inside_chunks(steps, total, response, r, C: tl.constexpr, CP: tl.constexpr, P: tl.constexpr, REVERSE: tl.constexpr):
    """Return total[n] + Σ_{τ ≥ 0} H_τ x[n−τ], where the sum runs over points of the same chunk.

    With REVERSE, return total[n] + Σ_{τ ≥ 0} H_τᵀ x[n+τ].

    steps: x as a tuple of steps.
    response: H.
    """
    STEPS: tl.constexpr = len(steps)
    row, column = r[:, None], r[None, :]
    late, early = (column, row) if REVERSE else (row, column)
    inside = (row % CP < C) & (column % CP < C)
    for t in tl.static_range(STEPS):
        lag = t * P + late // CP - early // CP
        place = (lag * C + late % CP) * C + early % CP
        matrix = tl.load(response + place, mask=inside & (lag >= 0), other=0.0)
        updated = ()
        for b in tl.static_range(STEPS):
            if REVERSE:
                if b + t < STEPS:
                    updated = updated + (product(matrix, steps[b + t], total[b]),)
                else:
                    updated = updated + (total[b],)
            else:
                if b >= t:
                    updated = updated + (product(matrix, steps[b - t], total[b]),)
                else:
                    updated = updated + (total[b],)
        total = updated
    return total


@triton.jit
def _from_states(
    total, states, mixed, powers, constants, mixing, chunk, chunks, c, d,
    C: tl.constexpr, CP: tl.constexpr, M: tl.constexpr, P: tl.constexpr, L: tl.constexpr, CONSTANTS: tl.constexpr,
    REVERSE: tl.constexpr,
):  # fmt: skip
    """Return `total` plus Re Σ_m q^j w_m, the response to the state at the start of each chunk.

    With REVERSE, return `total` plus Re Σ_m conj(c q^{L−1−k}) ŝ_m, where ŝ_m belongs to the start of the next chunk. The
    function also writes ŝ_m to `mixed`.
    """
    STEPS: tl.constexpr = len(total)
    for m in range(M):
        s = load_states(states, m, chunk + 1 if REVERSE else chunk, chunks, d, C, CP, M)
        w_re, w_im = mix(mixing + m * 2 * C * C, c, d, s, C, CP, REVERSE)
        table = powers + m * 2 * (L + 1)
        if REVERSE:
            store_states(mixed, m, chunk, chunks, c, w_re, w_im, C, M)
            # we conjugate ŝ once, so that no coefficient below needs a conjugation
            w_im = -w_im
            c_re, c_im = tl.load(constants + m * CONSTANTS), tl.load(constants + m * CONSTANTS + 1)
            w_re, w_im = c_re * w_re - c_im * w_im, c_re * w_im + c_im * w_re
        if P == 2:
            q_re, q_im = tl.load(table + 2), tl.load(table + 3)
            next_re, next_im = q_re * w_re - q_im * w_im, q_re * w_im + q_im * w_re
            if REVERSE:
                w_re, w_im = _above(next_re, w_re), _above(next_im, w_im)
            else:
                w_re, w_im = _above(w_re, next_re), _above(w_im, next_im)
        updated = ()
        for b in tl.static_range(STEPS):
            power = table + 2 * P * ((STEPS - 1 - b) if REVERSE else b)
            updated = updated + (total[b] + tl.load(power) * w_re - tl.load(power + 1) * w_im,)
        total = updated
    return total


@triton.jit
def _above(x, y):
    """Return a matrix with the rows of x, then the rows of y."""
    return tl.reshape(tl.permute(tl.join(x, y), (2, 0, 1)), (2 * x.shape[0], x.shape[1]))


@triton.jit
def answer(
    v, states, powers, constants, mixing, response, bias, term, before, batch, points, chunks, tiles,
    C: tl.constexpr, CP: tl.constexpr, M: tl.constexpr, P: tl.constexpr, STEPS: tl.constexpr, Q: tl.constexpr,
    CONSTANTS: tl.constexpr, HAS_TERM: tl.constexpr,
):  # fmt: skip
    """Compute `before`, the argument of the activation. One program handles one tile of Q chunks of one sample."""
    sample, tile = (tl.program_id(0) // tiles).to(tl.int64), tl.program_id(0) % tiles
    run = sample // batch
    L: tl.constexpr = P * STEPS
    SIZE: tl.constexpr = Q * L
    c, r, d = tl.arange(0, CP), tl.arange(0, P * CP), tl.arange(0, 2 * CP)
    whole, first = sample * C * points, tile * SIZE
    if HAS_TERM:
        total = to_steps(load_tile(term + whole, first, c, points, C, SIZE), P, STEPS)
    else:
        total = zero_steps(P * CP, Q, STEPS)
    total = _from_states(
        total, states + sample * chunks * M * 2 * C, states, powers + run * M * 2 * (L + 1),
        constants + run * M * CONSTANTS, mixing + run * M * 2 * C * C, tile * Q + tl.arange(0, Q), chunks, c, d,
        C, CP, M, P, L, CONSTANTS, False,
    )  # fmt: skip
    # the products inside chunks come last, because the tiles of v take many registers
    steps = to_steps(load_tile(v + whole, first, c, points, C, SIZE), P, STEPS)
    total = _inside_chunks(steps, total, response + run * L * C * C, r, C, CP, P, False)
    constant = tl.load(bias + run * C + c, mask=c < C, other=0.0)[:, None]
    store_tile(before + whole, first, c, points, from_steps(total, P) + constant, C, SIZE)


@triton.jit
def input_gradient(
    slopes, back, mixed, powers, constants, mixing, response, outer, gfirst, gv, batch, points, chunks, tiles,
    C: tl.constexpr, CP: tl.constexpr, M: tl.constexpr, P: tl.constexpr, STEPS: tl.constexpr, Q: tl.constexpr,
    CONSTANTS: tl.constexpr, SKIP: tl.constexpr,
):  # fmt: skip
    """Compute gv, the gradient with respect to v.

    slopes: the gradient with respect to the argument of the activation.
    back: Ŵ at the start of each chunk.
    outer: the gradient with respect to the output of the layer. A skip connection adds it to gv.
    gfirst: the gradient with respect to v[0] through the initial state.
    """
    sample, tile = (tl.program_id(0) // tiles).to(tl.int64), tl.program_id(0) % tiles
    run = sample // batch
    L: tl.constexpr = P * STEPS
    SIZE: tl.constexpr = Q * L
    c, r, d = tl.arange(0, CP), tl.arange(0, P * CP), tl.arange(0, 2 * CP)
    whole, first = sample * C * points, tile * SIZE
    steps = to_steps(load_tile(slopes + whole, first, c, points, C, SIZE), P, STEPS)
    total = _inside_chunks(steps, zero_steps(P * CP, Q, STEPS), response + run * L * C * C, r, C, CP, P, True)
    total = _from_states(
        total, back + sample * chunks * M * 2 * C, mixed + sample * chunks * M * 2 * C, powers + run * M * 2 * (L + 1),
        constants + run * M * CONSTANTS, mixing + run * M * 2 * C * C, tile * Q + tl.arange(0, Q), chunks, c, d,
        C, CP, M, P, L, CONSTANTS, True,
    )  # fmt: skip
    result = from_steps(total, P)
    if SKIP:
        result += load_tile(outer + whole, first, c, points, C, SIZE)
    start = tl.load(gfirst + sample * C + c, mask=(c < C) & (tile == 0), other=0.0)
    result += tl.where((tl.arange(0, SIZE) == 0)[None, :], start[:, None], 0.0)
    store_tile(gv + whole, first, c, points, result, C, SIZE)
