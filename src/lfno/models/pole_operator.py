"""The base class of models with poles: the axes with poles, and the table of poles in hertz."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import torch

from lfno.core.errors import LfnoError
from lfno.core.short import Short
from lfno.models.config import PoleConfig
from lfno.models.fourier_weights import FourierWeights
from lfno.models.kernel import WINDOW, PoleResidue
from lfno.models.layers import Block
from lfno.models.operator import Operator
from lfno.models.responses import Response
from lfno.spectral.physics import describe_poles


@dataclass(frozen=True, repr=False)
class PoleTable(Short):
    """The poles of a model, with the largest contribution first. Every column is an array with one entry for each pole.

    layer: the number of the layer, from 0.
    axis: the name of the axis. The units below are those of a time axis in seconds. If an axis of space is in metres, read 1/m
        for 1/s and Hz, and m for s.
    pole: the complex pole μ in 1/s.
    frequency: the frequency of the damped oscillation in Hz.
    damping_ratio: −Re μ / |μ|.
    time_constant: −1 / Re μ in s.
    contribution: the energy ∫|β e^{μt}|² dt of the impulse response of the pole, divided by the sum over all poles of its layer
        and axis. |β|² is summed over all residues β of the pole.
    """

    layer: np.ndarray
    axis: np.ndarray
    pole: np.ndarray
    frequency: np.ndarray
    damping_ratio: np.ndarray
    time_constant: np.ndarray
    contribution: np.ndarray

    def __len__(self) -> int:
        return len(self.pole)

    def top(self, count: int) -> PoleTable:
        """Return the first `count` poles."""
        return PoleTable(**{name: column[:count] for name, column in vars(self).items()})

    def rows(self) -> list[dict[str, Any]]:
        """Return one dictionary for each pole."""
        columns = vars(self)
        return [{name: column[row].item() for name, column in columns.items()} for row in range(len(self))]


class PoleOperator(Operator):
    """The base class of LNO and LFNO."""

    config: PoleConfig

    @property
    def laplace(self) -> tuple[int, ...]:
        """The indices of the axes with poles."""
        axes = self.config.laplace_axes
        if axes is None:
            return tuple(range(self.grid.ndim))
        if axes == "time":
            if self.grid.time is None:
                raise LfnoError(f"laplace_axes='time' needs a time axis; the grid has {self.grid.names}")
            return (self.grid.time,)
        assert isinstance(axes, tuple)
        bad = [d for d in axes if not isinstance(d, int) or not 0 <= d < self.grid.ndim]
        if bad or not axes or len(set(axes)) != len(axes):
            raise LfnoError(f"laplace_axes={axes} must name different axes from 0 to {self.grid.ndim - 1}")
        return axes

    @property
    def bases(self) -> tuple[str, ...]:
        """The real basis of each axis of space (sine, cosine or Chebyshev); () if space has Fourier modes."""
        return ()

    def signed(self, d: int) -> bool:
        """Return whether both signs of the modes of axis d are kept.

        An axis without poles needs both signs, because poles on another axis make the field complex.
        """
        return not self.bases and (super().signed(d) or d not in self.laplace)

    def wraps(self, d: int) -> bool:
        """Return whether parts of a layer other than R connect the two ends of axis d.

        On axes with poles, transient terms cancel the connection that steady terms make. Real bases do not connect the ends.
        """
        return d not in self.laplace and not self.bases

    def kernel(self) -> PoleResidue:
        """Return new poles and residues for a layer."""
        width = self.config.width
        return PoleResidue(width, width, self.config, self.modes, self.laplace, not self.bases)

    def weights(self, zero: bool = False) -> FourierWeights:
        """Return new channel matrices R for a layer, zero or random."""
        width = self.config.width
        return FourierWeights(width, width, self.modes, zero, self.padding(wrapping=False), not self.bases)

    def block(self, kind: type[Response], gate: bool = False, **options: Any) -> Block:
        """Return a new layer. kind: the class of its linear response. options: further arguments of this class."""
        weights = self.weights(kind.R_STARTS_AT_ZERO) if kind.R else None
        return Block(self.config.width, kind(self.kernel() if kind.POLES else None, weights, **options), gate)

    @torch.no_grad()
    def poles(self) -> PoleTable:
        """Return the table of the poles of all layers. The table may be empty."""
        kinds = {"layer": int, "axis": "U1", "pole": complex}
        columns = {name: [np.empty(0, kinds.get(name, float))] for name in PoleTable.__dataclass_fields__}
        kernels = [module for module in self.modules() if isinstance(module, PoleResidue)]
        for depth, kernel in enumerate(kernels):
            for d, mu in enumerate(kernel.values()):
                if mu is None:
                    continue
                axis = self.grid.axes[d]
                poles = mu.cpu().numpy().astype(complex) * (WINDOW / axis.length)
                energy = kernel.residues.square().sum(-1).movedim(2 + d, 2)[..., None].flatten(3).sum(-1).cpu().numpy()
                energy = energy.sum((0, 1)) if poles.ndim == 1 else energy
                weight = (energy / np.maximum(2 * np.abs(poles.real), 1e-30)).ravel()
                described = describe_poles(poles.ravel())
                columns["layer"].append(np.full(weight.size, depth))
                columns["axis"].append(np.full(weight.size, axis.name))
                columns["pole"].append(poles.ravel())
                columns["frequency"].append(described["frequency"])
                columns["damping_ratio"].append(described["damping_ratio"])
                columns["time_constant"].append(described["time_constant"])
                columns["contribution"].append(weight / max(weight.sum(), 1e-30))
        joined = {name: np.concatenate(column) for name, column in columns.items()}
        order = np.argsort(-joined["contribution"], kind="stable")
        return PoleTable(**{name: column[order] for name, column in joined.items()})
