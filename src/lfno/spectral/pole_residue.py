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
    """The term with T on the `decaying` axes and S on the `ringing` ones (and on the Fourier axes).

    Complex numbers are held as two real planes z next to the index that is contracted, and the batch comes last: then
    every step is one real matrix product whose operands lie in memory as it needs them.
    """
    axes, given = range(len(poles)), {d: mu for d, mu in enumerate(poles) if mu is not None}
    shared = all(mu.ndim == 1 for mu in given.values())
    for d in ringing:
        spectrum = torch.fft.fft(spectrum, dim=2 + d)
        residues = _along(residues, resolvent(given[d], angular_frequencies(shape[d], steps[d], residues)), d)
    # contract first the axis that shrinks most, expand it last: intermediates stay as small as they can be
    first, *others = sorted(decaying, key=lambda d: (shape[d] / residues.shape[2 + d], d), reverse=True)
    still = [d for d in axes if d not in decaying]

    # points → poles: (in, out, *poles, z, *points, batch), or (*poles, z, *points, in, batch) with shared poles
    rest = [2 + d for d in (*others, *still)]
    x = spectrum.permute(*((*rest, 1, 0) if shared else (1, *rest, 0)), 2 + first)
    lead = () if shared else (x.shape[0],)
    sizes = list(x.shape[len(lead) : -1])
    if x.is_complex():
        x = torch.view_as_real(x.contiguous()).flatten(-2)
    matrix = analysis_matrix(given[first], shape[first], steps[first])
    planes = _planes(matrix, "pyuz" if spectrum.is_complex() else "pyu")
    pairs = () if shared else (residues.shape[1],)
    state = planes.reshape(*lead, -1, x.shape[-1]) @ x.reshape(*lead, -1, x.shape[-1]).mT
    head = [*lead, *pairs, matrix.shape[-2]]
    for d in others:
        matrix = analysis_matrix(given[d], shape[d], steps[d])
        state = _spread(_planes(matrix, "pyzu"), head) @ state.reshape(*head, 2 * sizes.pop(0), -1)
        head.append(matrix.shape[-2])
    state = state.reshape(*head, 2, *sizes)

    # the residues act on the few numbers that are left
    kept = "".join(POLE[d] if d in decaying else POINT[d] for d in axes)
    order, tail = "".join(POLE[d] for d in (first, *others)), "".join(POINT[d] for d in still)
    before = f"{order}{tail}ib" if shared else f"io{order}{tail}b"
    after = f"{order}{tail}ob" if shared else f"oi{order}{tail}b"
    coefficients = torch.view_as_complex(state.movedim(len(head), -1).contiguous())
    coefficients = torch.einsum(f"{before},io{kept}->{after}", coefficients, residues)

    # poles → points: (out, in, *poles, z, *points, batch), or (*poles, z, *points, out, batch)
    head = list(coefficients.shape[: len(head)])
    sizes = list(coefficients.shape[len(head) :])
    state = torch.view_as_real(coefficients).movedim(-1, len(head))
    for d in reversed(others):
        planes = _planes(synthesis_matrix(given[d], shape[d], steps[d]), "yupz")
        count = head.pop()
        state = _spread(planes if shared else planes.transpose(0, 1), head) @ state.reshape(*head, 2 * count, -1)
        sizes.insert(0, shape[d])
    planes = _planes(synthesis_matrix(given[first], shape[first], steps[first]), "pzuy" if still else "pzu")
    planes = planes.flatten(-2) if still else planes
    lead = () if shared else (head[0],)
    planes = (planes if shared else planes.transpose(0, 1)).reshape(*lead, -1, planes.shape[-1])
    u = (state.reshape(*lead, planes.shape[-2], -1).mT @ planes).reshape(*lead, *sizes, shape[first], -1)
    u = torch.view_as_complex(u) if still else u.squeeze(-1)
    places = {d: k for k, d in enumerate((*others, *still), 0 if shared else 1)} | {first: len(axes) + 1}
    outside = (len(axes), len(axes) - 1) if shared else (len(axes), 0)
    u = u.permute(*outside, *(places[d] for d in axes))
    for d in still:
        u = torch.fft.ifft(fill_signed(u, shape[d], 2 + d), dim=2 + d)
    return u.real if still else u


def _planes(matrix: Tensor, order: str) -> Tensor:
    """A complex matrix (…, p, u) as real planes in the given order of its last indices; z meets a state, y is the result.

    (g + ih)(a + ib) = (ga − hb) + i (ha + gb); without z the state is real, without y only the real part is wanted.
    """
    real, imaginary = matrix.real, matrix.imag
    if "z" not in order:
        planes, found = torch.stack((real, imaginary), -1), "puy"
    elif "y" not in order:
        planes, found = torch.stack((real, -imaginary), -1), "puz"
    else:
        planes, found = torch.stack((real, -imaginary, imaginary, real), -1).unflatten(-1, (2, 2)), "puyz"
    last = matrix.ndim - 2
    return planes.permute(*range(last), *(last + found.index(letter) for letter in order))


def _spread(planes: Tensor, head: Sequence[int]) -> Tensor:
    """(…, a, b, c, d) → matrices (…, 1 …, ab, cd) that act alike on all poles of the axes done before."""
    pairs = planes.shape[:-4]
    rows, columns = planes.shape[-4] * planes.shape[-3], planes.shape[-2] * planes.shape[-1]
    return planes.reshape(*pairs, *(1,) * (len(head) - len(pairs)), rows, columns)


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
