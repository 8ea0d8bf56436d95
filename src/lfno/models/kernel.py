"""The poles μ and residues β of a layer with the transfer function H(s) = Σ β / Π_d (s_d − μ_d), where d are the axes."""

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

#: length of every axis of the training grid in the units of the layers. Stored poles and residues are in these units
WINDOW = 20.0


def unit_gain(decay: Tensor, band: float) -> Tensor:
    """Return |β| for a mean squared gain of one over the frequencies of a band: π|β|²/(decay · band) = 1.

    decay: −Re μ of a pole.
    band: the width of the band of angular frequencies.
    """
    return torch.sqrt(decay * band / math.pi)


class PoleResidue(nn.Module):
    """Poles and residues of one layer.

    modes: K for each axis. An axis without poles keeps the Fourier modes |l| < K.
    laplace: the axes with poles. Every other axis has one residue for each kept mode.
    signed: whether the axes without poles have Fourier modes of both signs. If False, these axes have the modes 0 … K−1 of a
        real basis instead (`lfno.spectral.bases`).

    Poles are stored in units of the training window: μ in 1/s is the stored pole · WINDOW / (length of the window in s).
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
        self.undecayed = tuple(f"poles_{d}" for d in laplace)  # parameters without weight decay, which would change the poles
        self.complex_parameters = (*self.undecayed, "residues")
        pair = () if config.share_poles else (channels_in, channels_out)
        for d in laplace:
            self.register_parameter(f"poles_{d}", self._initial_poles((*pair, config.n_poles), config))
        counts = [config.n_poles if d in self.laplace else 2 * k - 1 if signed else k for d, k in enumerate(modes)]
        scale = 1 / (channels_in * channels_out)
        residues = scale * torch.rand(channels_in, channels_out, *counts, 2)
        if self.stable:
            # the sum over input channels and poles has a mean squared gain of one: energies of independent responses add up
            residues = torch.randn_like(residues) / math.sqrt(2 * channels_in * config.n_poles ** len(laplace))
            for d in self.laplace:
                decay = self.get_parameter(f"poles_{d}").detach()[..., 0].exp()
                before = [1] * (d if pair else d + 2)
                after = [1] * (len(counts) - 1 - d)
                share = unit_gain(decay, 2 * math.pi * config.cycles / WINDOW)
                residues = residues * share.reshape(*pair, *before, config.n_poles, *after, 1)
        self.residues = nn.Parameter(residues)

    def _initial_poles(self, shape: tuple[int, ...], config: PoleConfig) -> nn.Parameter:
        """Return random poles as pairs (…, 2): (a, b) of μ = −e^a + i b if poles are stable, else (Re μ, Im μ)."""
        if not self.stable:
            return nn.Parameter(torch.rand(*shape, 2) / max(1, math.prod(shape[:-1])))
        # time constants between the whole window and 1/40 of the window
        log_decay = torch.log(0.05 + 2 * torch.rand(shape))
        frequency = torch.rand(shape) * (2 * math.pi * config.cycles / WINDOW)
        return nn.Parameter(torch.stack((log_decay, frequency), -1))

    def values(self) -> list[Tensor | None]:
        """Return the complex poles of each axis, (in, out, M), or (M,) if they are shared; None for an axis without poles."""
        return [self._value(d) if d in self.laplace else None for d in range(len(self.modes))]

    def _value(self, d: int) -> Tensor:
        stored: Tensor = getattr(self, f"poles_{d}")
        return stable_poles(*stored.unbind(-1)) if self.stable else as_complex(stored)

    def time_poles(self) -> Tensor:
        """Return the complex poles of the last axis, which is time."""
        return self._value(len(self.modes) - 1)

    @property
    def stored(self) -> list[Tensor]:
        """All parameters as pairs of real numbers: poles and residues."""
        return [getattr(self, name) for name in self.complex_parameters]

    @property
    def fourier(self) -> tuple[int, ...]:
        """The axes without poles."""
        return tuple(d for d in range(len(self.modes)) if d not in self.laplace)

    @property
    def all_modes(self) -> tuple[int | None, ...]:
        """The number of kept modes of each axis: None (all modes) for axes with poles, K for the other axes."""
        return tuple(None if d in self.laplace else k for d, k in enumerate(self.modes))

    # -- frequency form ------------------------------------------------------------------------------------------

    def transient(self, v: Tensor, shape: Sequence[int], steps: Sequence[float]) -> Tensor:
        """Return the transient part of the response. v and the result are in Fourier modes on the axes without poles."""
        return transient_in_modes(v, self.values(), as_complex(self.residues), shape, steps, self.mixed)

    def transfer(
        self, modes: Sequence[int | None], shape: Sequence[int], steps: Sequence[float], hold: str | None = None
    ) -> Tensor:
        """Return the transfer function at the kept modes, (in, out, *kept).

        modes: the number of kept modes of each axis; None keeps all modes.
        hold: None for H itself. With "linear" or "cubic", the transfer function of the recurrence along time.
        """
        rings = {} if hold is None else {"rings": partial(discrete_resolvent, dt=steps[-1], hold=hold)}

        def make() -> Tensor:
            return transfer(self.values(), as_complex(self.residues), modes, shape, steps, **rings)

        return cached(self, self.stored, (tuple(modes), tuple(shape), tuple(steps), hold), make, arranged)

    # -- recurrence along the last axis --------------------------------------------------------------------------

    def respond(self, v: Tensor, dt: float, hold: str) -> Tensor:
        """Return the response from rest, (batch, out, *modes, time).

        v: a signal (batch, in, time), or a field in modes along space, (batch, in, *modes, time).
        dt: the time step.
        hold: "linear" or "cubic".
        """
        if not self.fits_products(v, hold):
            return respond_with(v, self.tables(v.shape[-1], dt, hold, v.is_complex()))
        batch, _, size = v.shape
        nothing, groups = v.new_zeros(self.residues.shape[1]), chunk_products.group_samples(batch, size)

        def make() -> tuple[chunk_products.Layer, ...]:
            poles, residues = self.time_poles(), as_complex(self.residues)
            return chunk_products.prepare(poles[None], residues[None], nothing[None, :, None], dt, groups)

        (layer,) = cached(self, self.stored, ("products", groups, dt), make)
        return chunk_products.unfold(chunk_products.respond(chunk_products.fold(v), batch, layer, nothing), batch, size)

    def fits_products(self, v: Tensor, hold: str) -> bool:
        """Return whether `lfno.backends.chunk_products` can compute the response to v.

        This needs real signals on a CPU, shared poles and the linear hold, outside of `torch.compile`.
        """
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
