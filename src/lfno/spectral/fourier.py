"""Discrete Fourier transforms that keep only the modes a layer uses, and the product with one channel matrix per mode.

A real field on a grid has, along its last axis, the modes l = 0 … N/2 (the others are their conjugates) and along every
other axis modes of both signs. `lfno.spectral.axes` defines how many modes are kept, and in which order.

An axis that a layer has `entered` is already in signed modes, and the field is complex. The real part is taken when the field
leaves the axis. See `enter` and `leave`.

`lfno.backends.fourier` and `lfno.backends.mixing` compute the same functions faster.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import torch
from torch import Tensor

from lfno.spectral.axes import Modes, fill_signed, keep_signed, max_modes


def enter(x: Tensor, modes: Modes, axes: Iterable[int], period: Sequence[int] = ()) -> Tensor:
    """Transform (…, *grid) to signed modes along `axes`. A longer `period` adds zeros after the last point."""
    for d in axes:
        axis = d - len(modes)
        x = keep_signed(torch.fft.fft(x, n=period[d] if period else x.shape[axis], dim=axis), modes[d], axis)
    return x


def leave(
    spectrum: Tensor, shape: Sequence[int], axes: Sequence[int], real: bool = True, period: Sequence[int] = ()
) -> Tensor:
    """Invert `enter`: return the first points of the field that repeats after `period`; `real`: its real part."""
    for d in axes:
        axis = d - len(shape)
        size = period[d] if period else shape[d]
        spectrum = torch.fft.ifft(fill_signed(spectrum, size, axis), dim=axis).narrow(axis, 0, shape[d])
    return spectrum.real if real and spectrum.is_complex() else spectrum


def to_modes(x: Tensor, modes: Modes, entered: Sequence[int] = (), period: Sequence[int] = ()) -> Tensor:
    """Transform (…, *grid) to complex coefficients α_l = Σ x e^{−iω_l t}, (…, *kept); one entry of `modes` per axis.

    A `period` longer than the grid adds zeros after the last point of an axis.
    """
    last = len(modes) - 1
    period = tuple(period) or x.shape[-len(modes) :]
    half = max_modes(period[-1], half=True) if modes[-1] is None else modes[-1]
    if last not in entered:
        x = torch.fft.fft(x, n=period[-1]) if x.is_complex() else torch.fft.rfft(x, n=period[-1])
    return enter(x[..., :half], modes, [d for d in range(last) if d not in entered], period)


def from_modes(
    spectrum: Tensor, shape: Sequence[int], entered: Sequence[int] = (), period: Sequence[int] = ()
) -> Tensor:
    """Transform complex coefficients (…, *kept) to the real field (…, *shape) that has these coefficients and no others.

    Axes that were entered stay entered. With a `period` longer than the shape, return the first points of the field that
    repeats after it.
    """
    period = tuple(period) or tuple(shape)
    last, points, size, kept = len(shape) - 1, shape[-1], period[-1], spectrum.shape[-1]
    others = [d for d in range(last) if d not in entered]
    # the modes l < 0 are missing: the modes l > 0 are doubled, and the real part is taken at the end
    spectrum = spectrum * twice(size, spectrum)[:kept]
    if last in entered:
        spectrum = torch.nn.functional.pad(spectrum, (0, kept - 1))
    else:
        spectrum = torch.fft.ifft(spectrum, n=size)[..., :points]
    return leave(spectrum, shape, others, real=not entered, period=period)


def mix_channels(spectrum: Tensor, weight: Tensor) -> Tensor:
    """Σ_i α_i(l) R_io(l): the Fourier integral operator, one channel matrix for each mode.

    spectrum: complex (batch, in, *kept). weight: complex (in, out, *kept). Returns (batch, out, *kept).
    """
    return torch.einsum("bi...,io...->bo...", spectrum, weight)


def twice(size: int, like: Tensor) -> Tensor:
    """Return the weight of each mode of a half spectrum, for itself and its conjugate: 1, 2, 2, …, and 1 at the Nyquist mode.
    """
    wave = torch.arange(size // 2 + 1, device=like.device)
    # written without assignments to single entries, because a CUDA graph cannot copy from the host
    return 2 - ((wave == 0) | (2 * wave == size)).to(like.real.dtype)


def keep_low(spectrum: Tensor, modes: Sequence[int]) -> Tensor:
    """Return the modes |l| < K of a half spectrum (…, *kept) with at least these modes."""
    low = spectrum[..., : modes[-1]]
    for d in range(2, len(modes) + 1):
        low = keep_signed(low, modes[-d], -d)
    return low


def add_low(spectrum: Tensor, low: Tensor) -> Tensor:
    """Add coefficients at low modes to a half spectrum that has more."""
    ndim = low.ndim - 2
    low = torch.nn.functional.pad(low, (0, spectrum.shape[-1] - low.shape[-1]))
    for d in range(2, ndim + 1):
        low = fill_signed(low, spectrum.shape[-d], -d)
    return spectrum + low
