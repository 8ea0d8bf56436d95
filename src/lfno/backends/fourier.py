"""The Fourier transforms of `lfno.spectral.fourier`, with the faster of two methods for each axis.

One method is a product with a matrix of waves. It computes only the modes that are kept. The other method is a fast Fourier
transform (FFT). The product is faster if an axis has few points. If few modes are kept, it is also faster on a GPU, or if the
axis is padded with zeros.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import torch
from torch import Tensor

from lfno.backends.cache import cached_waves
from lfno.spectral import fourier
from lfno.spectral.axes import Modes, max_modes
from lfno.spectral.fourier import twice
from lfno.spectral.waves import analyse, synthesise

#: up to this period in points, a product is always faster, unless all modes are kept
SHORT = 64
#: largest number of modes for which a product is faster on a GPU or on a padded axis
FEW = 32
#: largest number of entries of a wave matrix if the period is longer than SHORT, 8 MB
LARGE = 2**20


def by_product(period: int, points: int, modes: int | None, x: Tensor) -> bool:
    """Return whether a product is faster than an FFT.

    period: number of points with padding.
    points: number of points without padding.
    modes: number of kept modes; None if all modes are kept.
    x: the field.
    """
    if modes is None:
        return False
    few = modes <= FEW and modes * points <= LARGE
    return period <= SHORT or (few and (x.is_cuda or points < period))


def enter(x: Tensor, modes: Modes, axes: Iterable[int], period: Sequence[int] = ()) -> Tensor:
    """Return the same result as `lfno.spectral.fourier.enter`."""
    for d in axes:
        axis, kept = d - len(modes), modes[d]
        points = x.shape[axis]
        size = period[d] if period else points
        if kept is not None and by_product(size, points, kept, x):
            x = analyse(x, cached_waves(size, points, kept, False, x), axis)
        else:
            x = fourier.enter(x, modes, [d], period)
    return x


def leave(
    spectrum: Tensor, shape: Sequence[int], axes: Sequence[int], real: bool = True, period: Sequence[int] = ()
) -> Tensor:
    """Return the same result as `lfno.spectral.fourier.leave`."""
    for d in axes:
        axis, points = d - len(shape), shape[d]
        kept, size = spectrum.shape[axis], period[d] if period else points
        modes = (kept + 1) // 2
        if kept < size and by_product(size, points, modes, spectrum):
            only = real and d == axes[-1]
            spectrum = synthesise(spectrum, cached_waves(size, points, modes, False, spectrum), axis, size, only)
        else:
            spectrum = fourier.leave(spectrum, shape, [d], real=False, period=period)
    return spectrum.real if real and spectrum.is_complex() else spectrum


def to_modes(x: Tensor, modes: Modes, entered: Sequence[int] = (), period: Sequence[int] = ()) -> Tensor:
    """Return the same result as `lfno.spectral.fourier.to_modes`."""
    last = len(modes) - 1
    period = tuple(period) or x.shape[-len(modes) :]
    others = [d for d in range(last) if d not in entered]
    # products first: they drop modes, so that the FFTs are smaller
    first = [d for d in others if by_product(period[d], x.shape[d - len(modes)], modes[d], x)]
    x = enter(x, modes, first, period)
    done, points, size, low = [*entered, *first], x.shape[-1], period[-1], modes[-1]
    half = max_modes(size, half=True) if low is None else low
    if last not in entered and by_product(size, points, low, x):
        x, done = analyse(x, cached_waves(size, points, half, True, x), -1), [*done, last]
    elif last not in entered and torch.is_grad_enabled() and not (x.is_complex() or torch.compiler.is_compiling()):
        x, done = _Half.apply(x, size), [*done, last]
    return fourier.to_modes(x, modes, done, period)


def from_modes(
    spectrum: Tensor, shape: Sequence[int], entered: Sequence[int] = (), period: Sequence[int] = ()
) -> Tensor:
    """Return the same result as `lfno.spectral.fourier.from_modes`."""
    period = tuple(period) or tuple(shape)
    last, points, size, kept = len(shape) - 1, shape[-1], period[-1], spectrum.shape[-1]
    others = [d for d in range(last) if d not in entered]
    few = kept < max_modes(size, half=True) and by_product(size, points, kept, spectrum)
    if not (entered or few):
        missing = max_modes(size, half=True) - kept
        spectrum = torch.nn.functional.pad(spectrum, (0, missing)) if missing else spectrum
        return real_inverse(leave(spectrum, shape, others, real=False, period=period), size)[..., :points]
    if last in entered or not few:
        spectrum = fourier.from_modes(spectrum, shape, (*entered, *others), period)
    else:
        planes = cached_waves(size, points, kept, True, spectrum)
        spectrum = spectrum * twice(size, spectrum)[:kept]
        spectrum = synthesise(spectrum, planes, -1, size, real=not entered and not others)
    return leave(spectrum, shape, others, real=not entered, period=period)


class _Half(torch.autograd.Function):
    """torch.fft.rfft along the last axis. Its gradient is also a real transform, with half of the modes."""

    generate_vmap_rule = True

    @staticmethod
    def forward(x: Tensor, size: int) -> Tensor:
        return torch.fft.rfft(x, n=size)

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Tensor, int], output: Tensor) -> None:
        ctx.points, ctx.size = inputs[0].shape[-1], inputs[1]

    @staticmethod
    def backward(ctx: Any, g: Tensor) -> tuple[Tensor, None]:
        # the gradient is Re Σ_l g_l e^{iω_l t}; irfft counts most modes twice (see `twice`), so we divide by these counts
        return real_inverse(g / twice(ctx.size, g), ctx.size, norm="forward")[..., : ctx.points], None


def real_inverse(spectrum: Tensor, size: int, norm: str = "backward") -> Tensor:
    """Return torch.fft.irfft along the last axis, for a spectrum with all modes.

    For a real signal, mode 0 and the Nyquist mode are real. On a CPU, torch ignores imaginary parts of these two modes. On a
    GPU, torch 2.11 ignores them in small batches but not in large batches. We therefore set them to zero on a GPU.
    """
    if spectrum.is_cuda:
        spectrum = torch.complex(spectrum.real, spectrum.imag * (twice(size, spectrum) - 1))
    return torch.fft.irfft(spectrum, n=size, norm=norm)
