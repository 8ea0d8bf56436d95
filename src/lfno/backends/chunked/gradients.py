"""Gradients with respect to the coefficients of a layer: H_τ, the residues, and z and c of every pole.

`lfno.backends.chunked` defines the symbols. In addition, d is the gradient with respect to the argument of the activation, and
Ŵ are the states of the recurrence that runs backwards in time with the input d.
"""

from __future__ import annotations

import triton
import triton.language as tl

from lfno.backends.chunked.products import load_tile, rounded_product, to_steps, zero_steps
from lfno.backends.chunked.response import load_states, mix, store_states


@triton.jit
def lag_gradient(
    v, slopes, sums, points,
    C: tl.constexpr, CP: tl.constexpr, P: tl.constexpr, STEPS: tl.constexpr, Q: tl.constexpr, EACH: tl.constexpr,
):  # fmt: skip
    """Compute Σ d vᵀ over all chunks, summed over pairs of steps with the same distance in time.

    A step has twice as many points as in the other kernels. The tensor cores of a Hopper GPU are fastest for products with 64
    rows.

    slopes: d.
    sums: (…, STEPS, P · CP, P · CP), one matrix for every distance t = late − early between step `late` of d and step `early`
        of v.
    """
    sample, part = tl.program_id(0).to(tl.int64), tl.program_id(1)
    SIZE: tl.constexpr = Q * P * STEPS
    ROWS: tl.constexpr = P * CP
    c, row = tl.arange(0, CP), tl.arange(0, ROWS)
    v += sample * C * points
    slopes += sample * C * points
    total = zero_steps(ROWS, ROWS, STEPS)
    for block in range(EACH):
        first = (part * EACH + block) * SIZE
        x = to_steps(load_tile(v, first, c, points, C, SIZE), P, STEPS)
        d = to_steps(load_tile(slopes, first, c, points, C, SIZE), P, STEPS)
        for late in tl.static_range(STEPS):
            updated = ()
            for t in tl.static_range(STEPS):
                if t <= late:
                    updated = updated + (rounded_product(d[late], tl.trans(x[late - t]), total[t]),)
                else:
                    updated = updated + (total[t],)
            total = updated
    sums += (sample * tl.num_programs(1) + part) * STEPS * ROWS * ROWS
    for t in tl.static_range(STEPS):
        tl.store(sums + (t * ROWS + row[:, None]) * ROWS + row[None, :], total[t])


@triton.jit
def residue_gradient(
    states, back, powers, mixing, mixed, sums, rows, chunks,
    C: tl.constexpr, CP: tl.constexpr, M: tl.constexpr, L: tl.constexpr, SIZE: tl.constexpr, EACH: tl.constexpr,
):  # fmt: skip
    """Compute Σ s ŵ and Σ s Ŵ[n₀+L] over the chunks of all samples of a network, for one pole.

    ŵ = Ŵ[n₀] − conj(q^L) Ŵ[n₀+L] is the gradient with respect to w = R s.

    states: s at the start of each chunk.
    back: Ŵ at the start of each chunk.
    rows: number of chunks of all samples of a network.
    mixed: the kernel writes w here.
    sums: (…, part, M, 8, C, C). The axis of length 8 is (2 sums, real and imaginary part of ŵ or Ŵ, real and imaginary part of
        s). The last two axes are the input and the output channel.
    """
    run, m, part = tl.program_id(0).to(tl.int64), tl.program_id(1), tl.program_id(2)
    c, d, k = tl.arange(0, CP), tl.arange(0, 2 * CP), tl.arange(0, SIZE)
    power = powers + 2 * ((run * M + m) * (L + 1) + L)
    q_re, q_im = tl.load(power), tl.load(power + 1)
    states += (run * rows * M + m) * 2 * C
    back += (run * rows * M + m) * 2 * C
    mixed += (run * rows * M + m) * 2 * C
    mixing += (run * M + m) * 2 * C * C
    by_re, by_im = tl.zeros((2 * CP, CP), tl.float32), tl.zeros((2 * CP, CP), tl.float32)
    to_re, to_im = tl.zeros((2 * CP, CP), tl.float32), tl.zeros((2 * CP, CP), tl.float32)
    for block in range(EACH):
        row = (part * EACH + block) * SIZE + k
        inside = (row < rows)[:, None] & (c < C)[None, :]
        later = inside & (row % chunks < chunks - 1)[:, None]
        here = back + row[:, None] * M * 2 * C + c[None, :]
        w_re, w_im = tl.load(here, mask=inside, other=0.0), tl.load(here + C, mask=inside, other=0.0)
        here += M * 2 * C
        n_re, n_im = tl.load(here, mask=later, other=0.0), tl.load(here + C, mask=later, other=0.0)
        w_re, w_im = w_re - q_re * n_re - q_im * n_im, w_im - q_re * n_im + q_im * n_re
        s = load_states(states, 0, row, rows, d, C, CP, M)
        by_re, by_im = rounded_product(s, w_re, by_re), rounded_product(s, w_im, by_im)
        to_re, to_im = rounded_product(s, n_re, to_re), rounded_product(s, n_im, to_im)
        w_re, w_im = mix(mixing, c, d, s, C, CP, False)
        store_states(mixed, 0, row, rows, c, w_re, w_im, C, M)
    sums += ((run * tl.num_programs(2) + part) * M + m) * 8 * C * C
    place = sums + (d // CP * C + d % CP)[:, None] * C + c[None, :]
    own = (d % CP < C)[:, None] & (c < C)[None, :]
    tl.store(place, by_re, mask=own)
    tl.store(place + 2 * C * C, by_im, mask=own)
    tl.store(place + 4 * C * C, to_re, mask=own)
    tl.store(place + 6 * C * C, to_im, mask=own)


@triton.jit
def point_gradient(
    slopes, mixed, v, mixed_back, sums, points, chunks,
    C: tl.constexpr, CP: tl.constexpr, M: tl.constexpr, MP: tl.constexpr, L: tl.constexpr, LP: tl.constexpr,
    Q: tl.constexpr, EACH: tl.constexpr,
):  # fmt: skip
    """Compute Σ x[n₀+j] s over channels and chunks, for every point j of a chunk and every pole. There are two sums:

    with x = d and s = w, the gradient with respect to q^j in the response;
    with x = v and s = ŝ = conj(R) Ŵ, the gradient with respect to c q^{L−1−j}.

    slopes, mixed: d and w.
    mixed_back: ŝ.
    sums: (…, 2, L, M, 2).
    """
    sample, part, second = tl.program_id(0).to(tl.int64), tl.program_id(1), tl.program_id(2)
    if second == 0:
        field, states = slopes, mixed
    else:
        field, states = v, mixed_back
    j, k, pole = tl.arange(0, LP), tl.arange(0, Q * CP), tl.arange(0, MP)
    c, ahead = k % CP, k // CP
    field += sample * C * points
    states += sample * chunks * M * 2 * C
    total = tl.zeros((LP, MP), tl.float32)
    for block in range(EACH):
        chunk = (part * EACH + block) * Q + ahead
        n = chunk[None, :] * L + j[:, None]
        inside = (c < C)[None, :] & (j < L)[:, None] & (n < points)
        x = tl.load(field + c[None, :] * points + n, mask=inside, other=0.0)
        place = states + (chunk * M * 2 * C + c)[:, None] + pole[None, :] * C
        s = tl.load(place, mask=((c < C) & (chunk < chunks))[:, None] & (pole < 2 * M)[None, :], other=0.0)
        total = rounded_product(x, s, total)
    sums += ((sample * tl.num_programs(1) + part) * 2 + second) * L * M * 2
    tl.store(sums + j[:, None] * M * 2 + pole[None, :], total, mask=(j < L)[:, None] & (pole < 2 * M)[None, :])
