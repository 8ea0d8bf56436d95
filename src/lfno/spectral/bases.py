"""Bases for an axis that is not periodic: functions φ_k of space that satisfy the boundary condition, one mode for each k.

| basis     | φ_k(x) on [0, L]               | boundary condition | k        |
|-----------|--------------------------------|--------------------|----------|
| sine      | sin((k + 1) π x / L)           | fixed: φ = 0       | 0, 1, …  |
| cosine    | cos(k π x / L)                 | free: φ′ = 0       | 0, 1, …  |
| chebyshev | cos(k arccos(2 x / L − 1))     | none               | 0, 1, …  |

A field u on the points x_j has the coefficients a = A u of a weighted least-squares fit:

    A = (Φᵀ W Φ)⁻¹ Φᵀ W,     Φ_jk = φ_k(x_j),     W = diag(weights of the trapezoidal rule).

The field with the coefficients a is Φ a. For sines and cosines on evenly spaced points that include both ends, A is the
discrete sine or cosine transform.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor

from lfno.core.errors import LfnoError

BASES = ("sine", "cosine", "chebyshev")

#: boundary condition of an axis → its basis; other axes have Fourier modes
OF_BOUNDARY = {"fixed": "sine", "free": "cosine"}


def shapes(basis: str, count: int, places: Tensor) -> Tensor:
    """Return φ_0 … φ_{count−1} at some places, float64 (points, count).

    places: x / L from 0 to 1, (points,).

    >>> shapes("sine", 2, torch.tensor([0.0, 0.5, 1.0])).round(decimals=6).abs()
    tensor([[0., 0.],
            [1., 0.],
            [0., 0.]], dtype=torch.float64)
    """
    k = torch.arange(count, dtype=torch.float64, device=places.device)
    x = places.to(torch.float64)[:, None]
    if basis == "sine":
        return torch.sin(math.pi * (k + 1) * x)
    if basis == "cosine":
        return torch.cos(math.pi * k * x)
    if basis == "chebyshev":
        return torch.cos(k * torch.arccos((2 * x - 1).clamp(-1, 1)))
    raise LfnoError(f"there is no basis {basis!r}: choose one of {', '.join(BASES)}")


def most_modes(basis: str, points: int) -> int:
    """Return the largest number of modes on `points` points. Sines have two modes fewer, because they are zero at both ends."""
    return points - 2 if basis == "sine" else points


def trapezoid_weights(places: Tensor) -> Tensor:
    """Return the weights of the trapezoidal rule, (points,), at increasing places (points,)."""
    gaps = torch.diff(places)
    ends = torch.zeros(1, dtype=places.dtype, device=places.device)
    return (torch.cat((gaps, ends)) + torch.cat((ends, gaps))) / 2


def analysis(synthesis: Tensor, places: Tensor) -> Tensor:
    """Return A = (Φᵀ W Φ)⁻¹ Φᵀ W, the matrix (count, points) from a field to its coefficients.

    synthesis: Φ, (points, count).
    places: the points, (points,).
    """
    weights = trapezoid_weights(places.to(synthesis.dtype)).sqrt()[:, None]
    return torch.linalg.pinv(weights * synthesis) * weights.T


def basis_matrices(basis: str, count: int, points: int) -> tuple[Tensor, Tensor]:
    """Return A (count, points) and Φ (points, count) in double precision, for evenly spaced points that include both ends.

    Raises LfnoError if the points do not allow `count` modes (see `most_modes`).

    >>> there, back = basis_matrices("cosine", 4, 9)
    >>> field = back @ torch.tensor([1.0, 0.0, 2.0, 0.0], dtype=torch.float64)
    >>> (there @ field).round(decimals=6).abs()
    tensor([1., 0., 2., 0.], dtype=torch.float64)
    """
    most = most_modes(basis, points)
    if not 1 <= count <= most:
        raise LfnoError(f"{points} points carry 1 to {max(most, 0)} {basis} modes, not {count}: use fewer modes or more points")
    places = torch.linspace(0, 1, points, dtype=torch.float64)
    back = shapes(basis, count, places)
    return analysis(back, places), back
