"""States at the starts of chunks, computed one after the other. `lfno.backends.chunked` defines the symbols."""

from __future__ import annotations

import triton
import triton.language as tl

from lfno.backends.chunked.products import product_of


@triton.jit
def chunk_states(
    field, powers, constants, mixing, first, states, gfirst, gstart, batch, points, chunks,
    C: tl.constexpr, CP: tl.constexpr, M: tl.constexpr, MP: tl.constexpr, L: tl.constexpr, LP: tl.constexpr,
    CONSTANTS: tl.constexpr, ROUNDS: tl.constexpr, UNROLL: tl.constexpr, REVERSE: tl.constexpr,
):  # fmt: skip
    """Compute the states at the start of each chunk. One program handles one sample.

    Without REVERSE, the states are s. With REVERSE, the states are Ŵ[n₀] = Σ_j conj(q^j) d[n₀+j] + conj(q^L) Ŵ[n₀+L], where d
    is the gradient with respect to the response. The product of Ŵ with conj(R) is the gradient with respect to s.

    field: v, or d with REVERSE.
    first: v.
    states: the kernel writes the states here, (sample, chunk, M, 2, C).
    gfirst, gstart: with REVERSE, the gradients with respect to v[0] and b₀ through s[0] = −b₀ v[0].
    """
    sample = tl.program_id(0).to(tl.int64)
    run = sample // batch
    field += sample * C * points
    states += sample * chunks * M * 2 * C
    m, c, k = tl.arange(0, MP), tl.arange(0, CP), tl.arange(0, LP)
    pole = run * M + m
    known = m < M
    sums = known[:, None] & (k < L)[None, :]
    power = (k if REVERSE else L - 1 - k)[None, :]
    place = powers + 2 * (pole[:, None] * (L + 1) + power)
    sum_re, sum_im = tl.load(place, mask=sums, other=0.0), tl.load(place + 1, mask=sums, other=0.0)
    place = powers + 2 * (pole * (L + 1) + L)
    q_re, q_im = tl.load(place, mask=known, other=0.0)[:, None], tl.load(place + 1, mask=known, other=0.0)[:, None]
    place = constants + pole * CONSTANTS
    b_re, b_im = tl.load(place + 2, mask=known, other=0.0)[:, None], tl.load(place + 3, mask=known, other=0.0)[:, None]
    if REVERSE:
        sum_im, q_im = -sum_im, -q_im
        s_re, s_im = tl.zeros((MP, CP), tl.float32), tl.zeros((MP, CP), tl.float32)
    else:
        c_re, c_im = tl.load(place, mask=known, other=0.0)[:, None], tl.load(place + 1, mask=known, other=0.0)[:, None]
        sum_re, sum_im = c_re * sum_re - c_im * sum_im, c_re * sum_im + c_im * sum_re
        start = tl.load(field + c * points, mask=c < C, other=0.0)[None, :]
        s_re, s_im = -b_re * start, -b_im * start
    to = m[:, None] * 2 * C + c[None, :]
    for round in range(ROUNDS):
        for u in tl.static_range(UNROLL):
            chunk = round * UNROLL + u
            if REVERSE:
                chunk = ROUNDS * UNROLL - 1 - chunk
            n = chunk * L + k
            inside = ((k < L) & (n < points))[:, None] & (c < C)[None, :]
            x = tl.load(field + c[None, :] * points + n[:, None], mask=inside, other=0.0)
            local_re, local_im = product_of(sum_re, x), product_of(sum_im, x)
            next_re, next_im = local_re + q_re * s_re - q_im * s_im, local_im + q_re * s_im + q_im * s_re
            if REVERSE:
                s_re, s_im = next_re, next_im
            here = states + chunk * M * 2 * C + to
            written = known[:, None] & (c < C)[None, :] & (chunk < chunks)
            tl.store(here, s_re, mask=written)
            tl.store(here + C, s_im, mask=written)
            s_re, s_im = next_re, next_im
    if REVERSE:
        gb_re, gb_im = tl.zeros((MP,), tl.float32), tl.zeros((MP,), tl.float32)
        inside = known[:, None] & (c < C)[None, :]
        for i in range(C):
            # the gradient with respect to s[0] in input channel i is Σ_o conj(R_io) Ŵ_o[0]
            row = mixing + (pole[:, None] * 2 * C + i) * C + c[None, :]
            r_re, r_im = tl.load(row, mask=inside, other=0.0), tl.load(row + C * C, mask=inside, other=0.0)
            by_re = tl.sum(r_re * s_re + r_im * s_im, axis=1)
            by_im = tl.sum(r_re * s_im - r_im * s_re, axis=1)
            value = tl.load(first + (sample * C + i) * points)
            gb_re -= value * by_re
            gb_im -= value * by_im
            to_first = tl.sum(tl.sum(b_re * by_re[:, None] + b_im * by_im[:, None], axis=1), axis=0)
            tl.store(gfirst + sample * C + i, -to_first)
        tl.store(gstart + 2 * (sample * M + m), gb_re, mask=known)
        tl.store(gstart + 2 * (sample * M + m) + 1, gb_im, mask=known)
