"""Layers for fields in a real basis of space (sine, cosine, Chebyshev): one recurrence along time for each mode of space.

This is modal analysis in a layer. A field v(x, t) has the coefficients a_k(t) in the basis φ_k(x) (`lfno.spectral.bases`). With
the poles μ_m and residues β_km,

    response(x, t) = Σ_k φ_k(x) (h_k ∗ a_k)(t),      h_k(t) = Re Σ_m β_km e^{μ_m t}.

Sines vanish at fixed ends, and cosines have zero slope at free ends. The response therefore satisfies the same boundary
conditions. The ends of an axis of space are not connected, so axes of space need no padding. All modes have the same poles.
Each mode has its own residues.
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
    """One recurrence for every mode of space. The transfer function of the recurrence gives the periodic steady state.

    bases: the basis of each axis of space.

    Fields in the basis are real, (batch, channels, *modes, time).
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
        """Return the transfer function for real signals at the frequencies ω ≥ 0, (in, out, *modes, frequencies).

        It is ½ Σ_m [β r_m(ω) + conj(β r_m(−ω))], where r_m is the response of the recurrence of pole m to e^{iωt}.

        period: the number of time steps in a period.
        kept: the number of frequencies, from the lowest on; None: all frequencies.
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
        """Return modules for exports. The sum of their outputs is the response to a field in the basis.

        The modules have constant real matrices; see `lfno.models.terms`.
        """
        if transient:
            return [RecurrentTerm(self.kernel.tables(shape[-1], steps[-1], self.hold, False), [], [], shape[-1])]
        return [TimeFilter(self.transfer_at(shape[-1], steps[-1]), shape[-1], shape[-1])]

    def _matrices(self, shape: Sequence[int], like: Tensor) -> list[tuple[Tensor, Tensor]]:
        """Return for each axis of space the matrices from points to modes and from modes to points."""
        counts = zip(self.bases, self.kernel.modes, shape, strict=False)  # time, the last axis, has no basis
        return [_matrices(basis, count, points, like.dtype, like.device) for basis, count, points in counts]


class RealBasisWithR(RealBasis):
    """The response of the recurrences plus R λ. R = 0 gives the recurrences alone.

    λ is the periodic steady state of the recurrences. R are learned channel matrices at the low frequencies of every mode.
    """

    R = True
    R_STARTS_AT_ZERO = True
    weights: FourierWeights

    def parts(self, v: Tensor, shape: Sequence[int], steps: Sequence[float], transient: bool) -> list[Tensor]:
        return [*super().parts(v, shape, steps, transient), filter_time(v, *self._low(shape, steps))]

    def inner_terms(self, shape: Sequence[int], steps: Sequence[float], transient: bool) -> list[nn.Module]:
        return [*super().inner_terms(shape, steps, transient), TimeFilter(*self._low(shape, steps), shape[-1])]

    def _low(self, shape: Sequence[int], steps: Sequence[float]) -> tuple[Tensor, int]:
        """Return the transfer function of R λ at the low frequencies, and the number of time steps of the padded window."""
        period = self.weights.extended(shape)[-1]
        low = self.transfer_at(period, steps[-1], self.weights.modes[-1])
        return torch.einsum("ij...,jo...->io...", low, self.weights.matrix), period


class InBasis(nn.Module):
    """A change of basis, the sum of some modules, and the change back to points, for exports.

    matrices: for each axis of space, the matrices from points to modes and from modes to points.
    inner: the modules, which act on fields in the basis.
    """

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
    """Apply a transfer function along time to fields in a real basis. Return (batch, out, *modes, time).

    v: (batch, in, *modes, time).
    response: the transfer function at the low frequencies, (in, out, *modes, frequencies).
    period: the number of time steps after which v repeats. If v is shorter, zeros are added.
    """
    spectrum = torch.fft.rfft(v, n=period)[..., : response.shape[-1]]
    return torch.fft.irfft(mix_channels(spectrum, response), n=period)[..., : v.shape[-1]]


def along(matrix: Tensor, v: Tensor, axis: int) -> Tensor:
    """Return Σ_n M_kn v_n along one axis of a real field v."""
    return torch.movedim(torch.movedim(v, axis, -1) @ matrix.T, -1, axis)


@cache
def _matrices(basis: str, count: int, points: int, dtype: torch.dtype, device: torch.device) -> tuple[Tensor, Tensor]:
    """Return the matrices from points to modes (count, points) and from modes to points (points, count)."""
    with torch.inference_mode(False):  # the cached matrices are also used in training
        there, back = basis_matrices(basis, count, points)
        return there.to(device, dtype), back.to(device, dtype)
