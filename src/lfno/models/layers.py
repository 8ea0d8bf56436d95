"""The parts of a layer: pole–residue kernels, the steady response, and the block that adds them."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import partial

import torch
from torch import Tensor, nn

from lfno.models.config import PoleConfig
from lfno.models.fourier_weights import FourierWeights, as_complex, filtered
from lfno.models.pointwise import Gate, Pointwise, gated
from lfno.models.recall import recalled
from lfno.spectral.fourier import add_low, keep_low
from lfno.spectral.mixing import mix_channels
from lfno.spectral.pole_residue import transfer, transient_in_modes
from lfno.spectral.poles import stable_poles
from lfno.spectral.waves import enter, leave

#: layers measure time (and space) in this fraction of the training window: their weights then need no units
WINDOW = 20.0

STEADY = ("exact", "free", "shared", "residual")


def unit_gain(decay: Tensor, band: float) -> Tensor:
    """|β| for which a pole somewhere in a band Ω of frequencies has the mean gain one: ⟨|β|²/(p² + ω²)⟩ = π|β|²/(pΩ)."""
    return torch.sqrt(decay * band / math.pi)


class PoleResidue(nn.Module):
    """A kernel H(s) = Σ β / Π (s_d − μ_d): what decays at its poles, what rings at the input's frequencies.

    Poles are stored in units of the training window: μ (1/s) = μ_stored · WINDOW / window.
    """

    def __init__(
        self, channels_in: int, channels_out: int, config: PoleConfig, modes: Sequence[int], laplace: Sequence[int]
    ) -> None:
        super().__init__()
        self.laplace, self.modes = tuple(laplace), tuple(modes)
        self.mixed, self.stable = config.mixed, config.poles == "stable"
        self.complex_parameters = (*(f"poles_{d}" for d in laplace), "residues")
        pair = () if config.share_poles else (channels_in, channels_out)
        for d in laplace:
            self.register_parameter(f"poles_{d}", self._initial_poles((*pair, config.n_poles), config))
        counts = [config.n_poles if d in self.laplace else 2 * k - 1 for d, k in enumerate(modes)]
        scale = 1 / (channels_in * channels_out)
        residues = scale * torch.rand(channels_in, channels_out, *counts, 2)
        if self.stable:
            # poles add up like noise: each gets its share of a gain of one
            residues = torch.randn_like(residues) / math.sqrt(2 * channels_in * config.n_poles ** len(laplace))
            for d in self.laplace:
                decay = self.get_parameter(f"poles_{d}").detach()[..., 0].exp()
                before = [1] * (d if pair else d + 2)
                after = [1] * (len(counts) - 1 - d)
                share = unit_gain(decay, 2 * math.pi * config.cycles / WINDOW)
                residues = residues * share.reshape(*pair, *before, config.n_poles, *after, 1)
        self.residues = nn.Parameter(residues)

    def _initial_poles(self, shape: tuple[int, ...], config: PoleConfig) -> nn.Parameter:
        if not self.stable:
            return nn.Parameter(torch.rand(*shape, 2) / max(1, math.prod(shape[:-1])))
        # time constants from the whole window down to a fortieth of it
        log_decay = torch.log(0.05 + 2 * torch.rand(shape))
        frequency = torch.rand(shape) * (2 * math.pi * config.cycles / WINDOW)
        return nn.Parameter(torch.stack((log_decay, frequency), -1))

    def values(self) -> list[Tensor | None]:
        """Complex poles, one entry per axis (None on Fourier axes)."""
        return [self._value(d) if d in self.laplace else None for d in range(len(self.modes))]

    def _value(self, d: int) -> Tensor:
        stored: Tensor = getattr(self, f"poles_{d}")
        return stable_poles(stored[..., 0], stored[..., 1]) if self.stable else as_complex(stored)

    @property
    def fourier(self) -> tuple[int, ...]:
        """The axes without poles."""
        return tuple(d for d in range(len(self.modes)) if d not in self.laplace)

    def transient(self, v: Tensor, shape: Sequence[int], steps: Sequence[float]) -> Tensor:
        """Of a field that has entered the Fourier axes and stays there."""
        return transient_in_modes(v, self.values(), as_complex(self.residues), shape, steps, self.mixed)

    def transfer(self, modes: Sequence[int | None], shape: Sequence[int], steps: Sequence[float]) -> Tensor:
        """H at these modes, (in, out, *kept)."""
        numbers = [getattr(self, name) for name in self.complex_parameters]
        key = tuple(modes), tuple(shape), tuple(steps)
        return recalled(self, numbers, key, lambda: transfer(self.values(), as_complex(self.residues), modes, shape, steps))

    @property
    def all_modes(self) -> tuple[int | None, ...]:
        """Every frequency on Laplace axes; on Fourier axes only the modes that have a residue."""
        return tuple(None if d in self.laplace else k for d, k in enumerate(self.modes))


def steady(
    v: Tensor,
    kernel: PoleResidue | None,
    weights: FourierWeights | None,
    kind: str,
    shape: Sequence[int],
    steps: Sequence[float],
) -> Tensor:
    """The steady response, (batch, in, *grid) → (batch, out, *grid), of a field as in `through`. With λ = H α the exact one:

    exact: λ at all frequencies.   free: R α at the low modes.   shared: R λ at the low modes.
    residual: λ + R λ at the low modes and λ above them, so that R = 0 is the exact, causal layer.
    """
    if kernel is None:
        assert weights is not None
        return weights(v)
    if weights is None or kind == "residual":
        exact = partial(filtered, v, modes=kernel.all_modes, shape=shape, entered=kernel.fourier)
        response = kernel.transfer(kernel.all_modes, shape, steps)
        if weights is None:
            return exact(response)
        if not any(weights.padding):
            # one transform for both: R acts on the transfer function, which is smaller than the data
            return exact(add_low(response, mix_channels(keep_low(response, weights.modes), weights.matrix)))
        return exact(response) + weighted(v, kernel, weights, shape, steps)
    if kind == "shared":
        return weighted(v, kernel, weights, shape, steps)
    return weights.answer(v, weights.matrix, shape, kernel.fourier)


def weighted(
    v: Tensor, kernel: PoleResidue, weights: FourierWeights, shape: Sequence[int], steps: Sequence[float]
) -> Tensor:
    """R λ at the low modes."""
    response = mix_channels(kernel.transfer(weights.modes, weights.extended(shape), steps), weights.matrix)
    return weights.answer(v, response, shape, kernel.fourier)


def through(v: Tensor, kernel: PoleResidue | None, *parts: Callable[[Tensor], Tensor]) -> list[Tensor]:
    """Parts of a layer, functions of a field that has entered the kernel's Fourier axes: these are crossed once for all."""
    axes = () if kernel is None else kernel.fourier
    if kernel is None or not axes:
        return [part(v) for part in parts]
    entered = enter(v, kernel.modes, axes)
    total = parts[0](entered)
    for part in parts[1:]:
        total = total + part(entered)
    return [leave(total, v.shape[2:], axes)]


class Block(nn.Module):
    """v + u with u = act(transient(v) + steady(v) + W v), any of the parts possibly absent; u may have a gate, see Gate."""

    def __init__(
        self, width: int, kernel: PoleResidue | None, weights: FourierWeights | None, kind: str, gate: bool = False
    ) -> None:
        super().__init__()
        self.kernel, self.weights, self.kind = kernel, weights, kind
        self.pointwise = Pointwise(width, width)
        self.gate = Gate(width) if gate else None

    def forward(
        self, v: Tensor, steps: Sequence[float], act: str = "", skip: bool = False, transient: bool = True
    ) -> Tensor:
        shape, kernel = v.shape[2:], self.kernel
        parts = [lambda w: steady(w, kernel, self.weights, self.kind, shape, steps)]
        if kernel is not None and transient:
            parts.append(lambda w: kernel.transient(w, shape, steps))
        terms = through(v, kernel, *parts)
        if self.gate is None:
            return self.pointwise(v, terms, act, skip)
        return gated(v, self.pointwise, self.gate, terms, act)
