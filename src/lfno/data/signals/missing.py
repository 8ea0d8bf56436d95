"""Values that are missing or not finite: refused with their places, dropped, or interpolated; always noted."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from lfno.core.errors import LfnoError
from lfno.core.memory import BLOCK, allocate
from lfno.data.files.variables import counted, listing

ADVICE = "use --drop-missing or --interpolate"


def finite(values: np.ndarray) -> np.ndarray:
    """(sample, time) of booleans for values of shape (sample, channel, *space, time): all finite there?"""
    good = np.empty((values.shape[0], values.shape[-1]), dtype=bool)
    between = tuple(range(1, values.ndim - 1))
    piece = max(1, BLOCK // max(1, values[..., 0].nbytes))
    for start in range(0, values.shape[-1], piece):
        good[:, start : start + piece] = np.isfinite(values[..., start : start + piece]).all(axis=between)
    return good


def incomplete(values: np.ndarray, names: tuple[str, ...]) -> tuple[str, ...]:
    """The names of those channels of (sample, channel, …) that have values missing."""
    if len(names) != values.shape[1]:
        return names
    return tuple(name for k, name in enumerate(names) if not finite(values[:, k : k + 1]).all())


def refuse(names: tuple[str, ...], good: np.ndarray, marks: list[float], where: Callable[[int], str]) -> None:
    """Say which rows (of a record) or samples (of many trajectories) have values missing, or `marks` in their place."""
    record = good.shape[0] == 1
    bad = np.flatnonzero(~good[0]) if record else np.flatnonzero(~good.all(axis=1))
    places = [where(int(k)) if record else f"sample {k}" for k in bad[:5]]
    more = f" and {bad.size - 5} more" if bad.size > 5 else ""
    marked = f" (marked by {', '.join(f'{mark:g}' for mark in sorted(set(marks)))})" if marks else ""
    have = "has" if len(names) == 1 else "have"
    raise LfnoError(
        f"{listing(names)} {have} values missing{marked} or not finite in {counted(bad.size, 'row' if record else 'sample')} "
        f"({', '.join(places)}{more}); {ADVICE}"
    )


def longest_run(good: np.ndarray) -> tuple[int, int]:
    """Start and stop of the longest stretch of True.

    >>> longest_run(np.array([True, False, True, True, False]))
    (2, 4)
    """
    edges = np.flatnonzero(np.diff(np.concatenate([[False], good, [False]]).astype(np.int8)))
    starts, stops = edges[::2], edges[1::2]
    if not starts.size:
        raise LfnoError("no row has all its values")
    best = int(np.argmax(stops - starts))
    return int(starts[best]), int(stops[best])


def fill(values: np.ndarray, stamps: np.ndarray, notes: list[str], what: str) -> np.ndarray:
    """Linear interpolation in time over what is missing; the ends of a series take the nearest value."""
    result = allocate(values.shape, notes, what)
    count = 0
    for index in np.ndindex(values.shape[:-1]):
        series = np.asarray(values[index])
        good = np.isfinite(series)
        if not good.any():
            raise LfnoError(f"{what}: a series has no values at all, so there is nothing to interpolate")
        count += int((~good).sum())
        result[index] = series if good.all() else np.interp(stamps, stamps[good], series[good])
    notes.append(f"{counted(count, 'missing value')} of {what} {'was' if count == 1 else 'were'} interpolated in time")
    return result
