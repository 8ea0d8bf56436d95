"""What a model is made of: one frozen dataclass per model, also its constructor's signature and its metadata."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass, fields
from typing import Any

from lfno.core.errors import LfnoError

#: numbers in a model: more than this is a mistake
LARGEST = 2**32
ACTIVATIONS = ("relu", "gelu", "silu", "tanh", "sin")


def check_choice(name: str, value: str, choices: tuple[str, ...]) -> None:
    if value not in choices:
        raise LfnoError(f"{name}={value!r} is not known; choose one of {', '.join(choices)}")


def check_count(name: str, value: Any, low: int = 1, high: int = 1_000_000) -> None:
    if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
        raise LfnoError(f"{name}={value!r} must be a whole number from {low} to {high}")


def check_number(name: str, value: Any, low: float, high: float) -> None:
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not low <= value <= high:
        raise LfnoError(f"{name}={value!r} must be a number from {low:g} to {high:g}")


def check_flag(name: str, value: Any) -> None:
    if not isinstance(value, bool):
        raise LfnoError(f"{name}={value!r} must be true or false")


@dataclass(frozen=True)
class OperatorConfig:
    """What every neural operator here has: lift → layers of `width` channels → projection (via `projection` channels).

    modes: Fourier modes |l| < modes kept by each layer, one number for all axes or one for each.
    grid_channels: append the coordinates, scaled to [0, 1) over the training grid, to the input channels.
    padding: extend every non-periodic axis by this fraction of its length with zeros while inside the layers, so that
        what the Fourier modes wrap around falls into the extension. Where an axis has poles and layers are exact but for R,
        R alone sees the extension: nothing else wraps around there.
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
        known = {field.name for field in fields(cls)}
        unknown = sorted(set(tree) - known)
        if unknown:
            raise LfnoError(f"{cls.__name__} has no field {unknown[0]!r}; it has {', '.join(sorted(known))}")
        return cls(**tree)


@dataclass(frozen=True)
class PoleConfig(OperatorConfig):
    """What pole–residue models have besides.

    n_poles: poles on each Laplace axis; poles: "stable" (μ = −e^a + ib, never grows) or "free" (the literature's).
    share_poles: one set of poles for the whole layer instead of one for each pair of channels.
    laplace_axes: the axes that carry poles (the others carry Fourier modes); None means all, "time" only the time axis.
    mixed: with poles on several axes, keep the terms that decay along some axes and ring along others (exact), or only
        the one that decays along all of them (the literature).
    cycles: the fastest pole starts with this many oscillations per training window.
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
    """Refuse what no memory holds before any is taken: the weights of all layers, counted from above."""
    depth = sum(value for name, value in asdict(config).items() if name.endswith("layers"))
    per_pair = 1 + math.prod(2 * count for count in modes) + getattr(config, "n_poles", 0) ** len(modes)
    ends = (config.in_channels + config.projection + len(modes)) * config.width + config.projection * config.out_channels
    numbers = max(depth, 1) * config.width**2 * per_pair + ends
    if numbers > LARGEST:
        raise LfnoError(f"a model of width {config.width} with modes {tuple(modes)} has up to {numbers:.1g} numbers; use less")
