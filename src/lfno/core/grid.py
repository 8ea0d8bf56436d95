"""The grid a field lives on: the physical units that poles, frequencies and plots need."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np

from lfno.core.errors import LfnoError


def with_unit(name: str, unit: str) -> str:
    """A quantity as axes of figures and columns of files are headed: `u [m]`, or `u` without a unit."""
    return f"{name} [{unit}]" if unit else name


@dataclass(frozen=True)
class Axis:
    """`size` equally spaced points `origin + j step`, in `unit`.

    A `periodic` axis closes on itself after `size * step`; a `time` axis is the one that has a before and an after.
    """

    name: str
    size: int
    step: float
    origin: float = 0.0
    unit: str = ""
    periodic: bool = False
    time: bool = False

    def __post_init__(self) -> None:
        if isinstance(self.size, bool) or int(self.size) != self.size or self.size < 1:
            raise LfnoError(f"axis {self.name!r} has size {self.size!r}: a whole number of at least 1 is needed")
        if not (math.isfinite(self.step) and self.step > 0):
            raise LfnoError(f"axis {self.name!r} has step {self.step!r}: a positive finite number is needed")
        if not (math.isfinite(self.origin) and math.isfinite(self.origin + self.size * self.step)):
            raise LfnoError(f"axis {self.name!r} has origin {self.origin!r}: it must begin and end at finite numbers")

    @property
    def points(self) -> np.ndarray:
        return self.origin + self.step * np.arange(self.size)

    @property
    def length(self) -> float:
        """The period of the discrete Fourier transform along this axis, size × step."""
        return self.size * self.step

    @property
    def label(self) -> str:
        return with_unit(self.name, self.unit)


@dataclass(frozen=True)
class Grid:
    """The axes of a field in the order of its array, time last: `(x, t)`, `(x, y, t)` or `(t,)`.

    >>> Grid.line(2048, dt=0.01).steps
    (0.01,)
    """

    axes: tuple[Axis, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "axes", tuple(self.axes))
        if not self.axes:
            raise LfnoError("a grid needs at least one axis")
        names = [axis.name for axis in self.axes]
        if len(set(names)) != len(names):
            raise LfnoError(f"two axes of the grid have the same name: {names}")

    @classmethod
    def line(cls, size: int, dt: float, unit: str = "s") -> Grid:
        """A single time axis: what a measured signal lives on."""
        return cls((Axis("t", size, dt, unit=unit, time=True),))

    @property
    def ndim(self) -> int:
        return len(self.axes)

    @property
    def shape(self) -> tuple[int, ...]:
        return tuple(axis.size for axis in self.axes)

    @property
    def form(self) -> tuple[tuple[int, bool, bool], ...]:
        """What a network, which counts in windows, sees of a grid: points, which axes close on themselves, which are time."""
        return tuple((axis.size, axis.periodic, axis.time) for axis in self.axes)

    @property
    def steps(self) -> tuple[float, ...]:
        return tuple(axis.step for axis in self.axes)

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(axis.name for axis in self.axes)

    @property
    def time(self) -> int | None:
        """Index of the (last) time axis, or None for a purely spatial grid."""
        return next((d for d in reversed(range(self.ndim)) if self.axes[d].time), None)

    def __getitem__(self, name: str) -> Axis:
        for axis in self.axes:
            if axis.name == name:
                return axis
        raise LfnoError(f"the grid has no axis {name!r}; it has {list(self.names)}")

    def change(self, name: str, **fields: Any) -> Grid:
        """The same grid with fields of one axis replaced: `grid.change("t", size=4096, step=0.005)`."""
        new = replace(self[name], **fields)
        return Grid(tuple(new if axis.name == name else axis for axis in self.axes))

    def mesh(self) -> tuple[np.ndarray, ...]:
        """Coordinates of every point, one array of the grid's shape per axis."""
        return tuple(np.meshgrid(*(axis.points for axis in self.axes), indexing="ij"))

    def to_dict(self) -> dict[str, Any]:
        return {"axes": [asdict(axis) for axis in self.axes]}

    @classmethod
    def from_dict(cls, tree: dict[str, Any]) -> Grid:
        try:
            return cls(tuple(Axis(**axis) for axis in tree["axes"]))
        except LfnoError:
            raise
        except (KeyError, TypeError, ValueError, OverflowError) as error:
            raise LfnoError(f"this is not the description of a grid: {error}") from error
