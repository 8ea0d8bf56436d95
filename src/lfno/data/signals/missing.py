"""Find missing values, fill them, and mask them. A model may receive filled values, but they are never scored.

A value is missing if it is not finite, or if it is a mark for "no value". Many loggers write -9999; many archives write 1e20.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from lfno.core.errors import LfnoError
from lfno.core.memory import BLOCK, allocate
from lfno.data.signals.sides import Side

#: values that loggers and archives write for "no value"
MARKS = (-999.0, -999.25, -9999.0, -99999.0, -999999.0, 999.0, 9999.0, 99999.0, 999999.0, 1e20, 1e30, 1e36)
FAR = 10  # factor: a mark is more than this many times as large as every other value of its channel


def finite(values: np.ndarray) -> np.ndarray:
    """Return an array (sample, time) of booleans: True where the values of all channels and points in space are finite.

    values: (sample, channel, *space, time).
    """
    between = tuple(range(1, values.ndim - 1))
    parts = [np.isfinite(part).all(axis=between) for part in _pieces(values)]
    return np.concatenate(parts, -1) if parts else np.ones((values.shape[0], 0), bool)


def fill(side: Side, notes: list[str]) -> None:
    """Fill missing values by linear interpolation in time and set `side.mask`, which is True where a value was measured.

    A missing value at an end of a series takes the nearest measured value. If a channel has no value in one trajectory, the
    filled values of this trajectory are zero. Raises LfnoError for a channel that has no value in any trajectory.

    >>> side = Side(np.array([[[1.0, np.nan, 3.0]]]), (), np.arange(3.0))
    >>> fill(side, [])
    >>> side.values, side.mask
    (array([[[1., 2., 3.]]]), array([[[ True, False,  True]]]))
    """
    if finite(side.values).all():
        return
    mask = np.isfinite(side.values)
    for k, name in enumerate(side.names):
        if not mask[:, k].any():
            raise LfnoError(f"{name!r} has no values; leave it out")
    result = allocate(side.values.shape, notes, ", ".join(side.names))
    moments = np.arange(side.values.shape[-1]) if len(side.stamps) != side.values.shape[-1] else side.stamps
    for index in np.ndindex(side.values.shape[:-1]):
        series, good = np.asarray(side.values[index]), mask[index]
        if good.all():
            result[index] = series
        else:
            result[index] = np.interp(moments, moments[good], series[good]) if good.any() else 0.0
    side.values, side.mask = result, mask


def find_mark(values: np.ndarray) -> float | None:
    """Return the mark for "no value" among the values (..., time) of one channel; None if there is no mark.

    >>> find_mark(np.array([0.3, -9999.0, 0.1])), find_mark(np.array([-9999.0, 9000.0]))
    (-9999.0, None)
    """
    low, high = np.inf, -np.inf
    for part in _pieces(values):
        good = np.isfinite(part)
        low = min(low, part.min(where=good, initial=np.inf))
        high = max(high, part.max(where=good, initial=-np.inf))
    for mark in {float(low), float(high)} & set(MARKS):
        others = (np.abs(part).max(where=np.isfinite(part) & (part != mark), initial=0) for part in _pieces(values))
        if abs(mark) > FAR * max(others):
            return mark
    return None


def blank_marks(values: np.ndarray, names: tuple[str, ...], notes: list[str]) -> np.ndarray:
    """Return the values (sample, channel, *space, time) with NaN instead of marks; a copy only if there are marks."""
    found = {k: mark for k in range(len(names)) if (mark := find_mark(values[:, k])) is not None}
    if not found:
        return values
    result = allocate(values.shape, notes, ", ".join(names))
    for source, target in zip(_pieces(values), _pieces(result), strict=True):
        target[...] = source
        for k, mark in found.items():
            target[:, k][target[:, k] == mark] = np.nan
    for k, mark in found.items():
        notes.append(f"the value {mark:g} of {names[k]!r} is far from all other values and is taken as missing")
    return result


def _pieces(values: np.ndarray) -> Iterator[np.ndarray]:
    """Yield pieces of about 32 MB along the last axis, because the file may be larger than memory."""
    size = max(1, BLOCK // max(1, 8 * values[..., 0].size))
    for start in range(0, values.shape[-1], size):
        yield values[..., start : start + size]
