"""A recurrence from rest as one convolution, for short windows on a GPU.

A GPU computes a few large products faster than many small products.

Let h be the impulse response of a pole (`lfno.spectral.hold`). The state of a recurrence from rest is

    x[n] = Σ_{k≤n} h[k] u[n−k]  +  Σ_{j=1,2} (h[n+j] − e^{nz} h[j]) u[−j]  −  e^{nz} h[0] u[0].

The first sum is a convolution, computed by Fourier transforms of twice the length. The other terms come from the initial state.
u[−1] = 2 u[0] − u[1] and u[−2] = 3 u[0] − 2 u[1] continue the line through the first two samples. A linear hold does not use
u[−1] and u[−2].
"""

from __future__ import annotations

import torch
from torch import Tensor

from lfno.backends.mixing import mix_channels
from lfno.spectral.hold import HOLDS, impulse_response, powers


def convolve(u: Tensor, poles: Tensor, residues: Tensor, dt: float, hold: str = "linear") -> Tensor:
    """Return the response of `lfno.spectral.recurrence.respond` for shared poles, equal up to rounding errors.

    u: (batch, in, *modes, time); real, or complex in spatial Fourier modes.
    poles: complex (M,).
    residues: complex (in, out, *modes, M).
    dt: sampling step.
    hold: interpolation of u between samples.
    Returns (batch, out, *modes, time), real or complex like u.

    >>> from lfno.spectral.recurrence import respond
    >>> u, pole = torch.randn(1, 1, 50, dtype=torch.float64), torch.tensor([-2.0 + 3.0j], dtype=torch.complex128)
    >>> one = torch.ones(1, 1, 1, dtype=torch.complex128)
    >>> torch.allclose(convolve(u, pole, one, 0.1, "cubic"), respond(u, pole, one, 0.1, "cubic"))
    True
    """
    size, reach = u.shape[-1], len(HOLDS[hold]) - 2
    response = impulse_response(poles, dt, hold, size + reach)
    decay = powers(poles, dt, torch.arange(size, device=poles.device))

    def weigh(values: Tensor) -> Tensor:
        """Return Σ_m β_m values_m[n] (in, out, *modes, time) for values (M, time); only the real part if u is real."""
        sums = residues.to(torch.complex128) @ values
        return (sums if u.is_complex() else sums.real).to(u.dtype)

    forward, inverse = (torch.fft.fft, torch.fft.ifft) if u.is_complex() else (torch.fft.rfft, torch.fft.irfft)
    mixed = mix_channels(forward(u, n=2 * size), forward(weigh(response[:, :size]), n=2 * size))
    # contributions of the first sample, and with a cubic hold of the second sample, through the initial state
    first, second = -decay * response[:, :1], torch.zeros_like(decay)
    for j in range(1, reach + 1):
        late = response[:, j : j + size] - decay * response[:, j : j + 1]
        first, second = first + (j + 1) * late, second - j * late
    start = torch.einsum("bi...,io...n->bo...n", u[..., 0], weigh(first))
    if reach and size > 1:
        start = start + torch.einsum("bi...,io...n->bo...n", u[..., 1], weigh(second))
    return inverse(mixed, n=2 * size)[..., :size] + start
