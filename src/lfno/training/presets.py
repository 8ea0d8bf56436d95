"""The default preset: hyper-parameters that were chosen by the error on validation data."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from lfno.core.errors import LfnoError
from lfno.core.grid import Grid
from lfno.models.storage import MODELS
from lfno.spectral.axes import max_modes
from lfno.spectral.bases import OF_BOUNDARY
from lfno.training.config import TrainingConfig


@dataclass(frozen=True)
class Preset:
    """The model, its hyper-parameters and the options of training.

    model: the class name: "LFNO", "LNO", "FNO" or "Marching".
    fields: the fields of the configuration of the model.
    training: the options of training.
    """

    model: str
    fields: dict[str, Any]
    training: TrainingConfig

    def change(self, **changes: Any) -> Preset:
        """Return the preset with fields of the model or of the training replaced.

        Raises LfnoError for an unknown field; the message lists the known ones.

        >>> default_preset("lfno", Grid.line(256, dt=0.1)).change(width=8, epochs=10).training.epochs
        10
        """
        config = MODELS[self.model].Config
        own = {name: value for name, value in changes.items() if name in config.__dataclass_fields__}
        rest = {name: value for name, value in changes.items() if name not in own}
        unknown = sorted(set(rest) - set(TrainingConfig.__dataclass_fields__))
        if unknown:
            known = sorted({*config.__dataclass_fields__, *TrainingConfig.__dataclass_fields__})
            raise LfnoError(f"there is no option {unknown[0]!r}; the options are {', '.join(known)}")
        return Preset(self.model, self.fields | own, replace(self.training, **rest))


#: a function (model, grid) → preset; model is "lfno", "lno", "fno" or "marching"
PresetMaker = Callable[[str, Grid], Preset]


def kind_of(model: str) -> str:
    """Return the class name of "lfno", "lno", "fno" or "marching" (upper or lower case). Raises LfnoError for another name."""
    kind = {key.lower(): key for key in MODELS}.get(str(model).lower())
    if kind is None:
        raise LfnoError(f"model {model!r} is not known; choose lfno, lno, fno or marching")
    return kind


def default_preset(model: str, grid: Grid) -> Preset:
    """Return the default preset of a model on a grid. It depends on the axes of the grid, not on the data.

    model: "lfno", "lno", "fno" or "marching".
    grid: the grid of the samples.

    All channels of a layer share their poles. LFNO, LNO and FNO for fields get the coordinates as input channels, because an
    equation with boundary conditions is not translation invariant. FNO for signals also gets the time as an input channel,
    because it has no other information about the beginning of a transient. "marching" has its own preset: a network that
    predicts one frame (the field at one time) from the frame before.
    """
    kind, ode = kind_of(model), grid.ndim == 1
    if kind == "Marching":
        return _marching_preset(grid)
    most = [max_modes(axis.size, half=d == grid.ndim - 1) for d, axis in enumerate(grid.axes)]
    modes = tuple(min({1: 32, 2: 6}.get(grid.ndim, 4), limit) for limit in most)
    fields: dict[str, Any] = {"width": 16, "modes": modes, "activation": "gelu"}
    fields |= {"grid_channels": kind == "FNO" or not ode}
    if kind != "LNO":
        # signals and fields are not periodic in time, so they are padded. Three-dimensional grids are too large for padding
        fields |= {"padding": 0.5 if grid.ndim < 3 else 0.0}
    if kind != "FNO":
        fields |= {"n_poles": 32 if ode and kind == "LNO" else 8, "share_poles": True}
        fields |= {} if ode or grid.time is None else {"laplace_axes": "time"}
    if kind == "LNO":
        fields |= {"activation": "sin"}
    if kind == "LFNO" and any(axis.boundary in OF_BOUNDARY for axis in grid.axes):
        # mode k of a real basis has k half periods over the axis, so the same wavelengths need twice as many modes
        fields["modes"] = tuple(min(2 * n, m) if axis.boundary in OF_BOUNDARY else n
                                for n, m, axis in zip(modes, most, grid.axes, strict=True))  # fmt: skip
    if kind == "LFNO":
        # for nonlinear oscillators, more layers help more than more poles: each layer is like one step of a fixed-point
        # iteration. The gate multiplies responses. Such products can describe a frequency that depends on the
        # amplitude. The gate does not help for fields
        fields |= {"transient_layers": 8 if ode else 4, "gate": ode}
        # fields have few time steps, and a linear hold is too coarse: even with the exact poles of the heat equation, the error
        # would be 0.5 %
        fields |= {"hold": "linear" if ode else "cubic"}
    training = TrainingConfig(
        # for signals, small batches, a high learning rate and a loss with slopes (h1) reduce overfitting
        epochs={1: 400, 2: 800}.get(grid.ndim, 1000),
        batch={1: 16, 2: 50}.get(grid.ndim, 10),
        learning_rate=2e-2 if ode else 5e-3,
        loss="h1" if ode else "l2",
        steady_decay=None if kind == "LFNO" else 1e-4,
    )
    return Preset(kind, fields, training)


def _marching_preset(grid: Grid) -> Preset:
    """Return the preset of a network that predicts each frame from the frame before. Its samples are short pieces."""
    modes = tuple(min(16, max_modes(axis.size, half=d == grid.ndim - 2)) for d, axis in enumerate(grid.axes[:-1]))
    fields: dict[str, Any] = {"width": 32, "modes": (*modes, 1), "projection": 64}
    training = TrainingConfig(epochs=90, batch=32, learning_rate=2e-3, weight_decay=1e-5, validate_every=1)
    return Preset("Marching", fields, training)
