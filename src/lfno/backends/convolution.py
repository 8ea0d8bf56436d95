"""A recurrence from rest as one convolution, for short windows on a GPU.

A GPU computes a few large products faster than many small products.

Let h be the impulse response of a pole μ, z = μ dt, and u the input (`lfno.spectral.hold`). The state of the recurrence is

    x[n] = Σ_{k≤n} h[k] u[n−k]  +  Σ_{j=1,2} (h[n+j] − e^{nz} h[j]) u[−j]  −  e^{nz} h[0] u[0].

The first sum is a convolution. We compute it by Fourier transforms of twice the length. The other terms are the response to the
samples before u[0] and to the condition x[0] = 0. u[−1] = 2 u[0] − u[1] and u[−2] = 3 u[0] − 2 u[1] continue the line through
the first two samples. With a linear hold, there is no sum over j.
"""

from __future__ import annotations

import torch
from torch import Tensor

from lfno.backends.mixing import mix_channels
from lfno.spectral.hold import HOLDS, impulse_response, powers


def convolve(u: Tensor, poles: Tensor, residues: Tensor, dt: float, hold: str = "linear") -> Tensor:
    """Return the same response as `lfno.spectral.recurrence.respond`, for poles that all channels share.

    u: the input, (batch, in, *modes, time); real, or complex in spatial Fourier modes.
    poles: complex (M,).
    residues: complex (in, out, *modes, M).
    dt: sampling step.
    hold: interpolation of u between samples, "linear" or "cubic".

    The result is (batch, out, *modes, time). It is complex if u is complex.

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
        """Return Σ_m β_m values_m[n], (in, out, *modes, time), for values (M, time). If u is real, return the real part."""
        sums = residues.to(torch.complex128) @ values
        return (sums if u.is_complex() else sums.real).to(u.dtype)

    forward, inverse = (torch.fft.fft, torch.fft.ifft) if u.is_complex() else (torch.fft.rfft, torch.fft.irfft)
    mixed = mix_channels(forward(u, n=2 * size), forward(weigh(response[:, :size]), n=2 * size))
    # the initial state depends on the first sample, and with a cubic hold also on the second sample
    first, second = -decay * response[:, :1], torch.zeros_like(decay)
    for j in range(1, reach + 1):
        late = response[:, j : j + size] - decay * response[:, j : j + 1]
        first, second = first + (j + 1) * late, second - j * late
    start = torch.einsum("bi...,io...n->bo...n", u[..., 0], weigh(first))
    if reach and size > 1:
        start = start + torch.einsum("bi...,io...n->bo...n", u[..., 1], weigh(second))
    return inverse(mixed, n=2 * size)[..., :size] + start
