"""One axis at a time: the modes that are kept along it, and the way there and back.

`modes = K` keeps |l| < K: K modes of a "half" spectrum, whose other half is the conjugate, or 2K − 1 "signed" ones, in the
order 0 … K−1, −(K−1) … −1, which is the order of a discrete Fourier transform of 2K − 1 points. `modes = None` keeps all.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

import torch
from torch import Tensor

Modes = Sequence[int | None]

#: along an axis of at most so many points a few modes are a matrix product, which needs no copies and no dropped modes
SHORT = 64


def by_product(size: int, modes: int | None) -> bool:
    return modes is not None and size <= SHORT


def angular_frequencies(size: int, step: float, like: Tensor) -> Tensor:
    """ω_l = 2π l / (size · step) in the order of the discrete Fourier transform (rad per unit of `step`)."""
    real = torch.float64 if like.dtype in (torch.float64, torch.complex128) else torch.float32
    # computed in float64: ω at a high mode loses digits otherwise
    wave = torch.fft.fftfreq(size, step, dtype=torch.float64, device=like.device)
    return (2 * math.pi * wave).to(real)


def wavenumbers(size: int, modes: int | None, half: bool, device: torch.device) -> Tensor:
    """The integers l that are kept along one axis, in storage order."""
    if half:
        return torch.arange(size // 2 + 1 if modes is None else modes, device=device)
    if modes is None:
        return torch.arange(size, device=device)
    return torch.cat((torch.arange(modes, device=device), torch.arange(1 - modes, 0, device=device)))


def max_modes(size: int, half: bool) -> int:
    """The largest K whose modes |l| < K exist on `size` points."""
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


def exponentials(size: int, wave: Tensor, sign: int, like: Tensor) -> Tensor:
    """e^{± 2πi l n / size}, (kept, size)."""
    real = torch.float64 if like.dtype in (torch.float64, torch.complex128) else torch.float32
    turns = torch.outer(wave, torch.arange(size, device=like.device)) % size
    angle = (sign * 2 * math.pi / size * turns.double()).to(real)
    return torch.polar(torch.ones_like(angle), angle)


def along(matrix: Tensor, x: Tensor, axis: int, real: bool = False) -> Tensor:
    """Σ_n M_kn x_n along an axis counted from the end; complex M, real or complex x, `real` for the real part alone."""
    before, after = x.shape[:axis], x.shape[x.ndim + axis + 1 :]
    lines = x.reshape(-1, x.shape[-1]) if axis == -1 else x.reshape(math.prod(before), x.shape[axis], math.prod(after))
    if not x.is_complex():
        matrix = torch.cat((matrix.real, matrix.imag))
    elif real:
        matrix, lines = torch.cat((matrix.real, -matrix.imag), 1), torch.cat((lines.real, lines.imag), 1)
    out = lines @ matrix.T if axis == -1 else torch.bmm(matrix.expand(lines.shape[0], -1, -1), lines)
    if not x.is_complex():
        out = torch.complex(*out.chunk(2, 1))
    return out.reshape(*before, out.shape[1], *after)


def enter(x: Tensor, modes: Modes, axes: Iterable[int]) -> Tensor:
    """(…, *grid) → signed modes along `axes`, of short ones by a product with the exponentials that are kept."""
    for d in axes:
        axis, size = d - len(modes), x.shape[d - len(modes)]
        if by_product(size, modes[d]):
            x = along(exponentials(size, wavenumbers(size, modes[d], False, x.device), -1, x), x, axis)
        else:
            x = keep_signed(torch.fft.fft(x, dim=axis), modes[d], axis)
    return x


def leave(spectrum: Tensor, shape: Sequence[int], axes: Sequence[int], real: bool = True) -> Tensor:
    """The inverse of `enter`, and of what comes out the real part if that was all."""
    for d in axes:
        axis, size = d - len(shape), shape[d]
        kept = spectrum.shape[axis]
        if by_product(size, None if kept == size else kept):
            wave = wavenumbers(size, (kept + 1) // 2, False, spectrum.device)
            matrix = exponentials(size, wave, 1, spectrum).T / size
            spectrum = along(matrix, spectrum, axis, real and d == axes[-1])
        else:
            spectrum = torch.fft.ifft(fill_signed(spectrum, size, axis), dim=axis)
    return spectrum.real if real and spectrum.is_complex() else spectrum
