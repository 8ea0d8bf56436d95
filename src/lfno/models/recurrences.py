"""The linear response of a layer as a recurrence along time. A recurrence is causal, and it has a state."""

from __future__ import annotations

from collections.abc import Sequence

from torch import Tensor, nn

from lfno.backends import fused
from lfno.backends.chunk_products import Layer, fold, respond, unfold
from lfno.backends.convolution import convolve
from lfno.backends.mixing import mix_channels
from lfno.models.fourier_weights import FourierWeights, as_complex, filtered
from lfno.models.kernel import PoleResidue
from lfno.models.pointwise import Gate, Pointwise
from lfno.models.responses import Response
from lfno.models.terms import recurrent_term, steady_term
from lfno.spectral.recurrence import State

#: longest window, in time steps, that is computed as one convolution on a GPU
SHORT = 512


class Recurrence(Response):
    """A recurrence along time; only the time axis has poles.

    Each pole μ has a state x with x[n+1] = e^z x[n] + Σ_j b_j u[n+1−j] and x[0] = 0, where u is the input and z = μ dt. The
    coefficients b_j depend on `hold`, the interpolation of u between samples (`lfno.spectral.hold`). A field has one recurrence
    for every Fourier mode of space.

    The periodic steady state is H_d α, with the transfer function H_d of the recurrence and the Fourier coefficients α of u.
    """

    R = False
    kernel: PoleResidue

    def __init__(self, kernel: PoleResidue, weights: FourierWeights | None, hold: str) -> None:
        super().__init__(kernel, weights)
        self.hold = hold

    def parts(self, v: Tensor, shape: Sequence[int], steps: Sequence[float], transient: bool) -> list[Tensor]:
        if transient and v.is_cuda and self.kernel.shared and shape[-1] <= SHORT:
            poles = self.kernel.values()[-1]
            assert poles is not None
            return [convolve(v, poles, as_complex(self.kernel.residues), steps[-1], self.hold)]
        if transient:
            return [self.kernel.respond(v, steps[-1], self.hold)]
        return [filtered(v, self._transfer(shape, steps), self.kernel.all_modes, shape, self.kernel.fourier)]

    def terms(self, shape: Sequence[int], steps: Sequence[float], transient: bool = True) -> list[nn.Module]:
        if transient:
            tables = self.kernel.tables(shape[-1], steps[-1], self.hold, len(shape) > 1)
            return [recurrent_term(tables, self.kernel.modes, shape)]
        return [steady_term(self._transfer(shape, steps), self.kernel.all_modes, shape, shape)]

    def _transfer(self, shape: Sequence[int], steps: Sequence[float]) -> Tensor:
        return self.kernel.transfer(self.kernel.all_modes, shape, steps, self.hold)

    def beside(self, v: Tensor, steps: Sequence[float]) -> list[Tensor]:
        """Return the summands of the response besides the recurrence, in a list that may be empty."""
        return []

    def fits_kernel(self, v: Tensor) -> bool:
        """Return whether a GPU kernel can compute the whole layer."""
        if not (fused(v) and v.ndim == 3 and self.hold == "linear" and self.kernel.shared):
            return False
        from lfno.backends.recurrence_kernel import MOST_POLES, WIDEST

        return v.shape[1] <= WIDEST and self.kernel.residues.shape[-2] <= MOST_POLES

    def layer(self, v: Tensor, step: float, pointwise: Pointwise, gate: Gate | None, act: str, skip: bool) -> Tensor:
        """Return the output of a whole layer, computed by a GPU kernel. `lfno.models.layers.Block` has the formula."""
        from lfno.backends.recurrence_kernel import gated_recurrence

        (poles,), residues = self.kernel.values(), as_complex(self.kernel.residues)
        assert poles is not None
        opening, constant = (None, None) if gate is None else (gate.both.weight[None], gate.both.bias[None])
        terms = [term[None] for term in self.beside(v, (step,))]
        given = poles[None], residues[None], step, pointwise.weight[None], pointwise.bias[None]
        return gated_recurrence(v[None], *given, opening, constant, terms, act, skip).squeeze(0)

    def in_chunks(self, chunks: Tensor, batch: int, size: int, step: float, layer: Layer, bias: Tensor) -> Tensor:
        """Return the response plus W v + b for signals in chunks, as `lfno.backends.chunk_products` defines them.

        batch: the number of signals.
        size: the number of samples of a signal.
        layer: the matrices of the layer, with W.
        bias: b.
        """
        return respond(chunks, batch, layer, bias)

    def advance(self, v: Tensor, step: float, state: State | None) -> tuple[Tensor, State]:
        """Return the response to the next samples of a signal, and the new state.

        state: the state after the samples before. None: the signal starts from rest with these samples.
        """
        return self.kernel.advance(v, step, self.hold, state)


class RecurrenceWithR(Recurrence):
    """A recurrence with a learned correction R λ at the low Fourier modes. R = 0 gives the recurrence alone.

    λ = H α, with the transfer function H of the poles in continuous time. The difference between λ and H_d α, the steady
    response of the recurrence, is the error of the hold (`lfno.spectral.hold`).
    """

    R = True
    R_STARTS_AT_ZERO = True
    weights: FourierWeights

    def parts(self, v: Tensor, shape: Sequence[int], steps: Sequence[float], transient: bool) -> list[Tensor]:
        low = self.weights.answer(v, self._low(shape, steps), shape, self.kernel.fourier)
        return [*super().parts(v, shape, steps, transient), low]

    def terms(self, shape: Sequence[int], steps: Sequence[float], transient: bool = True) -> list[nn.Module]:
        low = steady_term(self._low(shape, steps), self.weights.modes, shape, self.weights.extended(shape))
        return [*super().terms(shape, steps, transient), low]

    def beside(self, v: Tensor, steps: Sequence[float]) -> list[Tensor]:
        return [self.weights.answer(v, self._low(v.shape[2:], steps), v.shape[2:])]

    def in_chunks(self, chunks: Tensor, batch: int, size: int, step: float, layer: Layer, bias: Tensor) -> Tensor:
        (low,) = self.beside(unfold(chunks, batch, size), (step,))
        return respond(chunks, batch, layer, bias) + fold(low)

    def _low(self, shape: Sequence[int], steps: Sequence[float]) -> Tensor:
        """Return the product of H and R at the low modes, (in, out, *kept)."""
        response = self.kernel.transfer(self.weights.modes, self.weights.extended(shape), steps)
        return mix_channels(response, self.weights.matrix)
