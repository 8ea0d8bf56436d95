"""Discrete Fourier transforms that keep only the modes a layer uses.

A real field on a grid has, along its last axis, the modes l = 0 … N/2 (the others are their conjugates) and along every
other axis modes of both signs; how many are kept, and in which order, says `lfno.spectral.axes`. Transforms run one axis at
a time and truncate in between, so dropped modes cost nothing.

A layer may have `entered` some axes already: its field is then complex there, in signed modes, and only its real part after
leaving them counts. See `enter` and `leave`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from lfno.spectral.axes import Modes, fill_signed, keep_signed, max_modes
from lfno.spectral.waves import analyse, by_product, enter, leave, synthesise, waves


class _Half(torch.autograd.Function):
    """torch.fft.rfft along the last axis, whose gradient is a transform of half the modes too, not of all of them."""

    generate_vmap_rule = True

    @staticmethod
    def forward(x: Tensor, size: int) -> Tensor:
        return torch.fft.rfft(x, n=size)

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Tensor, int], output: Tensor) -> None:
        ctx.points, ctx.size = inputs[0].shape[-1], inputs[1]

    @staticmethod
    def backward(ctx: Any, g: Tensor) -> tuple[Tensor, None]:
        # Re Σ_l g_l e^{iω_l t}: irfft counts every mode twice but the first and, of an even size, the last
        return real_inverse(g / twice(ctx.size, g), ctx.size, norm="forward")[..., : ctx.points], None


def twice(size: int, like: Tensor) -> Tensor:
    """How often a mode of a half spectrum stands for itself and its conjugate: 1, 2, 2, …, and 1 at the Nyquist mode."""
    wave = torch.arange(size // 2 + 1, device=like.device)
    # made without writing single entries: that copies from the host, which a CUDA graph refuses
    return 2 - ((wave == 0) | (2 * wave == size)).to(like.real.dtype)


def real_inverse(spectrum: Tensor, size: int, norm: str = "backward") -> Tensor:
    """torch.fft.irfft along the last axis, all modes given.

    In a real signal the imaginary parts of mode 0 and of the Nyquist mode have no place. A CPU ignores them; a GPU does so
    in small batches and adds them up in large ones (torch 2.11), so there they are taken out.
    """
    if spectrum.is_cuda:
        spectrum = torch.complex(spectrum.real, spectrum.imag * (twice(size, spectrum) - 1))
    return torch.fft.irfft(spectrum, n=size, norm=norm)


def to_modes(x: Tensor, modes: Modes, entered: Sequence[int] = (), period: Sequence[int] = ()) -> Tensor:
    """(…, *grid) → complex (…, *kept): coefficients α_l = Σ x e^{−iω_l t}, one entry of `modes` per axis.

    With a `period` longer than the grid on some axes, those of the field with zeros after its last point.
    """
    last = len(modes) - 1
    period = tuple(period) or x.shape[-len(modes) :]
    others = [d for d in range(last) if d not in entered]
    first = [d for d in others if by_product(period[d], x.shape[d - len(modes)], modes[d], x)]
    x = enter(x, modes, first, period)
    points, size, low = x.shape[-1], period[-1], modes[-1]
    half = max_modes(size, half=True) if low is None else low
    if last in entered:
        x = x[..., :half]
    elif by_product(size, points, low, x):
        x = analyse(x, waves(size, points, half, True, x), -1)
    elif x.is_complex():
        x = torch.fft.fft(x, n=size)[..., :half]
    else:
        plain = torch.compiler.is_compiling() or not torch.is_grad_enabled()
        x = (torch.fft.rfft(x, n=size) if plain else _Half.apply(x, size))[..., :half]
    return enter(x, modes, [d for d in others if d not in first], period)


def from_modes(
    spectrum: Tensor, shape: Sequence[int], entered: Sequence[int] = (), period: Sequence[int] = ()
) -> Tensor:
    """Complex (…, *kept) → the real field (…, *shape) with these coefficients and no others; still entered if it was.

    With a `period` longer than the shape, the first points of the field that repeats after it.
    """
    period = tuple(period) or tuple(shape)
    last, points, size, kept = len(shape) - 1, shape[-1], period[-1], spectrum.shape[-1]
    others = [d for d in range(last) if d not in entered]
    few = kept < max_modes(size, half=True) and by_product(size, points, kept, spectrum)
    if not (entered or few):
        missing = max_modes(size, half=True) - kept
        spectrum = torch.nn.functional.pad(spectrum, (0, missing)) if missing else spectrum
        return real_inverse(leave(spectrum, shape, others, real=False, period=period), size)[..., :points]
    # one-sided: the missing half is what taking the real part adds in the end
    spectrum = spectrum * twice(size, spectrum)[:kept]
    if last in entered:
        spectrum = torch.nn.functional.pad(spectrum, (0, kept - 1))
    elif few:
        planes = waves(size, points, kept, True, spectrum)
        spectrum = synthesise(spectrum, planes, -1, size, real=not entered and not others)
    else:
        spectrum = torch.fft.ifft(spectrum, n=size)[..., :points]
    return leave(spectrum, shape, others, real=not entered, period=period)


def keep_low(spectrum: Tensor, modes: Sequence[int]) -> Tensor:
    """The modes |l| < K of a half spectrum (…, *kept) that has at least those."""
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
