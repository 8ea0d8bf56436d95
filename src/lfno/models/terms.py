"""The linear response of a layer on one grid as a sum of terms y = Re[B W F x] with real matrices, for exports.

x is the input and y the output. F is a transform along each axis, from points to modes or poles: a discrete Fourier transform,
or the analysis matrix of the poles (`lfno.spectral.poles`). W is a complex channel matrix for each mode or pole. B is a
transform along each axis, back to points. A complex number is a pair of real numbers on the last axis.
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

POINT, POLE = "uvw", "pqr"  # einsum letters of each axis: points, and modes or poles


class Term(nn.Module):
    """One term Re[B W F x].

    forward: F, a complex matrix (points, modes) for each axis.
    weights: W, (in, out, *modes).
    backward: B, a complex matrix (modes, points) for each axis.

    If each pair of channels has its own poles, F and B have two more axes (in, out) in front. All terms of a model share the
    tensors of the Fourier matrices, so that a file stores them once.
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
    """Return the real matrix (…, n, p, 2) of a complex matrix (…, n, p). It maps real vectors to vectors of pairs."""
    return torch.view_as_real(matrix.resolve_conj()).float().contiguous()


@cache
def _matrix(matrix: Tensor) -> Tensor:
    """Return the real matrix (…, n, 2, p, 2) of a complex matrix (…, n, p). It maps vectors of pairs to such vectors."""
    real, imaginary = matrix.real, matrix.imag
    upper, lower = torch.stack((real, imaginary), -1), torch.stack((-imaginary, real), -1)
    return torch.stack((upper, lower), -3).float().contiguous()


@cache
def _columns(matrix: Tensor) -> Tensor:
    """Return the real matrix (…, p, 2, n) of a complex matrix (…, p, n). It maps vectors of pairs to real parts."""
    return _matrix(matrix)[..., 0].contiguous()


def _pair_matrix(weights: Tensor) -> Tensor:
    """Return complex numbers (…) as real matrices (…, 2, 2) that multiply pairs."""
    real, imaginary = weights.real, weights.imag
    rows = torch.stack((real, imaginary), -1), torch.stack((-imaginary, real), -1)
    return torch.stack(rows, -2).float().contiguous()


@cache
def _fourier(size: int, modes: int | None, half: bool, points: int) -> tuple[Tensor, Tensor]:
    """Return the forward (points, kept) and backward (kept, points) matrices of a discrete Fourier transform.

    size: the period of the transform in points.
    modes: the number of kept modes; None keeps all modes.
    half: whether only modes l ≥ 0 are kept, as for real signals.
    points: the number of points of the signal. If `size` is larger, the signal continues with zeros.
    """
    planes = waves(size, points, modes, half, torch.float64, torch.device("cpu"))
    forward = torch.complex(*planes).T
    weight = twice(size, planes)[: forward.shape[1]] if half else torch.ones(forward.shape[1], dtype=torch.float64)
    return forward, forward.conj().T * weight[:, None] / size


def steady_term(response: Tensor, modes: Sequence[int | None], shape: Sequence[int], period: Sequence[int]) -> Term:
    """Return a term that multiplies each Fourier mode of a field by a channel matrix.

    response: the channel matrices, (in, out, *kept).
    modes: the number of kept modes of each axis; None keeps all modes.
    shape: the shape of the grid.
    period: the period of each axis in points, at least the shape.
    """
    last = len(shape) - 1
    pairs = [_fourier(period[d], modes[d], d == last, points=n) for d, n in enumerate(shape)]
    forward, backward = zip(*pairs, strict=True)
    return Term(forward, response.detach(), backward)


def transient_terms(
    poles: Sequence[Tensor | None], residues: Tensor, mixed: bool, shape: Sequence[int], steps: Sequence[float]
) -> list[Term]:
    """Return the transient terms of the pole–residue transform (`lfno.spectral.pole_residue`).

    mixed: whether to include terms that decay on only some of the axes with poles. On the other axes, these terms are steady.
    """
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
    """Return the term that decays on the axes `decaying` and is steady on the other axes."""
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
    """A recurrence along time in chunks (`lfno.spectral.chunks`), with Fourier transforms along the axes of space.

    tables: the matrices of the recurrence.
    forward, backward: the Fourier matrices of each axis of space; see `Term`.
    size: the number of time steps.
    """

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
        # a response from rest needs no values of `response` and `decay`, only the difference of their lengths, `Tables.reach`
        given = {name: getattr(self, name) for name in Tables._fields if hasattr(self, name) and name != "levels"}
        lengths = {"response": torch.zeros(self.reach), "decay": torch.zeros(0)}
        return Tables(**given, levels=levels, **lengths)


def recurrent_term(tables: Tables, modes: Sequence[int], shape: Sequence[int]) -> RecurrentTerm:
    """Return a recurrence along the last axis. The axes before it keep signed Fourier modes |l| < K with K from `modes`."""
    pairs = [_fourier(n, modes[d], half=False, points=n) for d, n in enumerate(shape[:-1])]
    return RecurrentTerm(tables, [there for there, _ in pairs], [back for _, back in pairs], shape[-1])


class TimeFilter(nn.Module):
    """A transfer function along time: (batch, in, *modes, time) → (batch, out, *modes, time).

    response: the transfer function, (in, out, *modes, frequencies).
    period: the period in time steps.
    size: the number of time steps of the signal.
    """

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
    """Delete the shared Fourier matrices from the cache. Call this function when all terms of a model exist."""
    for shared in (_fourier, _rows, _matrix, _columns):
        shared.cache_clear()
