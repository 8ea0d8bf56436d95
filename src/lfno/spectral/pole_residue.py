"""The pole–residue transform: the exact response of poles and residues to a field, in any number of dimensions.

The transfer function is H(s) = Σ_m β_m Π_d 1/(s_d − μ_{d,m_d}), with poles μ on each axis d and residues β. α_l are the Fourier
coefficients of the input on N points. The response from rest is

    u(t) = (1/N) Re Σ_l Σ_m α_l β_m Π_d (S_d + T_d),      S = e^{iωt}/(iω − μ),   T = e^{μt}/(μ − iω).

The product of all S_d is the steady term. All other products are transient terms.

An axis with poles is a Laplace axis. An axis without poles is a Fourier axis: each mode has its own residue, S is e^{iωx}, and
T is zero. We contract one axis at a time, because the tensor of all frequencies, channels and poles is too large.

Shapes: x is real (batch, in, *grid). `poles` has one entry per axis: a complex tensor (in, out, M), or (M,) if all pairs of
channels share the poles, or None on a Fourier axis. `residues` is complex (in, out, *n), where n is M on a Laplace axis and
2K − 1 (signed modes) on a Fourier axis. `steps` are the distances between points.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import combinations

import torch
from torch import Tensor

from lfno.spectral.axes import angular_frequencies, wavenumbers
from lfno.spectral.fourier import enter, leave
from lfno.spectral.poles import analysis_matrix, resolvent, synthesis_matrix, synthesis_planes

Poles = Sequence[Tensor | None]

POINT = "uvw"  # einsum letters: a point or a frequency of the first, second and third axis
POLE = "pqr"  # einsum letters: a pole of the first, second and third axis


def fourier_axes(poles: Poles) -> list[int]:
    """Return the indices of the axes without poles."""
    return [d for d, mu in enumerate(poles) if mu is None]


def transient(x: Tensor, poles: Poles, residues: Tensor, steps: Sequence[float], mixed: bool = True) -> Tensor:
    """Return the transient terms, (batch, out, *grid): the sum of all terms with T on at least one axis.

    mixed: whether to include terms that have T on some Laplace axes and S on others.
    """
    fourier = fourier_axes(poles)
    modes = [(count + 1) // 2 for count in residues.shape[2:]]
    entered = enter(x, modes, fourier)
    return leave(transient_in_modes(entered, poles, residues, x.shape[2:], steps, mixed), x.shape[2:], fourier)


def transient_in_modes(
    x: Tensor, poles: Poles, residues: Tensor, shape: Sequence[int], steps: Sequence[float], mixed: bool = True
) -> Tensor:
    """Return the transient terms of a field whose Fourier axes are in modes. The Fourier axes of the result are in modes, too.

    shape: the shape of the grid.
    """
    laplace = [d for d, mu in enumerate(poles) if mu is not None]
    terms = [
        _term(x, poles, residues, shape, steps, decaying, [d for d in laplace if d not in decaying])
        for count in range(1 if mixed else len(laplace), len(laplace) + 1)
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
    """Return the term with T on the `decaying` axes and S on the `ringing` axes. All other axes are Fourier axes, in modes."""
    axes = range(len(poles))
    given = {d: mu for d, mu in enumerate(poles) if mu is not None}
    shared = all(mu.ndim == 1 for mu in given.values())
    pair = "" if shared else "io"
    for d in ringing:
        spectrum = torch.fft.fft(spectrum, dim=2 + d)
        residues = _along(residues, resolvent(given[d], angular_frequencies(shape[d], steps[d], residues)), d)
    # contract the axis that shrinks most first, and expand it last: intermediate tensors are then small
    order = sorted(decaying, key=lambda d: shape[d] / residues.shape[2 + d], reverse=True)

    index = "bi" + "".join(POINT[d] for d in axes)
    for d in order:
        own = pair + POLE[d] + POINT[d]
        spectrum, index = _contract(spectrum, index, analysis_matrix(given[d], shape[d], steps[d]), own, POINT[d])
    if not spectrum.is_complex():
        spectrum, index = _complex(spectrum, index)
    own = "io" + "".join(POLE[d] if d in decaying else POINT[d] for d in axes)
    after = _free(index, own, "i") if shared else index
    spectrum = torch.einsum(f"{index},{own}->{after}", spectrum, residues)
    index = after
    for d in reversed(order):
        own = pair + POLE[d] + POINT[d]
        last = d == order[0]
        after = "bo" + "".join(POINT[d] for d in axes) if last else _free(index, own, POLE[d])
        if last and len(decaying) == len(axes):
            spectrum = _real_part(spectrum, index, after, given[d], shape[d], steps[d], d)
        else:
            spectrum = torch.einsum(f"{index},{own}->{after}", spectrum, synthesis_matrix(given[d], shape[d], steps[d]))
        index = after
    for d in ringing:
        spectrum = torch.fft.ifft(spectrum, dim=2 + d)
    return spectrum if len(given) < len(poles) or not spectrum.is_complex() else spectrum.real


def _free(left: str, right: str, summed: str) -> str:
    """Return the indices of a product: those in both factors, then those of `left` alone, then those of `right` alone.

    einsum computes this order as one batched matrix product. Indices in `summed` are left out.
    """
    common = [letter for letter in left if letter in right and letter not in summed]
    alone = [letter for letter in left if letter not in right]
    return "".join(common + alone + [letter for letter in right if letter not in left])


def _contract(x: Tensor, index: str, matrix: Tensor, own: str, summed: str) -> tuple[Tensor, str]:
    """Multiply x by a complex matrix and sum over one axis. Return the product and its indices.

    All products are real, so that complex tensors need no copies. If x is real and has no index z, the result is real and has
    an extra index z for the planes (re, im) of complex numbers. In all other cases the result is complex.

    index: the indices of x.
    own: the indices of the matrix.
    summed: the index to sum over.
    """
    if x.is_complex():
        x, index = torch.view_as_real(x), index + "z"
    plane = "y" if "z" in index else "z"
    after = _free(own + plane, index, summed)
    x = torch.einsum(f"{own}{plane},{index}->{after}", torch.view_as_real(matrix), x)
    if plane == "z":
        return x, after
    x, after = _complex(x, after, "y")
    real, imaginary = x.unbind(after.index("z"))
    return real + 1j * imaginary, after.replace("z", "")


def _complex(x: Tensor, index: str, plane: str = "z") -> tuple[Tensor, str]:
    """Return x as complex numbers, and its indices without `plane`, the index of the planes (re, im)."""
    return torch.complex(*x.unbind(index.index(plane))), index.replace(plane, "")


def _real_part(x: Tensor, index: str, after: str, poles: Tensor, size: int, step: float, d: int) -> Tensor:
    """Return Re Σ x e^{μt} along axis d, with the indices `after`. All other indices are summed.

    All products are real: Re(z w) = Re z Re w̄ + Im z Im w̄. Poles (in, out, M) are transposed to (out, in, M), so that summed
    indices are contiguous in memory.
    """
    own, poles = ("", poles) if poles.ndim == 1 else ("oi", poles.transpose(0, 1))
    planes = synthesis_planes(poles.conj(), size, step)
    return torch.einsum(f"{index}z,{own}{POLE[d]}z{POINT[d]}->{after}", torch.view_as_real(x), planes)


def _along(residues: Tensor, matrix: Tensor, d: int) -> Tensor:
    """Return Σ_m β_m K_m(l) along axis d: a function of frequency on this axis if K = 1/(iω − μ).

    matrix: K, (…, M, frequencies).
    """
    before = "".join(POLE[: residues.ndim - 2])
    after = before.replace(POLE[d], POINT[d])
    pair = "" if matrix.ndim == 2 else "io"
    return torch.einsum(f"io{before},{pair}{POLE[d]}{POINT[d]}->io{after}", residues, matrix)


def transfer(
    poles: Poles,
    residues: Tensor,
    modes: Sequence[int | None],
    shape: Sequence[int],
    steps: Sequence[float],
    rings: Callable[[Tensor, Tensor], Tensor] = resolvent,
) -> Tensor:
    """Return ½ (H(ω) + conj H(−ω)) at the kept modes, (in, out, *kept): the transfer function for real fields.

    Multiply the half spectrum of a real input by this function and transform back: the result is the real part of the inverse
    transform of α H. At the Nyquist frequency of an axis with an even number of points, ω and −ω are the same entry.

    modes: number of kept modes of each axis; None keeps all modes.
    shape: the shape of the grid.
    rings: a function of poles (…, M) and frequencies (M, L), one row for each pole. It returns the steady response of the poles
        to e^{iωt}, divided by e^{iωt}, (…, M, L). It is used on the longest Laplace axis only.
    """
    last = len(shape) - 1
    kept = [wavenumbers(shape[d], modes[d], d == last, residues.device) for d in range(len(shape))]
    # one axis at a time, the longest axis last: the product along this axis also adds H(ω) and conj H(−ω)
    longest = sorted((d for d, mu in enumerate(poles) if mu is not None), key=lambda d: len(kept[d]))[-1]
    forward = _up_to(longest, poles, residues / 2, kept, shape, steps)
    mirror = _up_to(longest, poles, residues / 2, [-wave for wave in kept], shape, steps)
    mu, size, wave = poles[longest], shape[longest], kept[longest]
    assert mu is not None
    omega = angular_frequencies(size, steps[longest], mu)
    # the conjugate of 1 / (−iω − μ) is 1 / (iω − μ̄)
    both = torch.stack((omega[wave % size], -omega[-wave % size])).repeat_interleave(mu.shape[-1], 0)
    found = rings(torch.cat((mu, mu.conj()), -1), both).to(residues.dtype)
    return _along(torch.cat((forward, mirror.conj()), 2 + longest), found, longest)


def _up_to(
    longest: int, poles: Poles, residues: Tensor, wave: Sequence[Tensor], shape: Sequence[int], steps: Sequence[float]
) -> Tensor:
    """Return residues as functions of frequency on every axis except `longest`. wave: the integer modes of each axis."""
    for d in sorted(range(len(poles)), key=lambda d: len(wave[d])):
        mu = poles[d]
        if mu is None:
            residues = residues.index_select(2 + d, wave[d] % residues.shape[2 + d])
        elif d != longest:
            omega = angular_frequencies(shape[d], steps[d], mu).index_select(0, wave[d] % shape[d])
            residues = _along(residues, resolvent(mu, omega), d)
    return residues
