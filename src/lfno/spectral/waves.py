"""One axis at a time: from points to modes and back.

A transform is a matrix product with the waves e^{−2πi l n / P} where that is faster: it needs no copies and makes no modes that
are dropped. It is with few points, and with few modes on a GPU or of a long period (see below). Otherwise it is a fast one.

The period P may be longer than the axis: the points that are missing are zero on the way to the modes, and are not asked for
on the way back.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any

import torch
from torch import Tensor

from lfno.spectral.axes import Modes, fill_signed, keep_signed, wavenumbers

#: points of an axis, or modes on many points, that are few enough; and numbers of a matrix that are not too many
SHORT, FEW, LARGE = 64, 32, 2**20
MOST = 32  # matrices that are kept: more than one run needs, since a captured graph goes on reading its own

_KEPT: dict[tuple[Any, ...], Tensor] = {}


def by_product(period: int, points: int, modes: int | None, x: Tensor) -> bool:
    """Whether a product is faster than a fast transform; `modes` is None where all of them are kept."""
    if modes is None:
        return False
    few = modes <= FEW and modes * points <= LARGE
    return period <= SHORT or (few and (x.is_cuda or points < period))


def waves(period: int, points: int, modes: int, half: bool, like: Tensor) -> Tensor:
    """The real and the imaginary part of e^{−2πi l n / P} at the kept modes l and the points n: (2, kept, points)."""
    double = like.dtype in (torch.float64, torch.complex128)
    given = (period, points, modes, half, torch.float64 if double else torch.float32, like.device)
    if torch.compiler.is_compiling():
        return make_waves(*given)
    known = _KEPT.get(given)
    if known is not None:
        return known
    with torch.inference_mode(False):  # what is kept must serve training too
        made = make_waves(*given)
    if lasting(made):
        while len(_KEPT) >= MOST:
            _KEPT.pop(next(iter(list(_KEPT))), None)
        _KEPT[given] = made
    return made


def make_waves(
    period: int, points: int, modes: int | None, half: bool, real: torch.dtype, device: torch.device
) -> Tensor:
    """`waves` anew; all modes where `modes` is None."""
    wave = wavenumbers(period, modes, half, device)
    # whole turns are taken off as integers: the angle has all its digits
    angle = -2 * math.pi / period * (torch.outer(wave, torch.arange(points, device=device)) % period).double()
    return torch.stack((torch.cos(angle), torch.sin(angle))).to(real)


def lasting(values: Tensor) -> bool:
    """Whether a tensor may be kept: numbers of its own, not those of a transformation that will be over."""
    return type(values) is Tensor and not torch._C._functorch.is_functorch_wrapped_tensor(values)


def analyse(x: Tensor, planes: Tensor, axis: int) -> Tensor:
    """Points → modes along an axis counted from the end, of a real or a complex field."""
    if x.is_complex():
        return _along(torch.complex(*planes), x, axis)
    both = _along(planes.flatten(0, 1), x, axis)
    return torch.complex(*both.chunk(2, axis))


def synthesise(spectrum: Tensor, planes: Tensor, axis: int, period: int, real: bool) -> Tensor:
    """Modes → points along an axis counted from the end; `real`: of the result only that part."""
    spectrum = spectrum / period
    if not real:
        return _along(torch.complex(planes[0], -planes[1]).T, spectrum, axis)
    return _along(planes.flatten(0, 1).T, torch.cat((spectrum.real, spectrum.imag), axis), axis)


def _along(matrix: Tensor, x: Tensor, axis: int) -> Tensor:
    """Σ_n M_kn x_n along an axis counted from the end, matrix and field both real or both complex."""
    before, after = x.shape[:axis], x.shape[x.ndim + axis + 1 :]
    if axis == -1:
        return (x.reshape(-1, x.shape[-1]) @ matrix.T).unflatten(0, before)
    lines = x.reshape(math.prod(before), x.shape[axis], math.prod(after))
    return torch.bmm(matrix.expand(lines.shape[0], -1, -1), lines).reshape(*before, matrix.shape[0], *after)


def enter(x: Tensor, modes: Modes, axes: Iterable[int], period: Sequence[int] = ()) -> Tensor:
    """(…, *grid) → signed modes along `axes`."""
    for d in axes:
        axis, kept = d - len(modes), modes[d]
        points = x.shape[axis]
        size = period[d] if period else points
        if kept is not None and by_product(size, points, kept, x):
            x = analyse(x, waves(size, points, kept, False, x), axis)
        else:
            x = keep_signed(torch.fft.fft(x, n=size, dim=axis), kept, axis)
    return x


def leave(
    spectrum: Tensor, shape: Sequence[int], axes: Sequence[int], real: bool = True, period: Sequence[int] = ()
) -> Tensor:
    """The inverse of `enter`, and of what comes out the real part if that was all."""
    for d in axes:
        axis, points = d - len(shape), shape[d]
        kept, size = spectrum.shape[axis], period[d] if period else points
        modes = (kept + 1) // 2
        if kept < size and by_product(size, points, modes, spectrum):
            only = real and d == axes[-1]
            spectrum = synthesise(spectrum, waves(size, points, modes, False, spectrum), axis, size, only)
        else:
            spectrum = torch.fft.ifft(fill_signed(spectrum, size, axis), dim=axis).narrow(axis, 0, points)
    return spectrum.real if real and spectrum.is_complex() else spectrum
