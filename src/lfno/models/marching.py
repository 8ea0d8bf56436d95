"""A network that predicts frame after frame. It learns how a field changes in one time step, and repeats this step.

A frame is the field at one time.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from lfno.core.errors import LfnoError
from lfno.core.grid import Grid
from lfno.models.config import OperatorConfig, check_count
from lfno.models.fourier_weights import FourierWeights
from lfno.models.operator import Operator, _column
from lfno.models.pointwise import Pointwise, project

#: factor of the output of the network. It is small, because a field changes little from one frame to the next
SMALL = 0.1


@dataclass(frozen=True)
class MarchingConfig(OperatorConfig):
    """Options of a marching network: the options of every operator, and the number of layers.

    modes: one entry for each axis. The last entry belongs to the time axis and must be 1, because time has no modes here.
    """

    layers: int = 4

    def __post_init__(self) -> None:
        super().__post_init__()
        check_count("layers", self.layers, high=1000)
        if self.grid_channels or self.padding:
            raise LfnoError("a marching network has its own coordinates and no padding; leave out grid_channels and padding")


class Products(nn.Module):
    """A layer with products: v ← v + B (p q) + b, where p and q are the two halves of the channels of A (R v + W v).

    R acts on the low Fourier modes. A, B and W are channel maps. Advection is the product of the velocity and a gradient. In
    the vorticity equation of a plane flow, both are linear functions of the field, so products p q can express advection.
    """

    def __init__(self, width: int, modes: Sequence[int]) -> None:
        super().__init__()
        self.weights = FourierWeights(width, width, modes)
        self.pointwise, self.widen, self.narrow = Pointwise(width, width), Pointwise(width, 2 * width), Pointwise(width, width)

    def forward(self, v: Tensor) -> Tensor:
        p, q = self.widen(self.pointwise(v, [self.weights(v)])).chunk(2, 1)
        return v + self.narrow(p * q)


class Marching(Operator):
    """The network w(t + Δt) = w(t) + N(w(t)) for a field w. N is lift → layers with products → projection.

    The network is for fields that evolve from an initial state, without an input that changes in time. All axes of space must
    be periodic. The inputs are the frames before the first output frame. Each frame is a group of `out_channels` input
    channels, oldest frame first, and is repeated along time. Only the newest frame is used. The time step Δt is the step of the
    training grid. The network can predict any number of frames.

    >>> axes = lfno.Axis("x", 32, 1 / 32, periodic=True), lfno.Axis("t", 5, 0.1, time=True)
    >>> model = Marching(lfno.Grid(axes), modes=(8, 1))
    >>> model.predict(np.zeros((3, 1, 32, 5))).shape
    (3, 1, 32, 5)
    """

    Config = MarchingConfig
    config: MarchingConfig

    def build(self) -> None:
        self._check_axes()
        width, out, space = self.config.width, self.config.out_channels, self.modes[:-1]
        self.lift = Pointwise(out + 2 * len(space), width)  # the frame, sine and cosine of each coordinate
        self.blocks = nn.ModuleList(Products(width, space) for _ in range(self.config.layers))

    def _check_axes(self) -> None:
        """Raise LfnoError if the grid or the options do not fit a marching network."""
        *space, time = self.grid.axes
        if not space or self.grid.time != len(space):
            raise LfnoError("a marching network needs axes of space, and time as the last axis")
        bounded = [axis.name for axis in space if not axis.periodic]
        if bounded:
            raise LfnoError(f"a marching network needs periodic axes of space; {bounded[0]!r} is not periodic. Use an LFNO")
        if self.modes[-1] != 1:
            told = f"found modes={self.modes}, and the last entry must be 1"
            raise LfnoError(f"a marching network has no modes along {time.name!r}: {told}")
        if self.config.in_channels % self.config.out_channels:
            raise LfnoError(
                f"the inputs of a marching network are earlier frames of its {self.config.out_channels} output channels; "
                f"the number of input channels must be a multiple of this number, but it is {self.config.in_channels}"
            )

    def signed(self, d: int) -> bool:
        """Return whether both signs of the modes of axis d are kept: on all axes of space but the last."""
        return d < self.grid.ndim - 2

    def check(self, x: Tensor, grid: Grid | None) -> Grid:
        grid = super().check(x, grid)
        found, own = grid.axes[-1].step, self.grid.axes[-1].step
        if abs(found - own) > 1e-6 * own:
            raise LfnoError(f"a marching network needs the time step of its training grid, {own:g}; found {found:g}")
        return grid

    def respond(self, x: Tensor, grid: Grid | None = None, transient: bool = True) -> Tensor:
        """Return one frame for each time step of x, (batch, out, *space, time). `transient` has no effect without poles."""
        frame = x[:, x.shape[1] - self.config.out_channels :, ..., 0]
        scale, offset = (_column(value, frame) for value in (self.output_scale, self.output_offset))
        frame, places, frames = (frame - offset) / scale, self._places(grid or self.grid, frame), []
        for _ in range(x.shape[-1]):
            frame = frame + self._change(frame, places)
            frames.append(frame)
        return torch.stack([frame * scale + offset for frame in frames], -1)

    def _change(self, frame: Tensor, places: Tensor) -> Tensor:
        """Return the change of a frame in one time step, in the units of the network."""
        v = self.layers(self.lift(torch.cat((frame, places), 1)), (), True)
        return SMALL * project(v, self.hidden, self.project, self.config.activation)

    def layers(self, v: Tensor, steps: Sequence[float], transient: bool) -> Tensor:
        for block in self.blocks:
            v = block(v)
        return v

    def _places(self, grid: Grid, frame: Tensor) -> Tensor:
        """Return sine and cosine of each coordinate of space, (batch, 2 × axes, *space). Like the field, they are periodic."""
        space, waves = grid.axes[:-1], []
        for wave in (torch.sin, torch.cos):
            for d, axis in enumerate(space):
                angle = torch.arange(axis.size, dtype=frame.dtype, device=frame.device) * (2 * math.pi / axis.size)
                shape: list[Any] = [-1 if e == d else 1 for e in range(len(space))]
                waves.append(wave(angle).reshape(shape).expand(*(one.size for one in space)))
        return torch.stack(waves).expand(frame.shape[0], *(-1,) * (1 + len(space)))
