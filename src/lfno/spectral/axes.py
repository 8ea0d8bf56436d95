"""One axis: its frequencies and the modes that are kept along it.

Mode l is the wave with l periods along the axis; −l is its conjugate. `modes = K` keeps the modes |l| < K. `modes = None` keeps
all modes. The kept modes are stored in one of two ways:

- half: 0 … K−1. This is enough for a real field, whose coefficients at −l are the conjugates of those at l.
- signed: 0 … K−1, −(K−1) … −1, in the order of a discrete Fourier transform of 2K − 1 points.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import torch
from torch import Tensor

Modes = Sequence[int | None]


def angular_frequencies(size: int, step: float, like: Tensor) -> Tensor:
    """Return ω_l = 2π l / (size · step) in the order of the discrete Fourier transform, in rad per unit of `step`: (size,).

    size: the number of points.
    step: the distance between two points.
    like: a tensor that gives the precision and the device.
    """
    real = torch.float64 if like.dtype in (torch.float64, torch.complex128) else torch.float32
    # in float64, because float32 loses digits at high modes
    wave = torch.fft.fftfreq(size, step, dtype=torch.float64, device=like.device)
    return (2 * math.pi * wave).to(real)


def wavenumbers(size: int, modes: int | None, half: bool, device: torch.device) -> Tensor:
    """Return the integers l of the kept modes, in the order of storage: (kept,).

    size: the number of points of the axis.
    modes: K, or None for all modes.
    half: True for half storage, False for signed storage.

    With signed storage and all modes, the result is 0 … size − 1: a number l ≥ size/2 stands for the mode l − size.
    """
    if half:
        return torch.arange(size // 2 + 1 if modes is None else modes, device=device)
    if modes is None:
        return torch.arange(size, device=device)
    return torch.cat((torch.arange(modes, device=device), torch.arange(1 - modes, 0, device=device)))


def max_modes(size: int, half: bool) -> int:
    """Return the largest K for which `size` points have all modes |l| < K. half: True for half storage, False for signed."""
    return size // 2 + 1 if half else (size + 1) // 2


def keep_signed(spectrum: Tensor, modes: int | None, axis: int) -> Tensor:
    """Return the modes |l| < `modes` of a spectrum that has all signed modes along `axis`."""
    if modes is None or 2 * modes - 1 == spectrum.shape[axis]:
        return spectrum
    if modes == 1:
        return spectrum.narrow(axis, 0, 1)
    size = spectrum.shape[axis]
    return torch.cat((spectrum.narrow(axis, 0, modes), spectrum.narrow(axis, size - modes + 1, modes - 1)), axis)


def fill_signed(spectrum: Tensor, size: int, axis: int) -> Tensor:
    """Return a spectrum with all `size` signed modes along `axis`. Modes that `keep_signed` has dropped become zero."""
    kept = spectrum.shape[axis]
    if kept == size:
        return spectrum
    modes = (kept + 1) // 2
    shape = list(spectrum.shape)
    shape[axis] = size - kept
    zeros = spectrum.new_zeros(shape)
    return torch.cat((spectrum.narrow(axis, 0, modes), zeros, spectrum.narrow(axis, modes, modes - 1)), axis)
