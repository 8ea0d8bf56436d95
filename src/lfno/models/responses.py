"""The linear response of a layer: the response from rest, or the periodic steady state. One class for each kind.

H is the transfer function of the poles, H_d is the transfer function of their recurrence, α are the Fourier coefficients of the
input, and λ = H α. R are learned channel matrices at the low modes.

| class             | steady part                            | transient part           |
|-------------------|----------------------------------------|--------------------------|
| `Weights`         | R α at the low modes                   | none                     |
| `Decay`           | none                                   | frequency form           |
| `Exact`           | λ                                      | frequency form           |
| `Free`            | R α at the low modes                   | frequency form           |
| `Shared`          | R λ at the low modes                   | frequency form           |
| `Residual`        | λ + R λ at the low modes, λ above them | frequency form           |
| `Recurrence`      | H_d α                                  | recurrence − H_d α       |
| `RecurrenceWithR` | H_d α + R λ at the low modes           | recurrence − H_d α       |

The frequency form interpolates the input over the window by trigonometric functions (`lfno.spectral.pole_residue`). A
recurrence interpolates the input between samples by a polynomial (`lfno.spectral.hold`). It gives the whole response from rest,
not the two parts. With R = 0, `Residual` equals `Exact`. `lfno.models.real_basis` has recurrences in a real basis of space.
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
    """A linear function of a field, (batch, in, *grid) → (batch, out, *grid).

    kernel: the module with poles and residues; None if POLES is False.
    weights: the module with R; None if R is False.

    Class attributes of each kind:

    POLES: whether the response has poles.
    R: whether the response has R.
    R_STARTS_AT_ZERO: whether R is zero before training.
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
        """Return one or two fields whose sum is the response.

        steps: the distances between points of the grid.
        transient: whether the response starts from rest. If False, the sum is the periodic steady state.
        """
        shape = v.shape[2:]
        if self.kernel is None or not self.kernel.fourier:
            return self.parts(v, shape, steps, transient)
        parts = self.parts(enter(v, self.kernel.modes, self.kernel.fourier), shape, steps, transient)
        total = parts[0] if len(parts) == 1 else parts[0] + parts[1]
        return [leave(total, shape, self.kernel.fourier)]

    @abstractmethod
    def parts(self, v: Tensor, shape: Sequence[int], steps: Sequence[float], transient: bool) -> list[Tensor]:
        """Return one or two summands of the response.

        v and the summands are in Fourier modes on the axes without poles. `shape` is the shape of the grid.
        """

    @abstractmethod
    def terms(self, shape: Sequence[int], steps: Sequence[float], transient: bool = True) -> list[nn.Module]:
        """Return modules with constant real matrices whose sum is the response on one grid; see `lfno.models.terms`."""


class Weights(Response):
    """R α at the low modes as the steady part. There are no poles and no transient part."""

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
        """Return the steady part in a list; the list is empty if there is none."""
        return []

    def steady_terms(self, shape: Sequence[int], steps: Sequence[float]) -> list[nn.Module]:
        """Return the steady part as a module with constant real matrices, in a list."""
        return []


class Decay(PoleResponse):
    """The transient part alone, for the layers of a transient branch."""

    R = False


class Exact(PoleResponse):
    """λ at all frequencies as the steady part. With the transient part, the layer is a linear system that starts at rest."""

    R = False

    def transfer(self, shape: Sequence[int], steps: Sequence[float]) -> Tensor:
        """Return H at all frequencies, (in, out, *kept)."""
        return self.kernel.transfer(self.kernel.all_modes, shape, steps)

    def steady(self, v: Tensor, shape: Sequence[int], steps: Sequence[float]) -> list[Tensor]:
        return [filtered(v, self.transfer(shape, steps), self.kernel.all_modes, shape, self.kernel.fourier)]

    def steady_terms(self, shape: Sequence[int], steps: Sequence[float]) -> list[nn.Module]:
        return [steady_term(self.transfer(shape, steps), self.kernel.all_modes, shape, shape)]


class Free(PoleResponse):
    """R α at the low modes as the steady part."""

    weights: FourierWeights

    def low(self, shape: Sequence[int], steps: Sequence[float]) -> Tensor:
        """Return the channel matrices at the low modes, (in, out, *kept)."""
        return self.weights.matrix

    def steady(self, v: Tensor, shape: Sequence[int], steps: Sequence[float]) -> list[Tensor]:
        return [self.weights.answer(v, self.low(shape, steps), shape, self.kernel.fourier)]

    def steady_terms(self, shape: Sequence[int], steps: Sequence[float]) -> list[nn.Module]:
        return [steady_term(self.low(shape, steps), self.weights.modes, shape, self.weights.extended(shape))]


class Shared(Free):
    """R λ at the low modes as the steady part."""

    def low(self, shape: Sequence[int], steps: Sequence[float]) -> Tensor:
        response = self.kernel.transfer(self.weights.modes, self.weights.extended(shape), steps)
        return mix_channels(response, self.weights.matrix)


class Residual(Shared):
    """λ + R λ at the low modes, and λ at the high modes, as the steady part."""

    R_STARTS_AT_ZERO = True

    def steady(self, v: Tensor, shape: Sequence[int], steps: Sequence[float]) -> list[Tensor]:
        kernel, total = self.kernel, self._total(shape, steps)
        exact = filtered(v, total, kernel.all_modes, shape, kernel.fourier)
        return [exact + super().steady(v, shape, steps)[0]] if any(self.weights.padding) else [exact]

    def steady_terms(self, shape: Sequence[int], steps: Sequence[float]) -> list[nn.Module]:
        exact = steady_term(self._total(shape, steps), self.kernel.all_modes, shape, shape)
        return [exact, *super().steady_terms(shape, steps)] if any(self.weights.padding) else [exact]

    def _total(self, shape: Sequence[int], steps: Sequence[float]) -> Tensor:
        """Return the channel matrices at all modes, (in, out, *kept): H, or H + R H if R has no padding of its own.

        In the second case one Fourier transform is enough for both parts.
        """
        response = self.kernel.transfer(self.kernel.all_modes, shape, steps)
        if any(self.weights.padding):
            return response
        return add_low(response, mix_channels(keep_low(response, self.weights.modes), self.weights.matrix))
