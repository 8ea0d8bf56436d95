"""Discrete Fourier transforms that keep only the modes a layer uses, and the product with one channel matrix for each mode.

The spectrum of a real field has modes l ≥ 0 along the last axis, because the others are their conjugates. Along every other
axis it has modes of both signs. `lfno.spectral.axes` defines the number and the order of the kept modes. In shapes, *kept are
the numbers of kept modes along each axis.

A layer can transform some axes once for several operations: `enter` transforms them to signed modes, and `leave` transforms
them back. Between the two calls the field is complex, and the argument `entered` of other functions lists these axes.

`modes` has one entry for each axis. `period` is the number of points of the transform along each axis, by default the size of
the grid. A longer period adds zeros after the last point.

`lfno.backends.fourier` and `lfno.backends.mixing` compute the same functions faster.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import torch
from torch import Tensor

from lfno.spectral.axes import Modes, fill_signed, keep_signed, max_modes


def enter(x: Tensor, modes: Modes, axes: Iterable[int], period: Sequence[int] = ()) -> Tensor:
    """Transform a field (…, *grid) to signed modes along `axes`, which are numbered from the first axis of the grid."""
    for d in axes:
        axis = d - len(modes)
        x = keep_signed(torch.fft.fft(x, n=period[d] if period else x.shape[axis], dim=axis), modes[d], axis)
    return x


def leave(
    spectrum: Tensor, shape: Sequence[int], axes: Sequence[int], real: bool = True, period: Sequence[int] = ()
) -> Tensor:
    """Invert `enter`: transform signed modes along `axes` to points.

    shape: the shape of the grid. Only these first points of each period are returned.
    real: whether to return the real part only.
    """
    for d in axes:
        axis = d - len(shape)
        size = period[d] if period else shape[d]
        spectrum = torch.fft.ifft(fill_signed(spectrum, size, axis), dim=axis).narrow(axis, 0, shape[d])
    return spectrum.real if real and spectrum.is_complex() else spectrum


def to_modes(x: Tensor, modes: Modes, entered: Sequence[int] = (), period: Sequence[int] = ()) -> Tensor:
    """Transform a field x (…, *grid) to complex coefficients α_l = Σ x e^{−iω_l t}, (…, *kept)."""
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

    Axes in `entered` stay in signed modes, and the result is then complex. With a `period` longer than the shape, only the
    first points are returned.
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
    """Return Σ_i α_i(l) R_io(l), (batch, out, *kept): the product with one channel matrix R(l) for each mode l.

    spectrum: α, complex (batch, in, *kept).
    weight: R, complex (in, out, *kept).
    """
    return torch.einsum("bi...,io...->bo...", spectrum, weight)


def twice(size: int, like: Tensor) -> Tensor:
    """Return how often each mode of a half spectrum counts in a full spectrum of `size` modes, (size // 2 + 1,).

    A mode l > 0 counts twice, because the full spectrum also has its conjugate at −l. Mode 0 and the Nyquist mode count once.
    """
    wave = torch.arange(size // 2 + 1, device=like.device)
    # no assignments to single entries: they copy from the host, which a CUDA graph cannot do
    return 2 - ((wave == 0) | (2 * wave == size)).to(like.real.dtype)


def keep_low(spectrum: Tensor, modes: Sequence[int]) -> Tensor:
    """Return the low modes of a half spectrum (…, *kept). modes: K of each axis; the result has the modes |l| < K."""
    low = spectrum[..., : modes[-1]]
    for d in range(2, len(modes) + 1):
        low = keep_signed(low, modes[-d], -d)
    return low


def add_low(spectrum: Tensor, low: Tensor) -> Tensor:
    """Return `spectrum` + `low`, where `low` has fewer modes than the half spectrum `spectrum`."""
    ndim = low.ndim - 2
    low = torch.nn.functional.pad(low, (0, spectrum.shape[-1] - low.shape[-1]))
    for d in range(2, ndim + 1):
        low = fill_signed(low, spectrum.shape[-d], -d)
    return spectrum + low
