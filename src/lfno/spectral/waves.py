"""Discrete Fourier transforms written as products with the waves e^{−2πi l n / P}, one axis at a time.

The period P may be longer than the axis. The missing points are zeros in the forward transform and left out in the inverse.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor

from lfno.spectral.axes import wavenumbers


def waves(period: int, points: int, modes: int | None, half: bool, real: torch.dtype, device: torch.device) -> Tensor:
    """Return real and imaginary part of e^{−2πi l n / P} at the kept modes l and the points n: (2, kept, points).

    modes: the modes |l| < modes, or all modes for None. half: only l ≥ 0.
    """
    wave = wavenumbers(period, modes, half, device)
    # subtract whole turns as integers, so that the angle keeps full precision
    angle = -2 * math.pi / period * (torch.outer(wave, torch.arange(points, device=device)) % period).double()
    return torch.stack((torch.cos(angle), torch.sin(angle))).to(real)


def analyse(x: Tensor, planes: Tensor, axis: int) -> Tensor:
    """Transform a real or complex field from points to modes along an axis counted from the end."""
    if x.is_complex():
        return _along(torch.complex(*planes), x, axis)
    both = _along(planes.flatten(0, 1), x, axis)
    return torch.complex(*both.chunk(2, axis))


def synthesise(spectrum: Tensor, planes: Tensor, axis: int, period: int, real: bool) -> Tensor:
    """Transform modes to points along an axis counted from the end; `real`: return the real part only."""
    spectrum = spectrum / period
    if not real:
        return _along(torch.complex(planes[0], -planes[1]).T, spectrum, axis)
    return _along(planes.flatten(0, 1).T, torch.cat((spectrum.real, spectrum.imag), axis), axis)


def _along(matrix: Tensor, x: Tensor, axis: int) -> Tensor:
    """Σ_n M_kn x_n along an axis counted from the end; matrix and field are both real or both complex."""
    before, after = x.shape[:axis], x.shape[x.ndim + axis + 1 :]
    if axis == -1:
        return (x.reshape(-1, x.shape[-1]) @ matrix.T).unflatten(0, before)
    lines = x.reshape(math.prod(before), x.shape[axis], math.prod(after))
    return torch.bmm(matrix.expand(lines.shape[0], -1, -1), lines).reshape(*before, matrix.shape[0], *after)
