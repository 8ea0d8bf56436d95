"""The grid of a field: names, spacing and units of its axes."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np

from lfno.core.errors import LfnoError

#: boundary conditions of an axis; "" if nothing is known
BOUNDARIES = ("", "fixed", "free", "periodic")


def with_unit(name: str, unit: str) -> str:
    """Return a heading for a quantity: `u [m]`, or `u` if there is no unit.

    >>> with_unit("u", "m"), with_unit("u", "")
    ('u [m]', 'u')
    """
    return f"{name} [{unit}]" if unit else name


def frequency_unit(unit: str) -> str:
    """Return the unit of a frequency for a unit of time: Hz for seconds, 1/h for hours, and "" for an unknown unit.

    >>> frequency_unit("s"), frequency_unit("h"), frequency_unit("")
    ('Hz', '1/h', '')
    """
    return "Hz" if unit == "s" else f"1/{unit}" if unit else ""


def pole_units(unit: str) -> tuple[str, str]:
    """Return the units of the real part and of the imaginary part of a pole for a unit of time; "" for an unknown unit.

    >>> pole_units("s"), pole_units("")
    (('1/s', 'rad/s'), ('', ''))
    """
    return (f"1/{unit}", f"rad/{unit}") if unit else ("", "")


@dataclass(frozen=True, repr=False)
class Axis:
    """An axis of equally spaced points, `origin + j * step` for j = 0 … size − 1.

    name: the name, as "t" or "x".
    size: the number of points.
    step: the distance between two points, in `unit`.
    origin: the first point.
    unit: the unit, as "s" or "m".
    periodic: whether the axis closes on itself after `size * step`.
    time: whether the axis is time. Causal layers act along time.
    boundary: the boundary condition at both ends: "fixed" (the field is zero), "free" (the slope of the field is zero),
        "periodic", or "" if nothing is known. `lfno.spectral.bases` has basis functions for fixed and for free ends.

    With the boundary "periodic", `periodic` becomes True.
    Raises LfnoError if the size is not a positive whole number, if the step is not positive, if a coordinate is not finite, if
    the boundary is unknown, or if a time axis or a periodic axis has fixed or free ends.

    >>> Axis("t", 4, 0.5, unit="s", time=True).points
    array([0. , 0.5, 1. , 1.5])
    """

    name: str
    size: int
    step: float
    origin: float = 0.0
    unit: str = ""
    periodic: bool = False
    time: bool = False
    boundary: str = ""

    def __post_init__(self) -> None:
        if self.boundary not in BOUNDARIES:
            known = ", ".join(repr(word) for word in BOUNDARIES)
            raise LfnoError(f"axis {self.name!r} has boundary {self.boundary!r}: choose one of {known}")
        if self.time and self.boundary in ("fixed", "free"):
            raise LfnoError(f"axis {self.name!r} is time, which has no {self.boundary} ends: leave out boundary")
        if self.periodic and self.boundary in ("fixed", "free"):
            raise LfnoError(f"axis {self.name!r} is periodic, so its ends cannot be {self.boundary}")
        if self.boundary == "periodic":
            object.__setattr__(self, "periodic", True)
        if isinstance(self.size, bool) or int(self.size) != self.size or self.size < 1:
            raise LfnoError(f"axis {self.name!r} has size {self.size!r}: a whole number of at least 1 is needed")
        if not (math.isfinite(self.step) and self.step > 0):
            raise LfnoError(f"axis {self.name!r} has step {self.step!r}: a positive finite number is needed")
        if not (math.isfinite(self.origin) and math.isfinite(self.origin + self.size * self.step)):
            raise LfnoError(f"axis {self.name!r} has origin {self.origin!r}: it must begin and end at finite numbers")

    def __repr__(self) -> str:
        return f"Axis({self.name}: {self.size} points of {self.step:g} {self.unit}".rstrip() + ")"

    @property
    def points(self) -> np.ndarray:
        """The coordinates of all points, an array of length `size`."""
        return self.origin + self.step * np.arange(self.size)

    @property
    def length(self) -> float:
        """size × step, the period of the discrete Fourier transform.

        The distance from the first point to the last point is one step less.
        """
        return self.size * self.step

    @property
    def label(self) -> str:
        """The name with its unit, for plots: `t [s]`."""
        return with_unit(self.name, self.unit)


@dataclass(frozen=True, repr=False)
class Grid:
    """The axes of a field in the order of its array, time last: (t), (x, t) or (x, y, t).

    axes: one or more axes with different names.

    Raises LfnoError if there is no axis, or if two axes have the same name.

    >>> grid = Grid((Axis("x", 50, 0.1), Axis("t", 100, 0.01, time=True)))
    >>> grid.shape, grid["t"].step
    ((50, 100), 0.01)
    """

    axes: tuple[Axis, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "axes", tuple(self.axes))
        if not self.axes:
            raise LfnoError("a grid needs at least one axis")
        names = [axis.name for axis in self.axes]
        if len(set(names)) != len(names):
            raise LfnoError(f"two axes of the grid have the same name: {names}")

    def __repr__(self) -> str:
        return f"Grid({', '.join(repr(axis)[5:-1] for axis in self.axes)})"

    @classmethod
    def line(cls, size: int, dt: float, unit: str = "s") -> Grid:
        """Return a grid with one time axis, for signals.

        >>> Grid.line(2048, dt=0.01).steps
        (0.01,)
        """
        return cls((Axis("t", size, dt, unit=unit, time=True),))

    @property
    def ndim(self) -> int:
        """The number of axes."""
        return len(self.axes)

    @property
    def shape(self) -> tuple[int, ...]:
        """The number of points along each axis."""
        return tuple(axis.size for axis in self.axes)

    @property
    def form(self) -> tuple[tuple[int, bool, bool, str], ...]:
        """(size, periodic, time, boundary) of each axis.

        Of the grid, the initialisation of a network uses only the form. Steps and units do not matter, because a network scales
        every axis of its training grid to the same length.
        """
        return tuple((axis.size, axis.periodic, axis.time, axis.boundary) for axis in self.axes)

    @property
    def steps(self) -> tuple[float, ...]:
        """The distance between two points along each axis."""
        return tuple(axis.step for axis in self.axes)

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the axes."""
        return tuple(axis.name for axis in self.axes)

    @property
    def time(self) -> int | None:
        """The index of the last time axis; None if no axis is time."""
        return next((d for d in reversed(range(self.ndim)) if self.axes[d].time), None)

    def __getitem__(self, name: str) -> Axis:
        """Return the axis with this name. Raises LfnoError if the grid has no such axis."""
        for axis in self.axes:
            if axis.name == name:
                return axis
        raise LfnoError(f"the grid has no axis {name!r}; it has {list(self.names)}")

    def change(self, name: str, **fields: Any) -> Grid:
        """Return a copy of the grid with new values for properties of the axis `name`.

        >>> Grid.line(2048, dt=0.01).change("t", size=1024).shape
        (1024,)
        """
        new = replace(self[name], **fields)
        return Grid(tuple(new if axis.name == name else axis for axis in self.axes))

    def mesh(self) -> tuple[np.ndarray, ...]:
        """Return the coordinates of every point: one array for each axis, in the shape of the grid."""
        return tuple(np.meshgrid(*(axis.points for axis in self.axes), indexing="ij"))

    def to_dict(self) -> dict[str, Any]:
        """Return the grid as a dictionary that JSON can hold."""
        return {"axes": [asdict(axis) for axis in self.axes]}

    @classmethod
    def from_dict(cls, tree: dict[str, Any]) -> Grid:
        """Return the grid from a dictionary that `to_dict` made. Raises LfnoError if `tree` is not such a dictionary."""
        try:
            return cls(tuple(Axis(**axis) for axis in tree["axes"]))
        except LfnoError:
            raise
        except (KeyError, TypeError, ValueError, OverflowError) as error:
            raise LfnoError(f"this is not the description of a grid: {error}") from error
