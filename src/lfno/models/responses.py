"""The linear part of a layer: its response from rest, and its periodic steady state. One class for each kind.

With the transfer function H of the poles, α the Fourier coefficients of the input and λ = H α:

| class             | steady part                            | transient part           |
|-------------------|----------------------------------------|--------------------------|
| `Weights`         | R α at the low modes                   | none                     |
| `Decay`           | none                                   | frequency form           |
| `Exact`           | λ                                      | frequency form           |
| `Free`            | R α at the low modes                   | frequency form           |
| `Shared`          | R λ at the low modes                   | frequency form           |
| `Residual`        | λ + R λ at the low modes, λ above them | frequency form           |
| `Recurrence`      | λ of the recurrence                    | a recurrence along time  |
| `RecurrenceWithR` | λ of the recurrence + R λ              | a recurrence along time  |

The frequency form interpolates the input by trigonometric functions over the window. A recurrence interpolates it by a
polynomial between samples (`lfno.spectral.hold`). R = 0 makes `Residual` exact.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import ClassVar

from torch import Tensor, nn

from lfno.backends.fourier import enter, leave
from lfno.backends.mixing import mix_channels
from lfno.models.fourier_weights import FourierWeights, as_complex, filtered
from lfno.models.kernel import PoleResidue
from lfno.models.terms import steady_term, transient_terms
from lfno.spectral.fourier import add_low, keep_low


class Response(ABC):
    """A function of a field, (batch, in, *grid) → (batch, out, *grid), with the modules that hold its parameters.

    POLES, R: whether a kind has a kernel, and whether it has weights R. R_STARTS_AT_ZERO: the initial R.
    """

    POLES: ClassVar[bool] = True
    R: ClassVar[bool] = True
    R_STARTS_AT_ZERO: ClassVar[bool] = False
    kernel: PoleResidue | None
    weights: FourierWeights | None

    def __init__(self, kernel: PoleResidue | None, weights: FourierWeights | None) -> None:
        assert (kernel is not None, weights is not None) == (self.POLES, self.R)
        self.kernel, self.weights = kernel, weights

    def __call__(self, v: Tensor, steps: Sequence[float], transient: bool = True) -> list[Tensor]:
        """Return one or two fields that add up to the response. Without `transient`, they add up to the periodic steady state.

        Fourier axes are transformed once for all parts.
        """
        shape = v.shape[2:]
        if self.kernel is None or not self.kernel.fourier:
            return self.parts(v, shape, steps, transient)
        parts = self.parts(enter(v, self.kernel.modes, self.kernel.fourier), shape, steps, transient)
        total = parts[0] if len(parts) == 1 else parts[0] + parts[1]
        return [leave(total, shape, self.kernel.fourier)]

    @abstractmethod
    def parts(self, v: Tensor, shape: Sequence[int], steps: Sequence[float], transient: bool) -> list[Tensor]:
        """Return at most two summands of the response. Field and summands are in Fourier modes on the axes without poles."""

    @abstractmethod
    def terms(self, shape: Sequence[int], steps: Sequence[float], transient: bool = True) -> list[nn.Module]:
        """The same map on one grid as modules with constant real matrices; see `lfno.models.terms`."""


class Weights(Response):
    """R on the low modes, without poles."""

    POLES = False
    weights: FourierWeights

    def parts(self, v: Tensor, shape: Sequence[int], steps: Sequence[float], transient: bool) -> list[Tensor]:
        return [self.weights(v)]

    def terms(self, shape: Sequence[int], steps: Sequence[float], transient: bool = True) -> list[nn.Module]:
        return [steady_term(self.weights.matrix, self.weights.modes, shape, self.weights.extended(shape))]


class PoleResponse(Response):
    """A transient part in the frequency form, and a steady part that subclasses define."""

    kernel: PoleResidue

    def parts(self, v: Tensor, shape: Sequence[int], steps: Sequence[float], transient: bool) -> list[Tensor]:
        steady = self.steady(v, shape, steps)
        return [*steady, self.kernel.transient(v, shape, steps)] if transient else steady

    def terms(self, shape: Sequence[int], steps: Sequence[float], transient: bool = True) -> list[nn.Module]:
        steady: list[nn.Module] = list(self.steady_terms(shape, steps))
        if not transient:
            return steady
        kernel = self.kernel
        return [*steady, *transient_terms(kernel.values(), as_complex(kernel.residues), kernel.mixed, shape, steps)]

    def steady(self, v: Tensor, shape: Sequence[int], steps: Sequence[float]) -> list[Tensor]:
        """The steady part as at most one summand."""
        return []

    def steady_terms(self, shape: Sequence[int], steps: Sequence[float]) -> list[nn.Module]:
        return []


class Decay(PoleResponse):
    """The transient part only: a layer of a transient branch."""

    R = False


class Exact(PoleResponse):
    """λ at all frequencies. With the transient part, it is a linear system that starts at rest."""

    R = False

    def transfer(self, shape: Sequence[int], steps: Sequence[float]) -> Tensor:
        return self.kernel.transfer(self.kernel.all_modes, shape, steps)

    def steady(self, v: Tensor, shape: Sequence[int], steps: Sequence[float]) -> list[Tensor]:
        return [filtered(v, self.transfer(shape, steps), self.kernel.all_modes, shape, self.kernel.fourier)]

    def steady_terms(self, shape: Sequence[int], steps: Sequence[float]) -> list[nn.Module]:
        return [steady_term(self.transfer(shape, steps), self.kernel.all_modes, shape, shape)]


class Free(PoleResponse):
    """R α at the low modes."""

    weights: FourierWeights

    def low(self, shape: Sequence[int], steps: Sequence[float]) -> Tensor:
        """The channel matrices at the low modes."""
        return self.weights.matrix

    def steady(self, v: Tensor, shape: Sequence[int], steps: Sequence[float]) -> list[Tensor]:
        return [self.weights.answer(v, self.low(shape, steps), shape, self.kernel.fourier)]

    def steady_terms(self, shape: Sequence[int], steps: Sequence[float]) -> list[nn.Module]:
        return [steady_term(self.low(shape, steps), self.weights.modes, shape, self.weights.extended(shape))]


class Shared(Free):
    """R λ at the low modes."""

    def low(self, shape: Sequence[int], steps: Sequence[float]) -> Tensor:
        response = self.kernel.transfer(self.weights.modes, self.weights.extended(shape), steps)
        return mix_channels(response, self.weights.matrix)


class Residual(Shared):
    """λ + R λ at the low modes and λ above them."""

    R_STARTS_AT_ZERO = True

    def steady(self, v: Tensor, shape: Sequence[int], steps: Sequence[float]) -> list[Tensor]:
        kernel, total = self.kernel, self._total(shape, steps)
        exact = filtered(v, total, kernel.all_modes, shape, kernel.fourier)
        return [exact + super().steady(v, shape, steps)[0]] if any(self.weights.padding) else [exact]

    def steady_terms(self, shape: Sequence[int], steps: Sequence[float]) -> list[nn.Module]:
        exact = steady_term(self._total(shape, steps), self.kernel.all_modes, shape, shape)
        return [exact, *super().steady_terms(shape, steps)] if any(self.weights.padding) else [exact]

    def _total(self, shape: Sequence[int], steps: Sequence[float]) -> Tensor:
        """Return the transfer function. It includes R if R sees the same points, so that one transform computes both."""
        response = self.kernel.transfer(self.kernel.all_modes, shape, steps)
        if any(self.weights.padding):
            return response
        return add_low(response, mix_channels(keep_low(response, self.weights.modes), self.weights.matrix))
