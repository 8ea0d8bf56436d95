"""The pole–residue transform in any number of dimensions: exact, and never larger than one axis needs.

With transfer function H(s) = Σ_m β_m Π_d 1/(s_d − μ_{d,m_d}) the response to Σ_l α_l e^{iω_l·t} is

    u(t) = (1/N) Re Σ_l Σ_m α_l β_m Π_d (S_d + T_d),      S = e^{iωt}/(iω − μ),   T = e^{μt}/(μ − iω).

The term with S on every axis is steady; all others are transient. Axes that carry no poles are Fourier axes: there the
residue is given for each mode directly (S is e^{iωx}, T is absent).

Shapes: x is real (batch, in, *grid). `poles` has one entry per axis: a complex tensor (in, out, M), or (M,) when the
layer shares its poles, or None on a Fourier axis. `residues` is complex (in, out, *n), n being M on a Laplace axis and
2K − 1 signed modes on a Fourier axis.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

import torch
from torch import Tensor

from lfno.spectral.fourier import angular_frequencies, fill_signed, keep_signed, wavenumbers
from lfno.spectral.poles import analysis_matrix, resolvent, synthesis_matrix

Poles = Sequence[Tensor | None]

POINT, POLE = "uvw", "pqr"  # einsum letters of each axis: a point or frequency, and a pole


def transient(x: Tensor, poles: Poles, residues: Tensor, steps: Sequence[float], mixed: bool = True) -> Tensor:
    """All terms with T on at least one axis; with `mixed=False` only the one with T on every Laplace axis."""
    laplace = [d for d, mu in enumerate(poles) if mu is not None]
    fourier = [d for d, mu in enumerate(poles) if mu is None]
    spectrum = x
    for d in fourier:
        spectrum = keep_signed(torch.fft.fft(spectrum, dim=2 + d), (residues.shape[2 + d] + 1) // 2, 2 + d)
    counts = range(1 if mixed else len(laplace), len(laplace) + 1)
    terms = [
        _term(spectrum, poles, residues, x.shape[2:], steps, decaying, [d for d in laplace if d not in decaying])
        for count in counts
        for decaying in combinations(laplace, count)
    ]
    return torch.stack(terms).sum(0) if len(terms) > 1 else terms[0]


def _term(
    spectrum: Tensor,
    poles: Poles,
    residues: Tensor,
    shape: Sequence[int],
    steps: Sequence[float],
    decaying: Sequence[int],
    ringing: Sequence[int],
) -> Tensor:
    """The term with T on the `decaying` axes and S on the `ringing` ones (and on the Fourier axes)."""
    axes = range(len(poles))
    given = {d: mu for d, mu in enumerate(poles) if mu is not None}
    shared = all(mu.ndim == 1 for mu in given.values())
    pair = "" if shared else "io"
    for d in ringing:
        spectrum = torch.fft.fft(spectrum, dim=2 + d)
        residues = _along(residues, resolvent(given[d], angular_frequencies(shape[d], steps[d], residues)), d)
    # contract first the axis that shrinks most, expand it last: intermediates stay as small as they can be
    order = sorted(decaying, key=lambda d: shape[d] / residues.shape[2 + d], reverse=True)

    index = "bi" + "".join(POINT[d] for d in axes)
    for d in order:
        after = index.replace(POINT[d], POLE[d])
        after = after if shared or "o" in after else after.replace("bi", "bio")
        matrix = analysis_matrix(given[d], shape[d], steps[d])
        spectrum = _contract(f"{index},{pair}{POLE[d]}{POINT[d]}->{after}", spectrum, matrix)
        index = after
    tail = index.replace("b", "").replace("i", "").replace("o", "")
    after = "bo" + tail if shared else index
    spectrum = torch.einsum(f"{index},io{tail}->{after}", spectrum, residues)
    index = after
    for d in reversed(order):
        last = d == order[0]
        after = index.replace(POLE[d], POINT[d])
        after = after.replace("i", "") if last else after
        matrix = synthesis_matrix(given[d], shape[d], steps[d])
        equation = f"{index},{pair}{POLE[d]}{POINT[d]}->{after}"
        real = last and len(decaying) == len(axes)
        spectrum = _real_part(equation, spectrum, matrix) if real else torch.einsum(equation, spectrum, matrix)
        index = after
    for d in axes:
        if d not in decaying:
            spectrum = torch.fft.ifft(fill_signed(spectrum, shape[d], 2 + d), dim=2 + d)
    return spectrum.real if spectrum.is_complex() else spectrum


def _contract(equation: str, x: Tensor, matrix: Tensor) -> Tensor:
    """einsum of a real or complex x with a complex matrix; a real x needs half the products."""
    if x.is_complex():
        return torch.einsum(equation, x, matrix)
    left, right = equation.split(",")
    inside, after = right.split("->")
    pairs = torch.einsum(f"{left},{inside}z->{after}z", x, torch.view_as_real(matrix))
    return torch.view_as_complex(pairs.contiguous())


def _real_part(equation: str, x: Tensor, matrix: Tensor) -> Tensor:
    """Re einsum(x, matrix) of complex tensors, in real products: Re(z w) = z_r w_r + z_i (w̄)_i."""
    left, right = equation.split(",")
    inside, after = right.split("->")
    conjugate = torch.view_as_real(matrix.conj().resolve_conj())
    return torch.einsum(f"{left}z,{inside}z->{after}", torch.view_as_real(x), conjugate)


def _along(residues: Tensor, matrix: Tensor, d: int) -> Tensor:
    """Σ_m β_m K_m(l) along axis d: with K = 1/(iω − μ) the residues become a function of frequency there."""
    before = "".join(POLE[: residues.ndim - 2])
    after = before.replace(POLE[d], POINT[d])
    pair = "" if matrix.ndim == 2 else "io"
    return torch.einsum(f"io{before},{pair}{POLE[d]}{POINT[d]}->io{after}", residues, matrix)


def transfer(
    poles: Poles, residues: Tensor, modes: Sequence[int | None], shape: Sequence[int], steps: Sequence[float]
) -> Tensor:
    """The transfer function a real field sees at the kept modes, (in, out, *kept): ½ (H(ω) + conj H(−ω)).

    Multiplying the half spectrum of a real input by it and transforming back is Re(inverse transform of α H).
    At the Nyquist frequency of an even axis ω and −ω are the same sample, as in the discrete Fourier transform.
    """
    last = len(shape) - 1
    kept = [wavenumbers(shape[d], modes[d], d == last, residues.device) for d in range(len(shape))]
    # one axis at a time, the longest last: there the two halves are added inside one product, never held apart
    longest = sorted((d for d, mu in enumerate(poles) if mu is not None), key=lambda d: len(kept[d]))[-1]
    forward, rings = _up_to(longest, poles, residues / 2, kept, shape, steps)
    mirror, mirror_rings = _up_to(longest, poles, residues / 2, [-wave for wave in kept], shape, steps)
    halves = torch.cat((forward, mirror.conj()), 2 + longest)
    return _along(halves, torch.cat((rings, mirror_rings.conj()), -2), longest)


def _up_to(
    longest: int, poles: Poles, residues: Tensor, wave: Sequence[Tensor], shape: Sequence[int], steps: Sequence[float]
) -> tuple[Tensor, Tensor]:
    """H at integer wavenumbers on every axis but `longest`, and the resolvent that is still missing there."""
    missing = residues.new_empty(0)
    for d in sorted(range(len(poles)), key=lambda d: len(wave[d])):
        mu = poles[d]
        if mu is None:
            residues = residues.index_select(2 + d, wave[d] % residues.shape[2 + d])
            continue
        rings = resolvent(mu, angular_frequencies(shape[d], steps[d], mu).index_select(0, wave[d] % shape[d]))
        if d == longest:
            missing = rings
        else:
            residues = _along(residues, rings, d)
    return residues, missing
