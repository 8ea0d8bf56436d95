"""The coefficients of a layer's recurrence from its poles and residues, and gradients with respect to poles and residues.

A pole μ with the input v has the state x[n+1] = q x[n] + b₀ v[n+1] + b₁ v[n] (`lfno.spectral.hold`), where v is linear between
samples. W is the channel map of the layer, R are the residues, H_τ is the response to the input τ points before. Let z = μ dt,
q = e^z, φ₁ = (e^z − 1)/z, φ₂ = (φ₁ − 1)/z and φ₃ = (φ₂ − ½)/z. Then

    b₀ = dt φ₂,   c = b₁ + q b₀ = dt φ₁²,   H_0 = W + Re Σ_m R_m b₀,   H_τ = Re Σ_m R_m c q^{τ−1}.

The state s = x − b₀ v follows s[n+1] = q s[n] + c v[n] from s[0] = −b₀ v[0]. All coefficients are computed in double precision.
"""

from __future__ import annotations

from typing import NamedTuple

import torch
import triton
import triton.language as tl
from torch import Tensor

#: number of stored values for each pole: c, b₀ and their derivatives with respect to z, each as real and imaginary part
CONSTANTS = 8
#: pairs of channels in a tile of `_gradient`, or samples
PAIRS = 256
#: pairs of channels in a tile of `_prepare`
FEW_PAIRS = 32


@triton.jit
def _times(a_re, a_im, b_re, b_im):
    """Return the real and the imaginary part of a complex product a b."""
    return a_re * b_re - a_im * b_im, a_re * b_im + a_im * b_re


@triton.jit
def _phi(z_re, z_im, q_re, q_im):
    """Return φ₁, φ₂ and φ₃ of z, where q = e^z. For |z| < 1 we use Taylor series, because the definitions lose digits there."""
    near = z_re * z_re + z_im * z_im < 1
    t_re, t_im = tl.where(near, z_re, 0.0), tl.where(near, z_im, 0.0)
    # Horner's rule for φ₃ = Σ z^k / (k + 3)!
    s_re, s_im = t_re * 0 + 1.0, t_im * 0
    for k in tl.static_range(18, 0, -1):
        s_re, s_im = (s_re * t_re - s_im * t_im) * (1 / (k + 3)) + 1, (s_re * t_im + s_im * t_re) * (1 / (k + 3))
    s_re, s_im = s_re / 6, s_im / 6
    far = tl.where(near, 1.0, z_re * z_re + z_im * z_im)
    i_re, i_im = z_re / far, -z_im / far
    one_re, one_im = _times(q_re - 1, q_im, i_re, i_im)
    two_re, two_im = _times(one_re - 1, one_im, i_re, i_im)
    three_re, three_im = _times(two_re - 0.5, two_im, i_re, i_im)
    three_re, three_im = tl.where(near, s_re, three_re), tl.where(near, s_im, three_im)
    n_re, n_im = _times(three_re, three_im, t_re, t_im)
    two_re, two_im = tl.where(near, 0.5 + n_re, two_re), tl.where(near, n_im, two_im)
    n_re, n_im = _times(two_re, two_im, t_re, t_im)
    one_re, one_im = tl.where(near, 1 + n_re, one_re), tl.where(near, n_im, one_im)
    return one_re, one_im, two_re, two_im, three_re, three_im


@triton.jit
def _prepare(
    poles, residues, weight, powers, constants, mixing, response, dt_high, dt_low,
    C: tl.constexpr, M: tl.constexpr, MP: tl.constexpr, L: tl.constexpr, PAIRS: tl.constexpr, CONSTANTS: tl.constexpr,
):  # fmt: skip
    """Compute the arrays of `Tables`. One program handles one network and PAIRS pairs of channels.

    The first program of each network also writes the values that do not depend on channels.
    dt is dt_high + dt_low, because Triton passes numbers in single precision.
    """
    run, part = tl.program_id(0).to(tl.int64), tl.program_id(1)
    m = tl.arange(0, MP)
    known = m < M
    pole = run * M + m
    dt = tl.zeros((MP,), tl.float64) + dt_high + dt_low
    z_re = tl.load(poles + 2 * pole, mask=known, other=-1.0).to(tl.float64) * dt
    z_im = tl.load(poles + 2 * pole + 1, mask=known, other=0.0).to(tl.float64) * dt
    size = tl.exp(z_re)
    q_re, q_im = size * tl.cos(z_im), size * tl.sin(z_im)
    one_re, one_im, two_re, two_im, three_re, three_im = _phi(z_re, z_im, q_re, q_im)
    c_re, c_im = _times(one_re, one_im, one_re, one_im)
    c_re, c_im = dt * c_re, dt * c_im
    b_re, b_im = dt * two_re, dt * two_im
    first = known & (part == 0)
    # dφ₁/dz = φ₁ − φ₂ and dφ₂/dz = φ₂ − 2 φ₃
    slope_re, slope_im = _times(one_re, one_im, one_re - two_re, one_im - two_im)
    to = constants + pole * CONSTANTS
    tl.store(to, c_re.to(tl.float32), mask=first)
    tl.store(to + 1, c_im.to(tl.float32), mask=first)
    tl.store(to + 2, b_re.to(tl.float32), mask=first)
    tl.store(to + 3, b_im.to(tl.float32), mask=first)
    tl.store(to + 4, (2 * dt * slope_re).to(tl.float32), mask=first)
    tl.store(to + 5, (2 * dt * slope_im).to(tl.float32), mask=first)
    tl.store(to + 6, (dt * (two_re - 2 * three_re)).to(tl.float32), mask=first)
    tl.store(to + 7, (dt * (two_im - 2 * three_im)).to(tl.float32), mask=first)
    pair = part * PAIRS + tl.arange(0, PAIRS)  # input channel · C + output channel
    inside = (pair < C * C)[:, None] & known[None, :]
    residue = residues + 2 * ((run * C * C + pair[:, None]) * M + m[None, :])
    r_re, r_im = tl.load(residue, mask=inside, other=0.0), tl.load(residue + 1, mask=inside, other=0.0)
    copy = mixing + pole[None, :] * 2 * C * C + pair[:, None]
    tl.store(copy, r_re, mask=inside)
    tl.store(copy + C * C, r_im, mask=inside)
    turned = pair % C * C + pair // C
    total = tl.load(weight + run * C * C + turned, mask=pair < C * C, other=0.0)
    h_re, h_im = b_re, b_im
    p_re, p_im = tl.zeros((MP,), tl.float64) + 1, tl.zeros((MP,), tl.float64)
    for lag in range(L):
        tl.store(powers + 2 * (pole * (L + 1) + lag), p_re.to(tl.float32), mask=first)
        tl.store(powers + 2 * (pole * (L + 1) + lag) + 1, p_im.to(tl.float32), mask=first)
        total += tl.sum(r_re * h_re.to(tl.float32)[None, :] - r_im * h_im.to(tl.float32)[None, :], axis=1)
        tl.store(response + (run * L + lag) * C * C + turned, total, mask=pair < C * C)
        total = tl.zeros((PAIRS,), tl.float32)
        h_re, h_im = c_re * p_re - c_im * p_im, c_re * p_im + c_im * p_re
        p_re, p_im = q_re * p_re - q_im * p_im, q_re * p_im + q_im * p_re
    tl.store(powers + 2 * (pole * (L + 1) + L), p_re.to(tl.float32), mask=first)
    tl.store(powers + 2 * (pole * (L + 1) + L) + 1, p_im.to(tl.float32), mask=first)


@triton.jit
def _gradient(
    lags, mixed, at_points, starts, powers, constants, mixing, gpoles, gresidues, gweight, dt,
    BATCH: tl.constexpr, C: tl.constexpr, M: tl.constexpr, L: tl.constexpr, LP: tl.constexpr, P: tl.constexpr,
    ROWS: tl.constexpr, PAIRS: tl.constexpr, CONSTANTS: tl.constexpr,
):  # fmt: skip
    """Compute the gradients with respect to poles, residues and W. One program handles one network and one pole.

    The arguments are sums that the kernels of `lfno.backends.chunked.gradients` have computed:

    lags: sums of `lag_gradient`, (network, step, ROWS, ROWS).
    mixed: sums of `residue_gradient`, (network, pole, 8, C, C).
    at_points: sums of `point_gradient`, (network, 2, L, pole, 2).
    starts: the gradient with respect to b₀ through s[0], (network, sample, pole, 2).
    """
    run, m = tl.program_id(0).to(tl.int64), tl.program_id(1)
    own = run * M + m
    STEPS: tl.constexpr = L // P
    C_ROWS: tl.constexpr = ROWS // P
    table = powers + 2 * own * (L + 1)
    c_re, c_im = tl.load(constants + own * CONSTANTS), tl.load(constants + own * CONSTANTS + 1)
    # gradient through the response Re q^j w
    j = tl.arange(0, LP)
    q_re, q_im = tl.load(table + 2 * j, mask=j < L, other=0.0), tl.load(table + 2 * j + 1, mask=j < L, other=0.0)
    place = at_points + 2 * ((2 * run * L + j) * M + m)
    g_re, g_im = tl.load(place, mask=j < L, other=0.0), tl.load(place + 1, mask=j < L, other=0.0)
    by_re, by_im = _times(q_re, -q_im, g_re, -g_im)
    gz_re, gz_im = tl.sum(j * by_re, axis=0), tl.sum(j * by_im, axis=0)
    # gradient through c q^{L−1−k}, the factor of point k of a chunk in the next state
    e = L - 1 - j
    q_re, q_im = tl.load(table + 2 * e, mask=j < L, other=0.0), tl.load(table + 2 * e + 1, mask=j < L, other=0.0)
    place += 2 * L * M
    g_re, g_im = tl.load(place, mask=j < L, other=0.0), tl.load(place + 1, mask=j < L, other=0.0)
    by_re, by_im = _times(q_re, -q_im, g_re, g_im)
    gc_re, gc_im = tl.sum(by_re, axis=0), tl.sum(by_im, axis=0)
    by_re, by_im = _times(c_re, -c_im, tl.sum(e * by_re, axis=0), tl.sum(e * by_im, axis=0))
    gz_re += by_re
    gz_im += by_im
    gb_re, gb_im = 0.0, 0.0
    for first in range(0, BATCH, PAIRS):
        sample = first + tl.arange(0, PAIRS)
        start = starts + 2 * ((run * BATCH + sample) * M + m)
        gb_re += tl.sum(tl.load(start, mask=sample < BATCH, other=0.0), axis=0)
        gb_im += tl.sum(tl.load(start + 1, mask=sample < BATCH, other=0.0), axis=0)
    last_re, last_im = tl.load(table + 2 * L), tl.load(table + 2 * L + 1)
    for first in range(0, C * C, PAIRS):
        pair = first + tl.arange(0, PAIRS)
        inside = pair < C * C
        i, o = pair // C, pair % C
        r_re = tl.load(mixing + own * 2 * C * C + pair, mask=inside, other=0.0)
        r_im = tl.load(mixing + (own * 2 + 1) * C * C + pair, mask=inside, other=0.0)
        gr_re, gr_im = _correlated(mixed + own * 8 * C * C + pair, inside, C)
        # gradient through q^L s, the part of the state that a chunk passes on
        s_re, s_im = _correlated(mixed + (own * 8 + 4) * C * C + pair, inside, C)
        to_re, to_im = tl.sum(r_re * s_re + r_im * s_im, axis=0), tl.sum(r_re * s_im - r_im * s_re, axis=0)
        to_re, to_im = _times(last_re, -last_im, to_re, to_im)
        gz_re += L * to_re
        gz_im += L * to_im
        for lag in range(L):
            # several pairs (late, early) of points have the same lag; add their sums
            slope = tl.zeros((PAIRS,), tl.float32)
            for early in tl.static_range(P):
                late = (lag + early) % P
                ahead = (lag + early) // P
                row = (run * STEPS + ahead) * ROWS + late * C_ROWS + o
                slope += tl.load(lags + row * ROWS + early * C_ROWS + i, mask=inside & (ahead < STEPS), other=0.0)
            to_re, to_im = tl.sum(r_re * slope, axis=0), -tl.sum(r_im * slope, axis=0)
            if lag == 0:
                k_re, k_im = tl.load(constants + own * CONSTANTS + 2), tl.load(constants + own * CONSTANTS + 3)
                gb_re += to_re
                gb_im += to_im
                if m == 0:
                    tl.store(gweight + run * C * C + o * C + i, slope, mask=inside)
            else:
                p_re, p_im = tl.load(table + 2 * (lag - 1)), tl.load(table + 2 * (lag - 1) + 1)
                k_re, k_im = c_re * p_re - c_im * p_im, c_re * p_im + c_im * p_re
                gc_re += p_re * to_re + p_im * to_im
                gc_im += p_re * to_im - p_im * to_re
                gz_re += (lag - 1) * (k_re * to_re + k_im * to_im)
                gz_im += (lag - 1) * (k_re * to_im - k_im * to_re)
            gr_re += k_re * slope
            gr_im -= k_im * slope
        to = gresidues + 2 * ((run * C * C + pair) * M + m)
        tl.store(to, gr_re, mask=inside)
        tl.store(to + 1, gr_im, mask=inside)
    slopes = constants + own * CONSTANTS + 4
    by_re, by_im = _times(tl.load(slopes), -tl.load(slopes + 1), gc_re, gc_im)
    more_re, more_im = _times(tl.load(slopes + 2), -tl.load(slopes + 3), gb_re, gb_im)
    tl.store(gpoles + 2 * own, dt * (gz_re + by_re + more_re))
    tl.store(gpoles + 2 * own + 1, dt * (gz_im + by_im + more_im))


@triton.jit
def _correlated(place, inside, C: tl.constexpr):
    """Return the real and the imaginary part of Σ conj(s) x.

    place: address of four sums, C² entries apart: Re s Re x, Im s Re x, Re s Im x, Im s Im x.
    """
    both_re = tl.load(place, mask=inside, other=0.0)
    s_im_x_re = tl.load(place + C * C, mask=inside, other=0.0)
    s_re_x_im = tl.load(place + 2 * C * C, mask=inside, other=0.0)
    return both_re + tl.load(place + 3 * C * C, mask=inside, other=0.0), s_re_x_im - s_im_x_re


class Tables(NamedTuple):
    """Coefficients of a stack of S layers for chunks of L points.

    powers: q^j for j ≤ L, (S, M, L + 1, 2).
    constants: c, b₀, dc/dz and db₀/dz, (S, M, 4, 2).
    mixing: residues, (S, M, 2, in, out).
    response: H_τ for τ < L, (S, L, out, in).
    """

    powers: Tensor
    constants: Tensor
    mixing: Tensor
    response: Tensor


def prepare(poles: Tensor, residues: Tensor, weight: Tensor, dt: float, length: int) -> Tables:
    """Return the coefficients of S layers for chunks of `length` points.

    poles: complex (S, M).
    residues: complex (S, in, out, M).
    weight: W, (S, out, in).
    dt: sampling step.
    """
    runs, channels, _, count = residues.shape
    powers = weight.new_empty(runs, count, length + 1, 2)
    constants = weight.new_empty(runs, count, CONSTANTS // 2, 2)
    mixing = weight.new_empty(runs, count, 2, channels, channels)
    response = weight.new_empty(runs, length, channels, channels)
    numbers = torch.view_as_real(poles), torch.view_as_real(residues)
    rounded = torch.tensor(dt, dtype=torch.float32).item()
    sizes = channels, count, triton.next_power_of_2(count), length, FEW_PAIRS, CONSTANTS
    _prepare[runs, triton.cdiv(channels**2, FEW_PAIRS)](
        *numbers, weight, powers, constants, mixing, response, rounded, dt - rounded, *sizes, num_warps=1
    )
    return Tables(powers, constants, mixing, response)


def gradient(
    lags: Tensor, mixed: Tensor, at_points: Tensor, starts: Tensor, tables: Tables, dt: float
) -> tuple[Tensor, Tensor, Tensor]:
    """Return the gradients with respect to poles, residues and weight. `_gradient` describes the arguments."""
    powers, constants, mixing, _ = tables
    runs, count, _, channels, _ = mixing.shape
    length, rows = powers.shape[2] - 1, lags.shape[2]
    gpoles, gresidues = mixing.new_empty(runs, count, 2), mixing.new_empty(runs, channels, channels, count, 2)
    gweight = mixing.new_empty(runs, channels, channels)
    steps = length, triton.next_power_of_2(length), length // lags.shape[1]
    sizes = starts.shape[1], channels, count, *steps, rows, PAIRS, CONSTANTS
    given = lags, mixed, at_points, starts, powers, constants, mixing
    _gradient[runs, count](*given, gpoles, gresidues, gweight, dt, *sizes, num_warps=1)
    return torch.view_as_complex(gpoles), torch.view_as_complex(gresidues), gweight
