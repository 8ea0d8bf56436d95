"""Direct computations of the formulas, without optimisation. Tests compare the fast functions with them."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from typing import Any

import torch
from torch import Tensor

from lfno.spectral.axes import angular_frequencies, wavenumbers
from lfno.spectral.hold import taps


def respond_by_samples(u: Tensor, poles: Tensor, residues: Tensor, dt: float, hold: str = "linear") -> Tensor:
    """Return the result of `lfno.spectral.recurrence.respond`, computed one sample after the other.

    x[n+1] = e^{μ dt} x[n] + Σ_j b_j u[n+1−j] with x[0] = 0. y = Σ β x for a complex u, and y = Re Σ β x for a real u.
    """
    if poles.ndim == 3:  # add axes of length 1 for the modes: all modes share the poles
        poles = poles.reshape(*poles.shape[:2], *(1,) * (u.ndim - 3), poles.shape[2])
    b, decay = taps(poles, dt, hold), torch.exp(poles * dt)
    first, second = u[..., 0], u[..., min(1, u.shape[-1] - 1)]
    # the last two entries are u[−2] and u[−1], on the line through the first two samples
    samples = [u[..., n] for n in range(u.shape[-1])] + [3 * first - 2 * second, 2 * first - second]
    x = 0 * decay * samples[0][:, :, None, ..., None]
    outputs = []
    for n in range(u.shape[-1]):
        if n:
            x = decay * x + sum(tap * samples[n - j][:, :, None, ..., None] for j, tap in enumerate(b))
        outputs.append((residues * x).sum((1, -1)))  # over input channels and poles
    y = torch.stack(outputs, -1)
    return y if u.is_complex() else y.real


def dense_terms(
    x: Tensor, poles: Sequence[Tensor | None], residues: Tensor, steps: Sequence[float]
) -> dict[tuple[bool, ...], Tensor]:
    """Return every term of the pole–residue transform; `lfno.spectral.pole_residue` explains symbols and arguments.

        (1/N) Re Σ_l Σ_m α_l β_m Π_d (S_d or T_d),      S = e^{iωt}/(iω − μ),   T = e^{μt}/(μ − iω)

    The key of a term says for every axis whether the term has T (True) or S (False). On a Fourier axis S is e^{iωx}, T is
    zero, and dropped modes have the residue zero. Unlike the fast functions, this function computes the tensor of all
    frequencies, channel pairs and poles.
    """
    grid, kind = x.shape[2:], residues.dtype
    alpha = torch.fft.fftn(x, dim=tuple(range(2, x.ndim))).to(kind)
    # einsum indices: samples b, input channels i, output channels o; for each axis frequencies l, poles m and points t
    b, i, o = 0, 1, 2
    l, m, t = ([3 + 3 * d + k for d in range(len(grid))] for k in range(3))
    terms = {}
    for decays in product((False, True), repeat=len(grid)):
        if any(decay and mu is None for decay, mu in zip(decays, poles, strict=True)):
            continue
        factors: list[Any] = [alpha, [b, i, *l], residues, [i, o, *m]]
        for d, (mu, size, step) in enumerate(zip(poles, grid, steps, strict=True)):
            time = step * torch.arange(size, dtype=torch.float64)
            omega = angular_frequencies(size, step, time)
            if mu is None:
                wave = wavenumbers(size, (residues.shape[2 + d] + 1) // 2, half=False, device=x.device) % size
                factors += [(torch.arange(size)[:, None] == wave).to(kind), [l[d], m[d]]]
            else:
                gain = 1 / (1j * omega - mu.expand(*residues.shape[:2], -1)[..., None])
                factors += [-gain if decays[d] else gain, [i, o, m[d], l[d]]]
            if mu is not None and decays[d]:
                factors += [torch.exp(mu.expand(*residues.shape[:2], -1)[..., None] * time).to(kind), [i, o, m[d], t[d]]]
            else:
                factors += [torch.exp(1j * omega[:, None] * time).to(kind), [l[d], t[d]]]
        factors[4::2] = [factor.to(kind) for factor in factors[4::2]]
        terms[decays] = torch.einsum(*factors, [b, o, *t]).real / grid.numel()
    return terms
