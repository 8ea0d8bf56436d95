"""Discrete Fourier transforms as products with a matrix of the waves e^{−2πi l n / P}, one axis at a time.

l is the mode, n the point, and P the period in points. P may be greater than the number of points of the axis: the forward
transform then adds zeros, and the inverse returns only the points of the axis.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor

from lfno.spectral.axes import wavenumbers


def waves(period: int, points: int, modes: int | None, half: bool, real: torch.dtype, device: torch.device) -> Tensor:
    """Return the real and the imaginary part of e^{−2πi l n / P} for the kept modes l and the points n: (2, kept, points).

    period: P.
    modes: the modes |l| < modes are kept; None keeps all modes.
    half: whether to keep only l ≥ 0.
    real: the data type of the result, torch.float32 or torch.float64.
    """
    wave = wavenumbers(period, modes, half, device)
    # reduce l n modulo P as integers: large angles would lose precision
    angle = -2 * math.pi / period * (torch.outer(wave, torch.arange(points, device=device)) % period).double()
    return torch.stack((torch.cos(angle), torch.sin(angle))).to(real)


def analyse(x: Tensor, planes: Tensor, axis: int) -> Tensor:
    """Return the modes Σ_n x_n e^{−2πi l n / P} of a real or complex field x along one axis.

    planes: the matrix of `waves`. Its modes l are the modes of the result.
    axis: the axis, counted from the end: −1 is the last axis.
    """
    if x.is_complex():
        return _along(torch.complex(*planes), x, axis)
    both = _along(planes.flatten(0, 1), x, axis)
    return torch.complex(*both.chunk(2, axis))


def synthesise(spectrum: Tensor, planes: Tensor, axis: int, period: int, real: bool) -> Tensor:
    """Return (1/P) Σ_l a_l e^{2πi l n / P} at the points n, for modes a along one axis.

    This is the inverse of `analyse` if `planes` has all modes of both signs. With modes l ≥ 0 only, the caller first multiplies
    the modes by `lfno.spectral.fourier.twice`, and needs only the real part.

    planes: the matrix of `waves` for the modes of a.
    axis: the axis, counted from the end: −1 is the last axis.
    period: P.
    real: whether to return the real part only.
    """
    spectrum = spectrum / period
    if not real:
        return _along(torch.complex(planes[0], -planes[1]).T, spectrum, axis)
    return _along(planes.flatten(0, 1).T, torch.cat((spectrum.real, spectrum.imag), axis), axis)


def _along(matrix: Tensor, x: Tensor, axis: int) -> Tensor:
    """Return Σ_n M_kn x_n along an axis counted from the end. The matrix M and the field x are both real or both complex."""
    before, after = x.shape[:axis], x.shape[x.ndim + axis + 1 :]
    if axis == -1:
        return (x.reshape(-1, x.shape[-1]) @ matrix.T).unflatten(0, before)
    lines = x.reshape(math.prod(before), x.shape[axis], math.prod(after))
    return torch.bmm(matrix.expand(lines.shape[0], -1, -1), lines).reshape(*before, matrix.shape[0], *after)
