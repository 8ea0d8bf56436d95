"""Discrete Fourier transforms that keep only the modes a layer uses.

A real field on a grid has, along its last axis, the modes l = 0 … N/2 (the others are their conjugates) and along every
other axis modes of both signs. `modes = K` keeps |l| < K: K modes on the last axis ("half") and 2K − 1 on the others
("signed", in the order 0 … K−1, −(K−1) … −1, which is the order of a discrete Fourier transform of 2K − 1 points).
`modes = None` keeps them all. Transforms run one axis at a time and truncate in between, so dropped modes cost nothing.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

Modes = Sequence[int | None]


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


class _Half(torch.autograd.Function):
    """torch.fft.rfft along the last axis, whose gradient is a transform of half the modes too, not of all of them."""

    generate_vmap_rule = True

    @staticmethod
    def forward(x: Tensor) -> Tensor:
        return torch.fft.rfft(x)

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Tensor], output: Tensor) -> None:
        ctx.size = inputs[0].shape[-1]

    @staticmethod
    def backward(ctx: Any, g: Tensor) -> Tensor:
        # Re Σ_l g_l e^{iω_l t}: irfft counts every mode twice but the first and, of an even size, the last
        once = torch.ones(ctx.size // 2 + 1, dtype=g.real.dtype, device=g.device)
        once[1 : (ctx.size + 1) // 2] = 0.5
        return torch.fft.irfft(g * once, n=ctx.size, norm="forward")


def to_modes(x: Tensor, modes: Modes) -> Tensor:
    """Real (…, *grid) → complex (…, *kept): coefficients α_l = Σ x e^{−iω_l t}, one entry of `modes` per axis."""
    spectrum = _Half.apply(x) if torch.is_grad_enabled() and not torch.compiler.is_compiling() else torch.fft.rfft(x)
    if modes[-1] is not None:
        spectrum = spectrum[..., : modes[-1]]
    for d in range(2, len(modes) + 1):
        spectrum = keep_signed(torch.fft.fft(spectrum, dim=-d), modes[-d], -d)
    return spectrum


def from_modes(spectrum: Tensor, shape: Sequence[int]) -> Tensor:
    """Complex (…, *kept) → real (…, *shape): the real field with these coefficients and no others."""
    for d in range(len(shape), 1, -1):
        spectrum = torch.fft.ifft(fill_signed(spectrum, shape[-d], -d), dim=-d)
    return torch.fft.irfft(spectrum, n=shape[-1], dim=-1)


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


def mix_channels(spectrum: Tensor, weight: Tensor) -> Tensor:
    """Σ_i α_i(l) R_io(l): the Fourier integral operator, one channel matrix for each mode.

    `spectrum` is (batch, in, *kept) and `weight` (in, out, *kept), both complex; the result is (batch, out, *kept).
    """
    return torch.einsum("bi...,io...->bo...", spectrum, weight)
