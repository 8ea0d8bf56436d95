"""Layers on fields whose space has a real basis (sine, cosine, Chebyshev): one recurrence along time for each mode of space.

This is modal analysis in a layer. With the modes a_k(t) of the field v(x, t) in the basis φ_k (see `lfno.spectral.bases`),

    response(x, t) = Σ_k φ_k(x) (h_k ∗ a_k)(t),      h_k(t) = Re Σ_m β_km e^{μ_m t}.

Sines vanish at fixed ends and cosines have zero slope at free ends. The response therefore satisfies the same conditions. No
axis of space is padded or wraps around. All modes share the poles, and each mode has its own residues.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

import torch
from torch import Tensor, nn

from lfno.backends.mixing import mix_channels
from lfno.models.fourier_weights import FourierWeights, as_complex
from lfno.models.kernel import PoleResidue
from lfno.models.recurrences import Recurrence
from lfno.models.terms import RecurrentTerm, TimeFilter
from lfno.spectral.axes import angular_frequencies
from lfno.spectral.bases import basis_matrices
from lfno.spectral.hold import discrete_resolvent


class RealBasis(Recurrence):
    """One recurrence for every mode. The periodic steady state is computed by the transfer function of the recurrence.

    bases: the basis of each axis of space. Inside, fields are real, (batch, channels, *modes, time).
    """

    def __init__(self, kernel: PoleResidue, weights: FourierWeights | None, hold: str, bases: tuple[str, ...]) -> None:
        super().__init__(kernel, weights, hold)
        self.bases = bases

    def __call__(self, v: Tensor, steps: Sequence[float], transient: bool = True) -> list[Tensor]:
        shape = v.shape[2:]
        matrices = self._matrices(shape, v)
        for d, (there, _) in enumerate(matrices):
            v = along(there, v, 2 + d)
        first, *others = self.parts(v, shape, steps, transient)
        for part in others:
            first = first + part
        for d, (_, back) in enumerate(matrices):
            first = along(back, first, 2 + d)
        return [first]

    def parts(self, v: Tensor, shape: Sequence[int], steps: Sequence[float], transient: bool) -> list[Tensor]:
        if transient:
            return super().parts(v, shape, steps, transient)
        return [filter_time(v, self.transfer_at(shape[-1], steps[-1]), shape[-1])]

    def transfer_at(self, period: int, step: float, kept: int | None = None) -> Tensor:
        """H of real signals at the frequencies ω ≥ 0 of a period, or the lowest of them: (in, out, *modes, frequencies).

        ½ Σ_m [β r_m(ω) + β̄ r̄_m(−ω)] with the response r of the recurrence of one pole to e^{iωt}.
        """
        poles, residues = self.kernel.values()[-1], as_complex(self.kernel.residues)
        assert poles is not None
        omega = angular_frequencies(period, step, residues.real)[: period // 2 + 1].abs()[:kept]
        one, other = (discrete_resolvent(mu, omega, step, self.hold).to(residues.dtype) for mu in (poles, poles.conj()))
        return (residues @ one + residues.conj() @ other) / 2

    def fits_kernel(self, v: Tensor) -> bool:
        return False

    def terms(self, shape: Sequence[int], steps: Sequence[float], transient: bool = True) -> list[nn.Module]:
        return [InBasis(self._matrices(shape, self.kernel.residues), self.inner_terms(shape, steps, transient))]

    def inner_terms(self, shape: Sequence[int], steps: Sequence[float], transient: bool) -> list[nn.Module]:
        """The terms between the two changes of basis."""
        if transient:
            return [RecurrentTerm(self.kernel.tables(shape[-1], steps[-1], self.hold, False), [], [], shape[-1])]
        return [TimeFilter(self.transfer_at(shape[-1], steps[-1]), shape[-1], shape[-1])]

    def _matrices(self, shape: Sequence[int], like: Tensor) -> list[tuple[Tensor, Tensor]]:
        counts = zip(self.bases, self.kernel.modes, shape, strict=False)  # time, the last axis, has no basis
        return [_matrices(basis, count, points, like.dtype, like.device) for basis, count, points in counts]


class RealBasisWithR(RealBasis):
    """λ + R λ: the recurrence plus R at the low frequencies of every mode. R = 0 gives the recurrence alone."""

    R = True
    R_STARTS_AT_ZERO = True
    weights: FourierWeights

    def parts(self, v: Tensor, shape: Sequence[int], steps: Sequence[float], transient: bool) -> list[Tensor]:
        return [*super().parts(v, shape, steps, transient), filter_time(v, *self._low(shape, steps))]

    def inner_terms(self, shape: Sequence[int], steps: Sequence[float], transient: bool) -> list[nn.Module]:
        return [*super().inner_terms(shape, steps, transient), TimeFilter(*self._low(shape, steps), shape[-1])]

    def _low(self, shape: Sequence[int], steps: Sequence[float]) -> tuple[Tensor, int]:
        """R λ at the low frequencies of the padded window, and the length of that window."""
        period = self.weights.extended(shape)[-1]
        low = self.transfer_at(period, steps[-1], self.weights.modes[-1])
        return torch.einsum("ij...,jo...->io...", low, self.weights.matrix), period


class InBasis(nn.Module):
    """Constant terms between two changes of basis, for exports."""

    def __init__(self, matrices: Sequence[tuple[Tensor, Tensor]], inner: Sequence[nn.Module]) -> None:
        super().__init__()
        self.count, self.inner = len(matrices), nn.ModuleList(inner)
        for d, (there, back) in enumerate(matrices):
            self.register_buffer(f"forward_{d}", there.float())
            self.register_buffer(f"backward_{d}", back.float())

    def forward(self, x: Tensor) -> Tensor:
        for d in range(self.count):
            x = along(getattr(self, f"forward_{d}"), x, 2 + d)
        total = self.inner[0](x)
        for term in list(self.inner)[1:]:
            total = total + term(x)
        for d in range(self.count):
            total = along(getattr(self, f"backward_{d}"), total, 2 + d)
        return total


def filter_time(v: Tensor, response: Tensor, period: int) -> Tensor:
    """Apply (in, out, *modes, low frequencies) to real modes (batch, in, *modes, time) that repeat after `period` steps."""
    spectrum = torch.fft.rfft(v, n=period)[..., : response.shape[-1]]
    return torch.fft.irfft(mix_channels(spectrum, response), n=period)[..., : v.shape[-1]]


def along(matrix: Tensor, v: Tensor, axis: int) -> Tensor:
    """Σ_n M_kn v_n along one axis of a real field."""
    return torch.movedim(torch.movedim(v, axis, -1) @ matrix.T, -1, axis)


@cache
def _matrices(basis: str, count: int, points: int, dtype: torch.dtype, device: torch.device) -> tuple[Tensor, Tensor]:
    with torch.inference_mode(False):  # the cached matrices are also used in training
        there, back = basis_matrices(basis, count, points)
        return there.to(device, dtype), back.to(device, dtype)
