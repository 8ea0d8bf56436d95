"""A spectral layer on a fixed grid as terms y = Re[B W F x] in real arithmetic.

F are forward transforms along each axis (discrete Fourier, or the analysis matrix of the poles), W one complex channel
matrix for each mode or pole, B backward transforms. Complex numbers are pairs of reals in a trailing axis.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from itertools import combinations

import torch
from torch import Tensor, nn

from lfno.models.fourier_weights import FourierWeights, as_complex
from lfno.models.layers import PoleResidue
from lfno.spectral.axes import angular_frequencies
from lfno.spectral.fourier import add_low, twice
from lfno.spectral.mixing import mix_channels
from lfno.spectral.poles import analysis_matrix, resolvent, synthesis_matrix
from lfno.spectral.waves import make_waves

POINT, POLE = "uvw", "pqr"  # einsum letters of each axis, as in lfno.spectral.pole_residue


class Term(nn.Module):
    """Re[B W F x]; forward and backward matrices one per axis, (points, modes) and (modes, points), complex.

    Matrices of poles that belong to a pair of channels have two leading axes (in, out). Weights are (in, out, *modes).
    Fourier matrices are the same tensors in every layer, so that a file holds them once.
    """

    def __init__(self, forward: Sequence[Tensor], weights: Tensor, backward: Sequence[Tensor]) -> None:
        super().__init__()
        self.count = len(forward)
        self.pairs = [matrix.ndim == 4 for matrix in forward]
        for d, (there, back) in enumerate(zip(forward, backward, strict=True)):
            # the first transform starts from real numbers, the last one ends with them
            first, last = d == 0, d == self.count - 1
            self.register_buffer(f"forward_{d}", _rows(there) if first else _matrix(there))
            self.register_buffer(f"backward_{d}", _columns(back) if last else _matrix(back))
        self.register_buffer("weights", _pair_matrix(weights))

    def forward(self, x: Tensor) -> Tensor:
        index, pair = "bi" + POINT[: self.count], ""
        for d in range(self.count):
            own = "io" if self.pairs[d] else ""
            after = index.replace(POINT[d], POLE[d])
            after = after.replace("bi", "bio") if own and "o" not in after else after
            z = "" if d == 0 else "z"
            equation = f"{index}{z},{own}{POINT[d]}{z}{POLE[d]}y->{after}y"
            x = torch.einsum(equation, x, getattr(self, f"forward_{d}"))
            index = after
        modes = POLE[: self.count]
        pair = "bio" if any(self.pairs) else "bo"
        x = torch.einsum(f"{index}z,io{modes}zy->{pair}{modes}y", x, self.weights)
        index = pair + modes
        for d in range(self.count):
            last = d == self.count - 1
            own = "io" if self.pairs[d] else ""
            after = index.replace(POLE[d], POINT[d])
            after = after.replace("bio", "bo") if last else after
            y = "" if last else "y"
            x = torch.einsum(f"{index}z,{own}{POLE[d]}z{POINT[d]}{y}->{after}{y}", x, getattr(self, f"backward_{d}"))
            index = after
        return x


@cache
def _rows(matrix: Tensor) -> Tensor:
    """Complex (…, n, p) → real (…, n, p, 2): what a real vector is multiplied with."""
    return torch.view_as_real(matrix.resolve_conj()).float().contiguous()


@cache
def _matrix(matrix: Tensor) -> Tensor:
    """Complex (…, n, p) → real (…, n, 2, p, 2): multiplication of pairs, (re, im) → (re, im)."""
    real, imaginary = matrix.real, matrix.imag
    upper, lower = torch.stack((real, imaginary), -1), torch.stack((-imaginary, real), -1)
    return torch.stack((upper, lower), -3).float().contiguous()


@cache
def _columns(matrix: Tensor) -> Tensor:
    """Complex (…, p, n) → real (…, p, 2, n): the real part of what a vector of pairs gives."""
    return _matrix(matrix)[..., 0].contiguous()


def _pair_matrix(weights: Tensor) -> Tensor:
    """Complex (…) → real (…, 2, 2)."""
    real, imaginary = weights.real, weights.imag
    rows = torch.stack((real, imaginary), -1), torch.stack((-imaginary, real), -1)
    return torch.stack(rows, -2).float().contiguous()


@cache
def _fourier(size: int, modes: int | None, half: bool, points: int) -> tuple[Tensor, Tensor]:
    """Forward (points, kept) and backward (kept, points) of a discrete Fourier transform over `size` points, those after
    the given ones being zero before and not asked for after; `half`: of a real signal."""
    planes = make_waves(size, points, modes, half, torch.float64, torch.device("cpu"))
    forward = torch.complex(*planes).T
    weight = twice(size, planes)[: forward.shape[1]] if half else torch.ones(forward.shape[1], dtype=torch.float64)
    return forward, forward.conj().T * weight[:, None] / size


def steady_terms(
    kernel: PoleResidue | None, weights: FourierWeights | None, kind: str, shape: Sequence[int], steps: Sequence[float]
) -> list[Term]:
    """The steady part: λ = H α, and what R makes of it, as one matrix for each mode; two terms where R sees more points."""
    exact = [] if kernel is None or kind not in ("exact", "residual") else [kernel.transfer(kernel.all_modes, shape, steps)]
    if weights is None:
        assert kernel is not None
        return [_steady_term(exact[0], kernel.all_modes, shape, shape)]
    longer, response = weights.extended(shape), weights.matrix
    if kernel is not None and kind != "free":
        response = mix_channels(kernel.transfer(weights.modes, longer, steps), response)
    if not exact:
        return [_steady_term(response, weights.modes, shape, longer)]
    assert kernel is not None
    if longer == tuple(shape):
        return [_steady_term(add_low(exact[0], response), kernel.all_modes, shape, shape)]
    return [_steady_term(exact[0], kernel.all_modes, shape, shape), _steady_term(response, weights.modes, shape, longer)]


def _steady_term(response: Tensor, modes: Sequence[int | None], shape: Sequence[int], period: Sequence[int]) -> Term:
    """One matrix for each mode of a field with these points, periodic after as many as `period` says."""
    last = len(shape) - 1
    pairs = [_fourier(period[d], modes[d], d == last, points=n) for d, n in enumerate(shape)]
    forward, backward = zip(*pairs, strict=True)
    return Term(forward, response.detach(), backward)


def transient_terms(kernel: PoleResidue, shape: Sequence[int], steps: Sequence[float]) -> list[Term]:
    """Every term with a decay on at least one axis (on all of them unless the kernel is `mixed`)."""
    poles, residues = kernel.values(), as_complex(kernel.residues).detach()
    laplace = [d for d, mu in enumerate(poles) if mu is not None]
    terms = []
    for count in range(1 if kernel.mixed else len(laplace), len(laplace) + 1):
        for decaying in combinations(laplace, count):
            terms.append(_term(poles, residues, shape, steps, decaying))
    return terms


def _term(
    poles: Sequence[Tensor | None], residues: Tensor, shape: Sequence[int], steps: Sequence[float], decaying: Sequence[int]
) -> Term:
    forward, backward = [], []
    for d, mu in enumerate(poles):
        if mu is not None and d in decaying:
            forward.append(analysis_matrix(mu.detach(), shape[d], steps[d]).transpose(-1, -2))
            backward.append(synthesis_matrix(mu.detach(), shape[d], steps[d]))
            continue
        if mu is not None:
            rings = resolvent(mu.detach(), angular_frequencies(shape[d], steps[d], residues))
            before = POLE[: residues.ndim - 2]
            pair = "" if rings.ndim == 2 else "io"
            after = before.replace(POLE[d], POINT[d])
            residues = torch.einsum(f"io{before},{pair}{POLE[d]}{POINT[d]}->io{after}", residues, rings)
        modes = None if mu is not None else (residues.shape[2 + d] + 1) // 2
        there, back = _fourier(shape[d], modes, half=False, points=shape[d])
        forward.append(there)
        backward.append(back)
    return Term(forward, residues, backward)


def forget() -> None:
    """Let go of the shared Fourier matrices, once the layers of a model hold them."""
    for shared in (_fourier, _rows, _matrix, _columns):
        shared.cache_clear()
