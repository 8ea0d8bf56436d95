"""The coefficients of recurrences with the linear hold and shared poles, for real signals in chunks of L samples.

With z = μ dt, φ₁ = (e^z − 1)/z and φ₂ = (φ₁ − 1)/z the linear hold gives b_0 = dt φ₂ and b_1 + e^z b_0 = dt φ₁² = c. The
state ξ[n] = x[n] − b_0 u[n] of `lfno.spectral.recurrence` then follows

    ξ[n+1] = e^z ξ[n] + c u[n],     ξ[0] = −b_0 u[0],     y[n] = Re Σ β (ξ[n] + b_0 u[n]).

Coefficients are computed in double precision and rounded to the precision of the residues.
"""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor

from lfno.spectral.hold import phi_functions, powers
from lfno.spectral.tables import CHUNK


class Coefficients(NamedTuple):
    """M poles and chunks of L samples, for each of S layers; "planes" is an axis (re, im).

    lags: (S, L, out, in), the response of outputs to inputs τ samples before: W + Re Σ β b_0, then Re Σ β c e^{(τ−1)z}.
    excite: (S, planes·M, L), what every sample of a chunk adds to ξ after the chunk: c e^{(L−1−k)z}.
    first: (S, planes·M), from the first sample of a signal to ξ: −b_0.
    mix: (S, planes, M, 2·out, in), the residues: from a plane of ξ to both planes of Σ_i β_i ξ_i.
    ring: (S, L, M·planes), from the mixed ξ to the response that it causes in a chunk: Re e^{lz}.
    step: (S, planes, M), the factor of ξ from chunk to chunk: e^{Lz}.
    """

    lags: Tensor
    excite: Tensor
    first: Tensor
    mix: Tensor
    ring: Tensor
    step: Tensor


def coefficients(poles: Tensor, residues: Tensor, weight: Tensor, dt: float, chunk: int = CHUNK) -> Coefficients:
    """Coefficients from complex poles (S, M) and residues (S, in, out, M), and real maps at every point W (S, out, in)."""
    dtype = residues.real.dtype
    phi = phi_functions(poles.to(torch.complex128) * dt, 2)
    direct, gain = dt * phi[1], dt * phi[0] ** 2
    decay = powers(poles, dt, torch.arange(chunk + 1, device=poles.device))
    added = gain[..., None] * decay[..., :chunk]
    response = torch.cat((direct[..., None], added[..., :-1]), -1)
    lags = (residues.to(torch.complex128) @ response[:, None]).real.permute(0, 3, 2, 1).to(dtype)
    beta, ring = residues.permute(0, 3, 2, 1), decay[..., :chunk].mT
    return Coefficients(
        lags=torch.cat((lags[:, :1] + weight[:, None], lags[:, 1:]), 1),
        excite=torch.cat((added.real, added.imag), 1).flip(-1).to(dtype),
        first=-torch.cat((direct.real, direct.imag), 1).to(dtype),
        mix=torch.stack((torch.cat((beta.real, beta.imag), -2), torch.cat((-beta.imag, beta.real), -2)), 1),
        ring=torch.stack((ring.real, -ring.imag), -1).flatten(-2).to(dtype),
        step=torch.stack((decay[..., chunk].real, decay[..., chunk].imag), 1).to(dtype),
    )
