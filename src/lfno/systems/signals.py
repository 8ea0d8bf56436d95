"""Inputs of a system as a batch of functions of the coordinates. They are made from a family, a function or an array."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.interpolate import CubicSpline

from lfno.core.checks import real_array
from lfno.core.errors import LfnoError
from lfno.core.grid import Grid

#: a choice of samples: a slice, or an array of indices
Chosen = slice | np.ndarray


def open_mesh(grid: Grid) -> tuple[np.ndarray, ...]:
    """Return the coordinates of each axis as an array that broadcasts to the shape of the grid (an open mesh).

    >>> [x.shape for x in open_mesh(Grid.line(5, dt=0.1))]
    [(5,)]
    """
    return tuple(
        axis.points.reshape([-1 if d == e else 1 for e in range(grid.ndim)]) for d, axis in enumerate(grid.axes)
    )


class Signal(ABC):
    """A batch of `count` functions, which can be evaluated at any point, not only on a grid.

    `signal(*coordinates)` returns the values (count, *shape), where the coordinates broadcast to `shape` (see `open_mesh`). The
    coordinates of a forcing are (*space, time). The coordinates of an initial state are (*space).
    """

    count: int

    @abstractmethod
    def __call__(self, *coordinates: np.ndarray) -> np.ndarray: ...

    @abstractmethod
    def __getitem__(self, chosen: Chosen) -> Signal:
        """Return some of the functions, chosen by a slice or an array of indices."""


class FunctionSignal(Signal):
    """A function of the user. For coordinates of `shape`, it returns an array (*shape) for one sample, or (count, *shape)."""

    def __init__(self, function: Callable[..., Any], ndim: int, chosen: Chosen = slice(None)) -> None:
        self.function, self.ndim, self.chosen = function, ndim, chosen
        self.count = len(self(*(np.zeros((1,) * ndim) for _ in range(ndim))))

    def __call__(self, *coordinates: np.ndarray) -> np.ndarray:
        shape = np.broadcast_shapes(*(np.shape(c) for c in coordinates))
        values = np.asarray(self.function(*coordinates), dtype=np.float64)
        if values.ndim <= len(shape):
            values = values[None] if values.ndim == len(shape) else np.broadcast_to(values, (1, *shape))
        try:
            return np.broadcast_to(values, (len(values), *shape))[self.chosen]
        except ValueError:
            raise LfnoError(
                f"the given function returned an array of shape {values.shape} for coordinates of shape {shape}: "
                f"return {shape}, or (samples, *{shape}) for several samples"
            ) from None

    def __getitem__(self, chosen: Chosen) -> FunctionSignal:
        whole = FunctionSignal(self.function, self.ndim)
        return FunctionSignal(self.function, self.ndim, np.arange(whole.count)[self.chosen][chosen])


class SampledSignal(Signal):
    """Values on a grid, interpolated by cubic splines along each axis. Along periodic axes, the splines are periodic.

    Outside of the grid, the polynomial of the nearest interval is used. Along an axis with one point, the signal is constant.
    """

    def __init__(self, values: np.ndarray, grid: Grid) -> None:
        self.values, self.grid, self.count = values, grid, len(values)

    def __call__(self, *coordinates: np.ndarray) -> np.ndarray:
        values = self.values
        for d, axis in enumerate(self.grid.axes):
            points, closing = axis.points, "not-a-knot"
            if axis.size == 1:
                values = np.repeat(values, np.size(coordinates[d]), axis=d + 1)
                continue
            if axis.periodic:
                points, closing = np.append(points, axis.origin + axis.length), "periodic"
                values = np.concatenate([values, np.take(values, [0], axis=d + 1)], axis=d + 1)
            values = CubicSpline(points, values, axis=d + 1, bc_type=closing)(np.ravel(coordinates[d]))
        return values

    def __getitem__(self, chosen: Chosen) -> SampledSignal:
        return SampledSignal(self.values[chosen], self.grid)


def as_signal(given: Signal | Callable[..., Any] | np.ndarray, grid: Grid) -> Signal:
    """Return the input of a system as a `Signal`.

    given: a signal, a function of the coordinates, or an array. An array has the shape of the grid (one sample), (sample,
        *grid) or (sample, 1, *grid). It is interpolated by cubic splines.
    grid: the grid of the array.

    Raises LfnoError if an array has another shape, or holds values that are not finite or larger than 1e100.

    >>> as_signal(lambda t: np.sin(2 * t), Grid.line(100, dt=0.1)).count
    1
    """
    if isinstance(given, Signal):
        return given
    if callable(given):
        return FunctionSignal(given, grid.ndim)
    values = real_array(given, "the values given as input").astype(np.float64)
    if values.shape == grid.shape:
        values = values[None]
    elif values.ndim == grid.ndim + 2 and values.shape[1] == 1:
        values = values[:, 0]
    if values.shape[1:] != grid.shape or len(values) == 0:
        raise LfnoError(
            f"the array given as input has shape {np.shape(given)} but the grid ({', '.join(grid.names)}) "
            f"has shape {grid.shape}: give {grid.shape}, or (samples, *{grid.shape})"
        )
    if not np.isfinite(values).all():
        where = tuple(int(i) for i in np.argwhere(~np.isfinite(values))[0])
        raise LfnoError(f"the array given as input is not finite at index {where} (sample first): remove or fill it")
    if values.size and np.abs(values).max() > 1e100:
        raise LfnoError("the array given as input has values above 1e100, for which splines overflow; use other units")
    return SampledSignal(values, grid)
