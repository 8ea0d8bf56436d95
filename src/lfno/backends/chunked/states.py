"""States at the starts of chunks. `lfno.backends.chunked` defines the symbols.

The states follow one after the other. To save time, a program computes several groups of chunks of a sample side by side, in
two passes. In the first pass, every group starts from a zero state. The states at the ends of the groups then give the true
states at their starts. In the second pass, every group starts from its true state.
"""

from __future__ import annotations

import triton
import triton.language as tl

from lfno.backends.chunked.products import product_of


@triton.jit
def chunk_states(
    field, powers, constants, mixing, first, ends, states, gfirst, gstart, batch, points, chunks,
    C: tl.constexpr, CP: tl.constexpr, M: tl.constexpr, MP: tl.constexpr, L: tl.constexpr, LP: tl.constexpr,
    CONSTANTS: tl.constexpr, GROUPS: tl.constexpr, ROUNDS: tl.constexpr, UNROLL: tl.constexpr, REVERSE: tl.constexpr,
):  # fmt: skip
    """Compute the states at the start of each chunk. One program handles GROUPS groups of ROUNDS · UNROLL chunks of one sample.

    Without REVERSE, the states are s. With REVERSE, the states are Ŵ[n₀] = Σ_j conj(q^j) d[n₀+j] + conj(q^L) Ŵ[n₀+L], where d
    is the gradient with respect to the response. The product of Ŵ with conj(R) is the gradient with respect to s.

    field: v, or d with REVERSE.
    first: v.
    ends: memory for the states at the ends of groups, (sample, group, M, 2, C). With REVERSE, group 0 is the last in time.
    states: the kernel writes the states here, (sample, chunk, M, 2, C).
    gfirst, gstart: with REVERSE, the gradients with respect to v[0] and b₀ through s[0] = −b₀ v[0].
    """
    sample = tl.program_id(0).to(tl.int64)
    run = sample // batch
    field += sample * C * points
    states += sample * chunks * M * 2 * C
    ends += sample * GROUPS * M * 2 * C
    m, k, column = tl.arange(0, MP), tl.arange(0, LP), tl.arange(0, GROUPS * CP)
    c, group = column % CP, column // CP
    pole = run * M + m
    known = m < M
    own = known[:, None] & (c < C)[None, :]
    to = m[:, None] * 2 * C + c[None, :]
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
        s_re, s_im = tl.zeros((MP, GROUPS * CP), tl.float32), tl.zeros((MP, GROUPS * CP), tl.float32)
    else:
        c_re, c_im = tl.load(place, mask=known, other=0.0)[:, None], tl.load(place + 1, mask=known, other=0.0)[:, None]
        sum_re, sum_im = c_re * sum_re - c_im * sum_im, c_re * sum_im + c_im * sum_re
        start = tl.load(field + c * points, mask=(c < C) & (group == 0), other=0.0)[None, :]
        s_re, s_im = -b_re * start, -b_im * start
    # real parts and imaginary parts in one matrix, because a product needs at least 16 rows
    both = tl.reshape(tl.permute(tl.join(sum_re, sum_im), (2, 0, 1)), (2 * MP, LP))
    for second in tl.static_range(0 if GROUPS > 1 else 1, 2):
        for round in range(ROUNDS):
            for u in tl.static_range(UNROLL):
                chunk = (group * ROUNDS + round) * UNROLL + u
                if REVERSE:
                    chunk = GROUPS * ROUNDS * UNROLL - 1 - chunk
                n = chunk[None, :] * L + k[:, None]
                inside = (k < L)[:, None] & (c < C)[None, :] & (n < points)
                x = tl.load(field + c[None, :] * points + n, mask=inside, other=0.0)
                local_re, local_im = tl.split(tl.permute(tl.reshape(product_of(both, x), (2, MP, GROUPS * CP)), (1, 2, 0)))
                next_re, next_im = local_re + q_re * s_re - q_im * s_im, local_im + q_re * s_im + q_im * s_re
                if REVERSE:
                    s_re, s_im = next_re, next_im
                if second:
                    here, inside = states + chunk[None, :] * M * 2 * C + to, own & (chunk < chunks)[None, :]
                    tl.store(here, s_re, mask=inside)
                    tl.store(here + C, s_im, mask=inside)
                s_re, s_im = next_re, next_im
        if not second:
            end = ends + group[None, :] * M * 2 * C + to
            tl.store(end, s_re, mask=own)
            tl.store(end + C, s_im, mask=own)
            tl.debug_barrier()
            # q^n for the n points of a group, by repeated squaring
            p_re, p_im, n_re, n_im = q_re, q_im, q_re * 0 + 1, q_im * 0
            for bit in tl.static_range(20):
                if (ROUNDS * UNROLL >> bit) % 2 == 1:
                    n_re, n_im = n_re * p_re - n_im * p_im, n_re * p_im + n_im * p_re
                if ROUNDS * UNROLL >> bit > 1:
                    p_re, p_im = p_re * p_re - p_im * p_im, 2 * p_re * p_im
            # the state at the start of a group is the state at the end of the group before
            s_re, s_im = tl.zeros((MP, GROUPS * CP), tl.float32), tl.zeros((MP, GROUPS * CP), tl.float32)
            if not REVERSE:
                s_re, s_im = s_re - b_re * start, s_im - b_im * start
            for before in tl.static_range(GROUPS - 1):
                end, inside = ends + before * M * 2 * C + to, own & (group > before)[None, :]
                end_re, end_im = tl.load(end, mask=inside, other=0.0), tl.load(end + C, mask=inside, other=0.0)
                next_re, next_im = end_re + n_re * s_re - n_im * s_im, end_im + n_re * s_im + n_im * s_re
                s_re, s_im = tl.where(inside, next_re, s_re), tl.where(inside, next_im, s_im)
    if REVERSE:
        # the gradient with respect to s[0] in input channel i is Σ_o conj(R_io) Ŵ_o[0]
        tl.debug_barrier()  # another thread may have stored Ŵ[0]
        i, o = tl.arange(0, CP), tl.arange(0, CP)
        place, inside = states + m[:, None] * 2 * C + o[None, :], known[:, None] & (o < C)[None, :]
        s_re, s_im = tl.load(place, mask=inside, other=0.0), tl.load(place + C, mask=inside, other=0.0)
        place = mixing + (pole[:, None, None] * 2 * C + i[None, :, None]) * C + o[None, None, :]
        inside = inside[:, None, :] & (i < C)[None, :, None]
        r_re, r_im = tl.load(place, mask=inside, other=0.0), tl.load(place + C * C, mask=inside, other=0.0)
        by_re = tl.sum(r_re * s_re[:, None, :] + r_im * s_im[:, None, :], axis=2)
        by_im = tl.sum(r_re * s_im[:, None, :] - r_im * s_re[:, None, :], axis=2)
        tl.store(gfirst + sample * C + i, -tl.sum(b_re * by_re + b_im * by_im, axis=0), mask=i < C)
        start = tl.load(first + (sample * C + i) * points, mask=i < C, other=0.0)[None, :]
        tl.store(gstart + 2 * (sample * M + m), -tl.sum(start * by_re, axis=1), mask=known)
        tl.store(gstart + 2 * (sample * M + m) + 1, -tl.sum(start * by_im, axis=1), mask=known)
