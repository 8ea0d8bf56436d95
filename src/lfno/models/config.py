"""The options of the models: one frozen dataclass per model. Its fields are the arguments of the constructor and the metadata
of a model file.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass, fields
from typing import Any

from lfno.core.errors import LfnoError

#: largest number of parameters of a model; more is a mistake
LARGEST = 2**32
ACTIVATIONS = ("relu", "gelu", "silu", "tanh", "sin")


def check_choice(name: str, value: str, choices: tuple[str, ...]) -> None:
    """Raise LfnoError if `value` is not one of `choices`."""
    if value not in choices:
        raise LfnoError(f"{name}={value!r} is not known; choose one of {', '.join(choices)}")


def check_count(name: str, value: Any, low: int = 1, high: int = 1_000_000) -> None:
    """Raise LfnoError if `value` is not a whole number from `low` to `high`."""
    if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
        raise LfnoError(f"{name}={value!r} must be a whole number from {low} to {high}")


def check_number(name: str, value: Any, low: float, high: float) -> None:
    """Raise LfnoError if `value` is not a number from `low` to `high`."""
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not low <= value <= high:
        raise LfnoError(f"{name}={value!r} must be a number from {low:g} to {high:g}")


def check_flag(name: str, value: Any) -> None:
    """Raise LfnoError if `value` is not True or False."""
    if not isinstance(value, bool):
        raise LfnoError(f"{name}={value!r} must be true or false")


@dataclass(frozen=True)
class OperatorConfig:
    """Options of every neural operator: lift → layers of `width` channels → projection (via `projection` channels).

    modes: each layer keeps the Fourier modes |l| < modes; one value for all axes, or one for each.
    grid_channels: whether the coordinates, scaled to [0, 1) over the training grid, are further input channels.
    padding: inside the layers, every non-periodic axis is extended with zeros by this fraction of its length. Fourier modes
        then wrap around into the extension. If layers are exact apart from R, only R sees the extension on axes with poles,
        because nothing else wraps around there.
    """

    in_channels: int = 1
    out_channels: int = 1
    width: int = 16
    modes: int | tuple[int, ...] = 16
    activation: str = "gelu"
    projection: int = 128
    grid_channels: bool = False
    padding: float = 0.0

    def __post_init__(self) -> None:
        for name in ("in_channels", "out_channels", "width", "projection"):
            check_count(name, getattr(self, name))
        if isinstance(self.modes, list):
            object.__setattr__(self, "modes", tuple(self.modes))
        for count in self.modes if isinstance(self.modes, tuple) else (self.modes,):
            check_count("modes", count)
        check_choice("activation", self.activation, ACTIVATIONS)
        check_flag("grid_channels", self.grid_channels)
        check_number("padding", self.padding, 0, 4)

    @classmethod
    def from_fields(cls, tree: dict[str, Any]) -> Any:
        """Return the options from a dictionary. Raises LfnoError for an unknown field."""
        known = {field.name for field in fields(cls)}
        unknown = sorted(set(tree) - known)
        if unknown:
            raise LfnoError(f"{cls.__name__} has no field {unknown[0]!r}; it has {', '.join(sorted(known))}")
        return cls(**tree)


@dataclass(frozen=True)
class PoleConfig(OperatorConfig):
    """Further options of models with poles and residues.

    n_poles: the number of poles on each Laplace axis.
    poles: "stable" (μ = −e^a + ib, which never grows) or "free" (as in the literature).
    share_poles: whether a layer has one set of poles instead of one for each pair of channels.
    laplace_axes: the axes with poles; the others have Fourier modes. None means all axes, "time" only the time axis.
    mixed: with poles on several axes, whether to keep the terms that decay along some axes and are steady along others
        (exact). If False, only the term that decays along all axes is kept (as in the literature).
    cycles: the number of oscillations per training window of the fastest pole at initialisation.
    """

    n_poles: int = 4
    poles: str = "stable"
    share_poles: bool = False
    laplace_axes: str | tuple[int, ...] | None = None
    mixed: bool = True
    cycles: float = 32.0

    def __post_init__(self) -> None:
        super().__post_init__()
        check_count("n_poles", self.n_poles)
        check_choice("poles", self.poles, ("stable", "free"))
        if isinstance(self.laplace_axes, list):
            object.__setattr__(self, "laplace_axes", tuple(self.laplace_axes))
        if isinstance(self.laplace_axes, str):
            check_choice("laplace_axes", self.laplace_axes, ("time",))
        elif not isinstance(self.laplace_axes, tuple | None):
            raise LfnoError(f"laplace_axes={self.laplace_axes!r} must be None, 'time' or a tuple of axis numbers")
        check_flag("share_poles", self.share_poles)
        check_flag("mixed", self.mixed)
        check_number("cycles", self.cycles, 1e-6, 1e9)


def check_size(config: Any, modes: Sequence[int]) -> None:
    """Raise LfnoError if the weights of all layers, estimated from above, are too many. No memory is allocated before."""
    depth = sum(value for name, value in asdict(config).items() if name.endswith("layers"))
    per_pair = 1 + math.prod(2 * count for count in modes) + getattr(config, "n_poles", 0) ** len(modes)
    ends = (config.in_channels + config.projection + len(modes)) * config.width + config.projection * config.out_channels
    numbers = max(depth, 1) * config.width**2 * per_pair + ends
    if numbers > LARGEST:
        raise LfnoError(f"a model of width {config.width} with modes {tuple(modes)} has up to {numbers:.1g} numbers; use less")
