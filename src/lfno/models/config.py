"""The options of the models: one frozen dataclass for each model.

The fields of the dataclass are keyword arguments of the model's constructor. A model file stores the options as metadata.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass, fields
from typing import Any

from lfno.core.errors import LfnoError

#: largest estimated number of parameters of a model; a larger estimate is a mistake of the user
LARGEST = 2**32
#: names of the activation functions
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
    """Options of every neural operator: lift → layers → projection.

    in_channels, out_channels: the numbers of input and output channels.
    width: the number of channels inside the layers.
    modes: each layer keeps the Fourier modes |l| < modes; one value for all axes, or one for each axis.
    activation: the name of the activation function.
    projection: the number of hidden channels of the projection.
    grid_channels: whether the coordinates, scaled to [0, 1) over the training grid, are also input channels.
    padding: the number of zeros that are added to every non-periodic axis, divided by the number of its points. A Fourier
        transform connects the two ends of an axis, and the zeros keep the ends apart. All parts of a layer use the zeros. If
        only R (the learned matrices at the low Fourier modes) connects the ends of an axis, only R uses the zeros.
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
        """Return the options with the values of a dictionary. Raises LfnoError for an unknown field."""
        known = {field.name for field in fields(cls)}
        unknown = sorted(set(tree) - known)
        if unknown:
            raise LfnoError(f"{cls.__name__} has no field {unknown[0]!r}; it has {', '.join(sorted(known))}")
        return cls(**tree)


@dataclass(frozen=True)
class PoleConfig(OperatorConfig):
    """Further options of models with poles and residues.

    n_poles: the number of poles on each Laplace axis (each axis with poles).
    poles: "stable" (μ = −e^a + ib, so that responses never grow) or "free" (any complex number, as in the literature).
    share_poles: whether all pairs of channels of a layer share one set of poles. If False, each pair has its own set.
    laplace_axes: the axes with poles; the other axes have Fourier modes. None means all axes, "time" only the time axis.
    mixed: whether the transient part includes terms that decay along some axes with poles and are steady along others. The
        exact response needs these terms. If False, the transient part is only the term that decays along all axes with poles,
        as in the literature. With poles on one axis, `mixed` has no effect.
    cycles: the largest number of oscillations of a pole over the training grid, at initialisation. Free poles ignore `cycles`.
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
    """Raise LfnoError if a rough estimate of the number of parameters is too large. The estimate allocates no memory.

    config: the options of the model.
    modes: the number of modes of each axis.
    """
    depth = sum(value for name, value in asdict(config).items() if name.endswith("layers"))
    per_pair = 1 + math.prod(2 * count for count in modes) + getattr(config, "n_poles", 0) ** len(modes)
    ends = (config.in_channels + config.projection + len(modes)) * config.width + config.projection * config.out_channels
    numbers = max(depth, 1) * config.width**2 * per_pair + ends
    if numbers > LARGEST:
        raise LfnoError(
            f"a model of width {config.width} with modes {tuple(modes)} has about {numbers:.1g} parameters, which is too many; "
            "use a smaller width, or fewer modes, poles or layers"
        )
