"""The base class of all networks: units, checks, lift and projection, decomposition, prediction."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import asdict
from os import PathLike
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import torch
from torch import Tensor, nn

from lfno.core import tensorfile
from lfno.core.checks import real_array
from lfno.core.errors import LfnoError
from lfno.core.grid import Grid
from lfno.models.config import OperatorConfig, check_size
from lfno.models.fourier_weights import crop, extend
from lfno.models.inputs import Index, as_batch
from lfno.models.kernel import WINDOW
from lfno.models.pointwise import Pointwise, activation, project
from lfno.spectral.axes import max_modes

FILE_KEY = "lfno"  # the name of the metadata in the file of a network
FILE_VERSION = 1  # the version of the file format


class Operator(nn.Module, ABC):
    """A neural operator in physical units: (batch, in_channels, *grid) → (batch, out_channels, *grid).

    grid: the training grid. It sets the unit of the poles, and it is the default grid of every call.
    config: the options, as an instance of `Config`. Alternatively, give the options as keyword arguments.

    Every call accepts another grid, for another resolution or duration. Inputs and outputs are in the user's units. The model
    stores the offset and the scale of every channel.
    """

    Config: ClassVar[type[OperatorConfig]]
    input_offset: Tensor
    input_scale: Tensor
    output_offset: Tensor
    output_scale: Tensor

    def __init__(self, grid: Grid, config: OperatorConfig | None = None, /, **fields: Any) -> None:
        super().__init__()
        if config is not None and fields:
            raise LfnoError("give either a configuration or its fields, not both")
        if not isinstance(grid, Grid):
            raise LfnoError(f"the first argument is the training grid, an lfno.Grid; found {type(grid).__name__}")
        self.config: Any = config if config is not None else self.Config.from_fields(fields)
        if not isinstance(self.config, self.Config):
            raise LfnoError(f"{type(self).__name__} needs a {self.Config.__name__}; found {type(config).__name__}")
        self.grid = grid
        self.provenance: dict[str, Any] = {}
        self.modes = _modes_per_axis(self.config.modes, grid)
        self.check_modes(grid)
        check_size(self.config, self.modes)
        self.coordinate_axes = self.axes_with_coordinates()
        self.activation = activation(self.config.activation)
        self.lift = Pointwise(self.config.in_channels + len(self.coordinate_axes), self.config.width)
        self.build()
        self.hidden = Pointwise(self.config.width, self.config.projection)
        self.project = Pointwise(self.config.projection, self.config.out_channels)
        for name, channels in (("input", self.config.in_channels), ("output", self.config.out_channels)):
            self.register_buffer(f"{name}_offset", torch.zeros(channels))
            self.register_buffer(f"{name}_scale", torch.ones(channels))

    def __repr__(self) -> str:
        inputs, outputs = self.channels
        count = sum(parameter.numel() for parameter in self.parameters())
        size = f"width {self.config.width}, {count} parameters"
        return f"{type(self).__name__}({inputs} → {outputs} channels, {size}, {self.grid!r})"

    @property
    def channels(self) -> tuple[int, int]:
        """The numbers of input and output channels."""
        return self.config.in_channels, self.config.out_channels

    def axes_with_coordinates(self) -> tuple[int, ...]:
        """Return the axes whose coordinates are input channels of the lift."""
        return tuple(range(self.grid.ndim)) if self.config.grid_channels else ()

    @abstractmethod
    def build(self) -> None:
        """Create the layers between lift and projection."""

    @abstractmethod
    def layers(self, v: Tensor, steps: Sequence[float], transient: bool) -> Tensor:
        """Return the output of all layers, (batch, width, *grid), for an input v in the same shape.

        steps: the distances between points of the grid, in the units of the layers.
        transient: whether layers include their transient terms.
        """

    # -- forward pass --------------------------------------------------------------------------------------------

    def forward(self, x: Tensor, grid: Grid | None = None) -> Tensor:
        """Return the outputs for inputs x, in physical units: (batch, in, *grid) → (batch, out, *grid).

        grid: the grid of the input, by default the training grid.

        Raises LfnoError if the input does not fit the model.
        """
        grid = self.check(x, grid)
        return self.respond(x, grid)

    def respond(self, x: Tensor, grid: Grid | None = None, transient: bool = True) -> Tensor:
        """Return the same outputs as `forward`, without checks of the inputs.

        transient: whether the layers start from rest. If False, every layer is in its periodic steady state.
        """
        grid = grid or self.grid
        v = self.scaled_inputs(x)
        if self.coordinate_axes:
            v = torch.cat((v, self._coordinates(grid, v)), 1)
        v = extend(self.lift(v), self._extension(grid))
        v = crop(self.layers(v, self.steps(grid), transient), x.shape[2:])
        return self.projected(v)

    def scaled_inputs(self, x: Tensor) -> Tensor:
        """Return inputs in the units of the network: (x − offset) / scale."""
        return (x - _column(self.input_offset, x)) / _column(self.input_scale, x)

    def projected(self, v: Tensor) -> Tensor:
        """Return the projection of v, the output of the last layer, in physical units."""
        u = project(v, self.hidden, self.project, self.config.activation)
        return u * _column(self.output_scale, u) + _column(self.output_offset, u)

    def steps(self, grid: Grid) -> tuple[float, ...]:
        """Return the distances between grid points in the units of the layers: a training axis has the length WINDOW."""
        return tuple(axis.step * WINDOW / own.length for axis, own in zip(grid.axes, self.grid.axes, strict=True))

    def _coordinates(self, grid: Grid, v: Tensor) -> Tensor:
        """Return the coordinates of the grid as channels, (batch, axes, *grid). The training grid has coordinates in [0, 1)."""
        columns = []
        for d in self.coordinate_axes:
            axis, own = grid.axes[d], self.grid.axes[d]
            start, step = (axis.origin - own.origin) / own.length, axis.step / own.length
            line = start + step * torch.arange(axis.size, dtype=v.dtype, device=v.device)
            line = line.reshape([-1 if e == d else 1 for e in range(grid.ndim)])
            columns.append(line.expand(v.shape[0], 1, *grid.shape))
        return torch.cat(columns, 1)

    def padding(self, wrapping: bool = True) -> list[float]:
        """Return the fraction by which each axis is extended with zeros.

        wrapping: True for the extension that all parts of a layer use, False for the extension that only R uses.
        """
        ends = [not axis.periodic and self.wraps(d) == wrapping for d, axis in enumerate(self.grid.axes)]
        return [self.config.padding if end else 0.0 for end in ends]

    def wraps(self, d: int) -> bool:
        """Return whether layers connect the two ends of axis d. In models with poles, R is not counted."""
        return True

    def _extension(self, grid: Grid) -> list[int]:
        """Return the number of zeros that layers add to each axis of the grid."""
        return [math.ceil(share * axis.size) for share, axis in zip(self.padding(), grid.axes, strict=True)]

    # -- predictions and checks ----------------------------------------------------------------------------------

    @torch.no_grad()
    def predict(self, inputs: Any, grid: Grid | None = None, batch: int = 64) -> np.ndarray:
        """Return the predictions as an array (batch, channels, *grid), in physical units.

        inputs: an array (batch, channels, *grid). An array without the batch or the channel axis is also accepted, if its shape
            is unambiguous. The predictions then have no such axis either. Several output channels always keep their axis.
        grid: the grid of the inputs, by default the training grid. The grid may have another time step or another duration, but
            the network has not been trained for another duration.
        batch: the number of samples that are computed at once.

        Raises LfnoError if the inputs do not fit the model.
        """
        x, index = self._as_batch(inputs, grid)
        parts = [self(part, grid) for part in x.split(batch)]
        return torch.cat(parts).cpu().numpy()[index]

    @torch.no_grad()
    def decompose(self, inputs: Any, grid: Grid | None = None) -> tuple[np.ndarray, np.ndarray]:
        """Return the transient part and the steady part of the prediction, two arrays. Their sum is the prediction.

        The steady part is the output of the network if all layers leave out their transient terms. If the poles are stable and
        no layer has R, this output is the response to the input repeated for ever. Offsets and channel maps belong to the
        steady part. The transient part of a model without poles is zero.
        """
        x, index = self._as_batch(inputs, grid)
        grid = self.check(x, grid)
        full, steady = self.respond(x, grid), self.respond(x, grid, transient=False)
        return (full - steady).cpu().numpy()[index], steady.cpu().numpy()[index]

    def _as_batch(self, inputs: Any, grid: Grid | None) -> tuple[Tensor, Index]:
        """Return the inputs with batch and channel axes, and the index that removes added axes from the output."""
        if not isinstance(grid, Grid | None):
            raise LfnoError(f"the grid of the inputs is an lfno.Grid; found {type(grid).__name__}")
        ndim = (grid or self.grid).ndim
        x, index = as_batch(inputs, ndim, self.channels, self.lift.weight)
        if x.ndim != ndim + 2:  # report a wrong shape before the axes are used
            self.check(x, grid)
        return x, index

    def check(self, x: Tensor, grid: Grid | None) -> Grid:
        """Return the grid of an input. Raises LfnoError if the input does not fit the model."""
        grid = self.grid if grid is None else grid
        if not isinstance(x, Tensor) or not isinstance(grid, Grid):
            raise LfnoError(
                f"a model takes a tensor and a grid; found {type(x).__name__} and {type(grid).__name__} "
                "(predict takes arrays)"
            )
        names = " × ".join(f"{axis.name}={axis.size}" for axis in grid.axes)
        points = " × ".join(str(size) for size in x.shape[2:])
        if grid.ndim != self.grid.ndim:
            raise LfnoError(f"the grid has {grid.ndim} axes, but the model was built for {self.grid.ndim}")
        if x.ndim != grid.ndim + 2:
            raise LfnoError(
                f"the input has shape {tuple(x.shape)}; expected (batch, {self.config.in_channels}, {names})"
            )
        if x.shape[1] != self.config.in_channels:
            raise LfnoError(f"the input has {x.shape[1]} channels; the model takes {self.config.in_channels}")
        if tuple(x.shape[2:]) != grid.shape:
            raise LfnoError(f"the input has {points} points, but the grid has {names}; pass the grid of the input")
        if x.shape[0] == 0:
            raise LfnoError("the input holds no sample: its batch axis has length 0")
        if x.dtype != self.lift.weight.dtype:
            raise LfnoError(f"the input has dtype {x.dtype}; the model computes in {self.lift.weight.dtype}")
        self.check_modes(grid)
        if not torch.compiler.is_compiling() and not bool(torch.isfinite(x).all()):
            raise LfnoError("the input contains NaN or infinite values; remove or fill them first")
        return grid

    def check_modes(self, grid: Grid) -> None:
        """Raise LfnoError if an axis has too few points for the modes of the model."""
        for d, (count, axis) in enumerate(zip(self.modes, grid.axes, strict=True)):
            most = max_modes(axis.size, half=not self.signed(d))
            if count > most:
                raise LfnoError(
                    f"{count} modes on axis {axis.name!r} are too many: {axis.size} points allow at most {most} (Nyquist limit)"
                )

    def signed(self, d: int) -> bool:
        """Return whether both signs of the modes of axis d are kept.

        Only the last axis keeps modes l ≥ 0 alone: in a real field, the other modes are their conjugates.
        """
        return d < self.grid.ndim - 1

    @torch.no_grad()
    def normalise(self, input_offset: Any, input_scale: Any, output_offset: Any, output_scale: Any) -> None:
        """Set offset and scale of the inputs and outputs, one value for each channel.

        A value in physical units is offset + scale · (value in the units of the network).
        """
        given = {"input_offset": input_offset, "input_scale": input_scale}
        given |= {"output_offset": output_offset, "output_scale": output_scale}
        for name, value in given.items():
            buffer: Tensor = getattr(self, name)
            tensor = torch.as_tensor(real_array(value, name).astype(np.float64)).to(buffer)
            if tensor.numel() not in (1, buffer.numel()):
                raise LfnoError(f"{name} has {tensor.numel()} values, but the model has {buffer.numel()} channels")
            if not bool(torch.isfinite(tensor).all()) or (name.endswith("scale") and bool((tensor == 0).any())):
                raise LfnoError(f"{name} must be finite and, for a scale, not zero; found {tensor.tolist()}")
            buffer.copy_(tensor.reshape(-1).expand_as(buffer))

    def poles(self) -> Any:
        """Return the table of poles. Raises LfnoError for a model without poles."""
        raise LfnoError(f"{type(self).__name__} has no poles; models with poles are LFNO, LNO and linear models")

    # -- files ---------------------------------------------------------------------------------------------------

    def description(self) -> dict[str, Any]:
        """Return the class, the configuration and the grid as plain values, for the metadata of a model file."""
        return {"model": type(self).__name__, "config": asdict(self.config), "grid": self.grid.to_dict()}

    def save(self, path: str | PathLike[str], /, **provenance: Any) -> None:
        """Write one safetensors file with weights, configuration, grid, provenance and a checksum. `lfno.load` reads it.

        provenance: entries that are added to the provenance of the model.

        The file is written completely or not at all.
        """
        tree = {"version": FILE_VERSION, **self.description(), "provenance": self.provenance | provenance}
        tensorfile.write(Path(path), self.state_dict(), tree, FILE_KEY)


def _column(value: Tensor, like: Tensor) -> Tensor:
    """Return values (channels,) in a shape that can be multiplied with `like`, (batch, channels, …)."""
    return value.reshape(-1, *(1,) * (like.ndim - 2))


def _modes_per_axis(modes: int | tuple[int, ...], grid: Grid) -> tuple[int, ...]:
    """Return the number of modes of each axis. Raises LfnoError if `modes` does not have one value for each axis."""
    per_axis = (modes,) * grid.ndim if isinstance(modes, int) else modes
    if len(per_axis) != grid.ndim:
        axes = ", ".join(grid.names)
        raise LfnoError(f"modes={modes} has {len(per_axis)} values; give one value for each axis of the grid: {axes}")
    return per_axis
