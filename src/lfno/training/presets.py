"""The default preset: the hyper-parameters that were best on validation data, as values."""

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
    """The fields of a model's configuration, and how to train it."""

    model: str
    fields: dict[str, Any]
    training: TrainingConfig

    def change(self, **changes: Any) -> Preset:
        """Fields of the model or of the training, by name; an unknown one is an error that lists what there is."""
        config = MODELS[self.model].Config
        own = {name: value for name, value in changes.items() if name in config.__dataclass_fields__}
        rest = {name: value for name, value in changes.items() if name not in own}
        unknown = sorted(set(rest) - set(TrainingConfig.__dataclass_fields__))
        if unknown:
            known = sorted({*config.__dataclass_fields__, *TrainingConfig.__dataclass_fields__})
            raise LfnoError(f"there is no option {unknown[0]!r}; there are {', '.join(known)}")
        return Preset(self.model, self.fields | own, replace(self.training, **rest))


#: makes the preset of a model ("lfno", "lno" or "fno") on a grid
PresetMaker = Callable[[str, Grid], Preset]


def kind_of(model: str) -> str:
    """Return the class name of "lfno", "lno" or "fno" in any case."""
    kind = {key.lower(): key for key in MODELS}.get(str(model).lower())
    if kind is None:
        raise LfnoError(f"model {model!r} is not known; choose lfno, lno or fno")
    return kind


def default_preset(model: str, grid: Grid) -> Preset:
    """One preset for every task, chosen on validation data: exact layers that share their poles, plus as much of R as the
    validation samples ask for. Fields in space get coordinates: a rod with fixed ends is not the same everywhere; FNO gets
    them in time too, since nothing else tells it where a transient begins."""
    kind, ode = kind_of(model), grid.ndim == 1
    most = [max_modes(axis.size, half=d == grid.ndim - 1) for d, axis in enumerate(grid.axes)]
    modes = tuple(min({1: 32, 2: 6}.get(grid.ndim, 4), limit) for limit in most)
    fields: dict[str, Any] = {"width": 16, "modes": modes, "activation": "gelu"}
    fields |= {"grid_channels": kind == "FNO" or not ode}
    if kind != "LNO":
        # neither signals nor fields in time end where they began; of flows, which are large, only the time could be padded
        fields |= {"padding": 0.5 if grid.ndim < 3 else 0.0}
    if kind != "FNO":
        fields |= {"n_poles": 32 if ode and kind == "LNO" else 8, "share_poles": True}
        fields |= {} if ode or grid.time is None else {"laplace_axes": "time"}
    if kind == "LNO":
        fields |= {"activation": "sin"}
    if kind == "LFNO" and any(axis.boundary in OF_BOUNDARY for axis in grid.axes):
        # a real basis has one mode where Fourier modes have two, of both signs
        fields["modes"] = tuple(min(2 * n, m) if axis.boundary in OF_BOUNDARY else n
                                for n, m, axis in zip(modes, most, grid.axes, strict=True))  # fmt: skip
    if kind == "LFNO":
        # a nonlinear oscillator is solved by iterating, one linear response after the other: depth, not poles; and its
        # frequency follows its amplitude, which takes products of responses (in fields they do not pay)
        fields |= {"transient_layers": 8 if ode else 4, "gate": ode}
        # fields have few time steps: the exact heat equation with a linear hold is wrong by half a percent there
        fields |= {"hold": "linear" if ode else "cubic"}
    training = TrainingConfig(
        # small batches, long steps and slopes to be learned as well hold a network on signals back from its samples
        epochs={1: 400, 2: 800}.get(grid.ndim, 1000),
        batch={1: 16, 2: 50}.get(grid.ndim, 10),
        learning_rate=2e-2 if ode else 5e-3,
        loss="h1" if ode else "l2",
        steady_decay=None if kind == "LFNO" else 1e-4,
    )
    return Preset(kind, fields, training)
