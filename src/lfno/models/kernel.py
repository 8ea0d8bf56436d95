"""The parameters of a pole–residue layer, H(s) = Σ β / Π (s_d − μ_d), and the functions of them that layers use."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial

import torch
from torch import Tensor, nn

from lfno.backends import chunk_products
from lfno.backends.cache import cached
from lfno.backends.mixing import arranged
from lfno.models.config import PoleConfig
from lfno.models.fourier_weights import as_complex
from lfno.spectral.hold import discrete_resolvent
from lfno.spectral.pole_residue import transfer, transient_in_modes
from lfno.spectral.poles import stable_poles
from lfno.spectral.recurrence import State, advance_with, respond_with
from lfno.spectral.tables import Tables, make_tables

#: length of the training window in the unit of time (and space) of the layers, so that weights have no physical units
WINDOW = 20.0


def unit_gain(decay: Tensor, band: float) -> Tensor:
    """Return the |β| that gives a pole with the decay p a mean gain of one over a band Ω of frequencies: π|β|²/(pΩ) = 1."""
    return torch.sqrt(decay * band / math.pi)


class PoleResidue(nn.Module):
    """Poles and residues of one layer.

    Poles are stored in units of the training window: μ (1/s) = μ_stored · WINDOW / window. `laplace` are the axes with poles.
    The other axes have one residue for each of their modes: Fourier modes of both signs (`signed`), or real modes.
    """

    def __init__(
        self,
        channels_in: int,
        channels_out: int,
        config: PoleConfig,
        modes: Sequence[int],
        laplace: Sequence[int],
        signed: bool = True,
    ) -> None:
        super().__init__()
        self.laplace, self.modes = tuple(laplace), tuple(modes)
        self.mixed, self.stable, self.shared = config.mixed, config.poles == "stable", config.share_poles
        self.undecayed = tuple(f"poles_{d}" for d in laplace)  # poles must not decay towards zero
        self.complex_parameters = (*self.undecayed, "residues")
        pair = () if config.share_poles else (channels_in, channels_out)
        for d in laplace:
            self.register_parameter(f"poles_{d}", self._initial_poles((*pair, config.n_poles), config))
        counts = [config.n_poles if d in self.laplace else 2 * k - 1 if signed else k for d, k in enumerate(modes)]
        scale = 1 / (channels_in * channels_out)
        residues = scale * torch.rand(channels_in, channels_out, *counts, 2)
        if self.stable:
            # the energies of the responses of different poles add up: each pole gets its share of a gain of one
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

    def time_poles(self) -> Tensor:
        """The complex poles of the last axis."""
        return self._value(len(self.modes) - 1)

    @property
    def stored(self) -> list[Tensor]:
        """The parameters as they are stored."""
        return [getattr(self, name) for name in self.complex_parameters]

    @property
    def fourier(self) -> tuple[int, ...]:
        """The axes without poles."""
        return tuple(d for d in range(len(self.modes)) if d not in self.laplace)

    @property
    def all_modes(self) -> tuple[int | None, ...]:
        """All frequencies on Laplace axes; on Fourier axes the modes that have a residue."""
        return tuple(None if d in self.laplace else k for d, k in enumerate(self.modes))

    # -- frequency form ------------------------------------------------------------------------------------------

    def transient(self, v: Tensor, shape: Sequence[int], steps: Sequence[float]) -> Tensor:
        """Return the transient of a field. Field and result are in Fourier modes on the axes without poles."""
        return transient_in_modes(v, self.values(), as_complex(self.residues), shape, steps, self.mixed)

    def transfer(
        self, modes: Sequence[int | None], shape: Sequence[int], steps: Sequence[float], hold: str | None = None
    ) -> Tensor:
        """Return H at these modes, (in, out, *kept). With a `hold`, return the transfer function of the recurrence along time.
        """
        rings = {} if hold is None else {"rings": partial(discrete_resolvent, dt=steps[-1], hold=hold)}

        def make() -> Tensor:
            return transfer(self.values(), as_complex(self.residues), modes, shape, steps, **rings)

        return cached(self, self.stored, (tuple(modes), tuple(shape), tuple(steps), hold), make, arranged)

    # -- recurrence along the last axis --------------------------------------------------------------------------

    def respond(self, v: Tensor, dt: float, hold: str) -> Tensor:
        """Return the response from rest of a field in Fourier modes along space, (batch, in, *modes, time)."""
        if not self.fits_products(v, hold):
            return respond_with(v, self.tables(v.shape[-1], dt, hold, v.is_complex()))
        batch, _, size = v.shape
        nothing = v.new_zeros(self.residues.shape[1])

        def make() -> tuple[chunk_products.Layer, ...]:
            poles, residues = self.time_poles(), as_complex(self.residues)
            return chunk_products.prepare(poles[None], residues[None], nothing[None, :, None], dt, size)

        (layer,) = cached(self, self.stored, ("products", size, dt), make)
        return chunk_products.unfold(chunk_products.respond(chunk_products.fold(v), batch, layer, nothing), batch, size)

    def fits_products(self, v: Tensor, hold: str) -> bool:
        """Whether `lfno.backends.chunk_products` has the response to signals like v."""
        signals = v.ndim == 3 and not v.is_complex() and v.device.type == "cpu"
        return signals and hold == "linear" and self.shared and not torch.compiler.is_compiling()

    def advance(self, v: Tensor, dt: float, hold: str, state: State | None) -> tuple[Tensor, State]:
        """Return the response to the next samples after `state`, and the new state."""
        return advance_with(v, lambda size: self.tables(size, dt, hold, v.is_complex()), state)

    def tables(self, size: int, dt: float, hold: str, field: bool) -> Tables:
        """Return the matrices of the recurrence for `size` samples."""

        def make() -> Tables:
            return make_tables(self.time_poles(), as_complex(self.residues), dt, hold, size, field)

        return cached(self, self.stored, (size, dt, hold, field), make)
