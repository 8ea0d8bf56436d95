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

from lfno.spectral.axes import angular_frequencies
from lfno.spectral.chunks import at_rest, fold_planes, run, unfold_planes
from lfno.spectral.fourier import twice
from lfno.spectral.poles import analysis_matrix, resolvent, synthesis_matrix
from lfno.spectral.tables import Level, Tables
from lfno.spectral.waves import waves

POINT, POLE = "uvw", "pqr"  # einsum letters of each axis, as in lfno.spectral.pole_residue


class Term(nn.Module):
    """Re[B W F x] with one complex forward matrix (points, modes) and one backward matrix (modes, points) per axis.

    Matrices of poles that belong to a pair of channels have two leading axes (in, out). Weights are (in, out, *modes). All
    layers share the tensors of the Fourier matrices, so that a file stores them once.
    """

    def __init__(self, forward: Sequence[Tensor], weights: Tensor, backward: Sequence[Tensor]) -> None:
        super().__init__()
        self.count = len(forward)
        self.pairs = [matrix.ndim == 4 for matrix in forward]
        for d, (there, back) in enumerate(zip(forward, backward, strict=True)):
            # the input of the first transform and the output of the last one are real
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
    """Complex (…, n, p) → real (…, n, p, 2): the matrix that multiplies a real vector."""
    return torch.view_as_real(matrix.resolve_conj()).float().contiguous()


@cache
def _matrix(matrix: Tensor) -> Tensor:
    """Complex (…, n, p) → real (…, n, 2, p, 2): multiplication of pairs, (re, im) → (re, im)."""
    real, imaginary = matrix.real, matrix.imag
    upper, lower = torch.stack((real, imaginary), -1), torch.stack((-imaginary, real), -1)
    return torch.stack((upper, lower), -3).float().contiguous()


@cache
def _columns(matrix: Tensor) -> Tensor:
    """Complex (…, p, n) → real (…, p, 2, n): the matrix that multiplies a vector of pairs and gives the real part."""
    return _matrix(matrix)[..., 0].contiguous()


def _pair_matrix(weights: Tensor) -> Tensor:
    """Complex (…) → real (…, 2, 2)."""
    real, imaginary = weights.real, weights.imag
    rows = torch.stack((real, imaginary), -1), torch.stack((-imaginary, real), -1)
    return torch.stack(rows, -2).float().contiguous()


@cache
def _fourier(size: int, modes: int | None, half: bool, points: int) -> tuple[Tensor, Tensor]:
    """Return the forward (points, kept) and backward (kept, points) matrices of a discrete Fourier transform over `size`
    points.

    Points after the first `points` are zero in the input and left out of the output. `half`: the signal is real.
    """
    planes = waves(size, points, modes, half, torch.float64, torch.device("cpu"))
    forward = torch.complex(*planes).T
    weight = twice(size, planes)[: forward.shape[1]] if half else torch.ones(forward.shape[1], dtype=torch.float64)
    return forward, forward.conj().T * weight[:, None] / size


def steady_term(response: Tensor, modes: Sequence[int | None], shape: Sequence[int], period: Sequence[int]) -> Term:
    """Return the term with one channel matrix for each mode of a field with these points, periodic with the lengths `period`.
    """
    last = len(shape) - 1
    pairs = [_fourier(period[d], modes[d], d == last, points=n) for d, n in enumerate(shape)]
    forward, backward = zip(*pairs, strict=True)
    return Term(forward, response.detach(), backward)


def transient_terms(
    poles: Sequence[Tensor | None], residues: Tensor, mixed: bool, shape: Sequence[int], steps: Sequence[float]
) -> list[Term]:
    """Return the terms that decay on every axis with poles; with `mixed`, all terms that decay on at least one axis."""
    residues = residues.detach()
    laplace = [d for d, mu in enumerate(poles) if mu is not None]
    terms = []
    for count in range(1 if mixed else len(laplace), len(laplace) + 1):
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


class RecurrentTerm(nn.Module):
    """A recurrence along time in chunks (`lfno.spectral.chunks`), with Fourier transforms along the axes of space."""

    def __init__(self, tables: Tables, forward: Sequence[Tensor], backward: Sequence[Tensor], size: int) -> None:
        super().__init__()
        self.count, self.size, self.reach = len(forward), size, tables.reach
        for name, value in tables._asdict().items():
            if name not in ("levels", "response", "decay"):
                self.register_buffer(name, value.detach().float())
        self.levels = len(tables.levels)
        for k, level in enumerate(tables.levels):
            for name, value in level._asdict().items():
                self.register_buffer(f"{name}_{k}", value.detach().float())
        for d, (there, back) in enumerate(zip(forward, backward, strict=True)):
            self.register_buffer(f"forward_{d}", _rows(there) if d == 0 else _matrix(there))
            self.register_buffer(f"backward_{d}", _columns(back) if d == self.count - 1 else _matrix(back))

    def forward(self, x: Tensor) -> Tensor:
        index = "bi" + POINT[: self.count] + "t"
        for d in range(self.count):
            z, after = "" if d == 0 else "z", index.replace(POINT[d], POLE[d])
            x = torch.einsum(f"{index}{z},{POINT[d]}{z}{POLE[d]}y->{after}y", x, getattr(self, f"forward_{d}"))
            index = after
        chunks = fold_planes(x.movedim(-1, -2) if self.count else x[..., None, :])
        tables = self._tables()
        y = unfold_planes(run(chunks, tables, *at_rest(chunks, tables))[0], self.size, self.count > 0)
        if not self.count:
            return y[..., 0, :]
        x = y.movedim(-2, -1)
        for d in range(self.count):
            y_, after = "" if d == self.count - 1 else "y", index.replace(POLE[d], POINT[d])
            x = torch.einsum(f"{index}z,{POLE[d]}z{POINT[d]}{y_}->{after}{y_}", x, getattr(self, f"backward_{d}"))
            index = after
        return x

    def _tables(self) -> Tables:
        levels = tuple(Level(*(getattr(self, f"{name}_{k}") for name in Level._fields)) for k in range(self.levels))
        # of `response` and `decay` only the difference of the lengths is read: the samples before a chunk that its hold uses
        given = {name: getattr(self, name) for name in Tables._fields if hasattr(self, name) and name != "levels"}
        lengths = {"response": torch.zeros(self.reach), "decay": torch.zeros(0)}
        return Tables(**given, levels=levels, **lengths)


def recurrent_term(tables: Tables, modes: Sequence[int], shape: Sequence[int]) -> RecurrentTerm:
    """A recurrence along the last axis with these signed modes on the axes before it."""
    pairs = [_fourier(n, modes[d], half=False, points=n) for d, n in enumerate(shape[:-1])]
    return RecurrentTerm(tables, [there for there, _ in pairs], [back for _, back in pairs], shape[-1])


class TimeFilter(nn.Module):
    """One channel matrix for each frequency and spatial mode, in real products: (batch, in, *modes, time) → (batch, out, …)."""

    def __init__(self, response: Tensor, period: int, size: int) -> None:
        super().__init__()
        there, back = _fourier(period, response.shape[-1], half=True, points=size)
        self.register_buffer("there", _rows(there))
        self.register_buffer("back", _columns(back))
        self.register_buffer("weights", _pair_matrix(response.detach()))

    def forward(self, x: Tensor) -> Tensor:
        modes = "kl"[: x.ndim - 3]
        spectrum = torch.einsum(f"bi{modes}t,tfy->bi{modes}fy", x, self.there)
        answer = torch.einsum(f"bi{modes}fy,io{modes}fyz->bo{modes}fz", spectrum, self.weights)
        return torch.einsum(f"bo{modes}fz,fzt->bo{modes}t", answer, self.back)


def forget() -> None:
    """Delete the shared Fourier matrices from the cache, after the layers of a model have stored them."""
    for shared in (_fourier, _rows, _matrix, _columns):
        shared.cache_clear()
