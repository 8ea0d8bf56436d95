"""One axis: its frequencies and the modes that are kept along it.

`modes = K` keeps |l| < K. A "half" spectrum then has K modes; the other half is the conjugate. A "signed" spectrum has 2K − 1
modes in the order 0 … K−1, −(K−1) … −1, as in a discrete Fourier transform of 2K − 1 points. `modes = None` keeps all modes.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import torch
from torch import Tensor

Modes = Sequence[int | None]


def angular_frequencies(size: int, step: float, like: Tensor) -> Tensor:
    """ω_l = 2π l / (size · step) in the order of the discrete Fourier transform (rad per unit of `step`)."""
    real = torch.float64 if like.dtype in (torch.float64, torch.complex128) else torch.float32
    # computed in float64, because ω at a high mode would lose digits in float32
    wave = torch.fft.fftfreq(size, step, dtype=torch.float64, device=like.device)
    return (2 * math.pi * wave).to(real)


def wavenumbers(size: int, modes: int | None, half: bool, device: torch.device) -> Tensor:
    """Return the kept integers l along one axis, in storage order."""
    if half:
        return torch.arange(size // 2 + 1 if modes is None else modes, device=device)
    if modes is None:
        return torch.arange(size, device=device)
    return torch.cat((torch.arange(modes, device=device), torch.arange(1 - modes, 0, device=device)))


def max_modes(size: int, half: bool) -> int:
    """Return the largest K for which all modes |l| < K exist on `size` points."""
    return size // 2 + 1 if half else (size + 1) // 2


def keep_signed(spectrum: Tensor, modes: int | None, axis: int) -> Tensor:
    """Keep |l| < modes of a full spectrum along `axis`."""
    if modes is None or 2 * modes - 1 == spectrum.shape[axis]:
        return spectrum
    if modes == 1:
        return spectrum.narrow(axis, 0, 1)
    size = spectrum.shape[axis]
    return torch.cat((spectrum.narrow(axis, 0, modes), spectrum.narrow(axis, size - modes + 1, modes - 1)), axis)


def fill_signed(spectrum: Tensor, size: int, axis: int) -> Tensor:
    """The inverse of `keep_signed`: put zeros where modes were dropped."""
    kept = spectrum.shape[axis]
    if kept == size:
        return spectrum
    modes = (kept + 1) // 2
    shape = list(spectrum.shape)
    shape[axis] = size - kept
    zeros = spectrum.new_zeros(shape)
    return torch.cat((spectrum.narrow(axis, 0, modes), zeros, spectrum.narrow(axis, modes, modes - 1)), axis)
