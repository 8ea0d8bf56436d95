"""The pole–residue transform in any number of dimensions: exact, with intermediates no larger than one axis needs.

With transfer function H(s) = Σ_m β_m Π_d 1/(s_d − μ_{d,m_d}) the response to Σ_l α_l e^{iω_l·t} is

    u(t) = (1/N) Re Σ_l Σ_m α_l β_m Π_d (S_d + T_d),      S = e^{iωt}/(iω − μ),   T = e^{μt}/(μ − iω).

The term with S on every axis is steady. All other terms are transient. Axes without poles are Fourier axes: they have one
residue for each mode (S is e^{iωx}, and there is no T).

Shapes: x is real (batch, in, *grid). `poles` has one entry per axis: a complex tensor (in, out, M), or (M,) when the
layer shares its poles, or None on a Fourier axis. `residues` is complex (in, out, *n), where n is M on a Laplace axis and
2K − 1 (signed modes) on a Fourier axis.
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

POINT, POLE = "uvw", "pqr"  # einsum letters of each axis: a point or frequency, and a pole


def fourier_axes(poles: Poles) -> list[int]:
    """Return the indices of the axes without poles."""
    return [d for d, mu in enumerate(poles) if mu is None]


def transient(x: Tensor, poles: Poles, residues: Tensor, steps: Sequence[float], mixed: bool = True) -> Tensor:
    """Return the sum of all terms with T on at least one axis; with `mixed=False` only the term with T on every Laplace axis.
    """
    fourier = fourier_axes(poles)
    modes = [(count + 1) // 2 for count in residues.shape[2:]]
    entered = enter(x, modes, fourier)
    return leave(transient_in_modes(entered, poles, residues, x.shape[2:], steps, mixed), x.shape[2:], fourier)


def transient_in_modes(
    x: Tensor, poles: Poles, residues: Tensor, shape: Sequence[int], steps: Sequence[float], mixed: bool = True
) -> Tensor:
    """`transient` for a field that is in modes on the Fourier axes. The result is in modes on these axes, too.

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
    """Return the term with T on the `decaying` axes and S on the `ringing` axes."""
    axes = range(len(poles))
    given = {d: mu for d, mu in enumerate(poles) if mu is not None}
    shared = all(mu.ndim == 1 for mu in given.values())
    pair = "" if shared else "io"
    for d in ringing:
        spectrum = torch.fft.fft(spectrum, dim=2 + d)
        residues = _along(residues, resolvent(given[d], angular_frequencies(shape[d], steps[d], residues)), d)
    # first contract the axis that shrinks most, and expand it last, so that intermediates stay small
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
    """Return the indices of a product in the order of a batched matrix product: common, then left, then right."""
    common = [letter for letter in left if letter in right and letter not in summed]
    alone = [letter for letter in left if letter not in right]
    return "".join(common + alone + [letter for letter in right if letter not in left])


def _contract(x: Tensor, index: str, matrix: Tensor, own: str, summed: str) -> tuple[Tensor, str]:
    """Multiply x by a complex matrix and sum over one axis, in real products without copies.

    For a real x, the two planes (re, im) of the complex result are an extra index z, which the next product uses. The planes
    are combined after the last contraction, when the tensor is small.
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
    """Combine the planes (re, im) of an index into complex numbers."""
    return torch.complex(*x.unbind(index.index(plane))), index.replace(plane, "")


def _real_part(x: Tensor, index: str, after: str, poles: Tensor, size: int, step: float, d: int) -> Tensor:
    """Re Σ x e^{μt} along axis d, over all indices but `after`, in real products: Re(z w) = Re z Re w̄ + Im z Im w̄.

    Poles of pairs of channels are transposed to (out, in), so that the summed indices are contiguous in memory.
    """
    own, poles = ("", poles) if poles.ndim == 1 else ("oi", poles.transpose(0, 1))
    planes = synthesis_planes(poles.conj(), size, step)
    return torch.einsum(f"{index}z,{own}{POLE[d]}z{POINT[d]}->{after}", torch.view_as_real(x), planes)


def _along(residues: Tensor, matrix: Tensor, d: int) -> Tensor:
    """Σ_m β_m K_m(l) along axis d. With K = 1/(iω − μ), the residues become a function of frequency on this axis."""
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
    """Return the transfer function of a real field at the kept modes, (in, out, *kept): ½ (H(ω) + conj H(−ω)).

    rings: the response of poles to e^{iωt} on the longest Laplace axis, (…, M), (…, L) → (…, M, L).

    The product with the half spectrum of a real input, transformed back, is Re(inverse transform of α H). At the Nyquist
    frequency of an even axis, ω and −ω are the same sample, as in the discrete Fourier transform.
    """
    last = len(shape) - 1
    kept = [wavenumbers(shape[d], modes[d], d == last, residues.device) for d in range(len(shape))]
    # one axis at a time, the longest last: one product adds the two halves on this axis
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
    """Return H at integer wavenumbers on every axis but `longest`, where residues are unchanged."""
    for d in sorted(range(len(poles)), key=lambda d: len(wave[d])):
        mu = poles[d]
        if mu is None:
            residues = residues.index_select(2 + d, wave[d] % residues.shape[2 + d])
        elif d != longest:
            omega = angular_frequencies(shape[d], steps[d], mu).index_select(0, wave[d] % shape[d])
            residues = _along(residues, resolvent(mu, omega), d)
    return residues
