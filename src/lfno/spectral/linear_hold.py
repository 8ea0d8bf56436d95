"""The coefficients of a layer as a recurrence, for the most frequent case: real signals, linear hold, shared poles.

The input u is a real signal without axes of space, cut into chunks of L samples. u is linear between samples. All pairs of
channels share the poles μ and have their own residues β.

Let z = μ dt, φ₁ = (e^z − 1)/z and φ₂ = (φ₁ − 1)/z. In `lfno.spectral.hold`, x[n+1] = e^z x[n] + b_0 u[n+1] + b_1 u[n] with
b_0 = dt φ₂. We define c = b_1 + e^z b_0 = dt φ₁². The state ξ[n] = x[n] − b_0 u[n] and the response y of the layer are

    ξ[n+1] = e^z ξ[n] + c u[n],     ξ[0] = −b_0 u[0],     y[n] = W u[n] + Re Σ β (ξ[n] + b_0 u[n]).

W is the channel map of the layer.

Coefficients are computed in double precision and rounded to the precision of the residues.
"""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor

from lfno.spectral.hold import phi_functions, powers
from lfno.spectral.tables import CHUNK


class Coefficients(NamedTuple):
    """Coefficients of S layers with M poles each. "planes" is an axis of length 2: real part, imaginary part.

    lags: the response to the input τ samples before, (S, L, out, in): W + Re Σ β b_0 for τ = 0, else Re Σ β c e^{(τ−1)z}.
    excite: what sample k of a chunk adds to ξ after the chunk, c e^{(L−1−k)z}: (S, M·planes, L).
    first: the initial ξ divided by the first sample, −b_0: (S, M·planes).
    mix: the residues, (S, M, 2·out, 2·in). They map both planes of ξ to both planes of w = Σ_i β_i ξ_i.
    ring: the response to w at sample l of a chunk, Re e^{lz} w: (S, L, M·planes).
    step: the factor of ξ from chunk to chunk, e^{Lz}: (S, M, planes).
    """

    lags: Tensor
    excite: Tensor
    first: Tensor
    mix: Tensor
    ring: Tensor
    step: Tensor


def coefficients(poles: Tensor, residues: Tensor, weight: Tensor, dt: float, chunk: int = CHUNK) -> Coefficients:
    """Return the coefficients of S layers.

    poles: complex (S, M).
    residues: complex (S, in, out, M).
    weight: W, real (S, out, in). The layer adds W u[n] to the response at every sample n.
    dt: the sampling step.
    chunk: L.
    """
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
        excite=torch.stack((added.real, added.imag), 2).flatten(1, 2).flip(-1).to(dtype),
        first=-torch.stack((direct.real, direct.imag), 2).flatten(1).to(dtype),
        mix=torch.cat((torch.cat((beta.real, beta.imag), -2), torch.cat((-beta.imag, beta.real), -2)), -1),
        ring=torch.stack((ring.real, -ring.imag), -1).flatten(-2).to(dtype),
        step=torch.stack((decay[..., chunk].real, decay[..., chunk].imag), -1).to(dtype),
    )
