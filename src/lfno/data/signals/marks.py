"""Numbers that stand for "no value": a logger that has none often writes -9999, an archive 1e20."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from lfno.core.memory import BLOCK, allocate

MARKS = (-999.0, -999.25, -9999.0, -99999.0, -999999.0, 999.0, 9999.0, 99999.0, 999999.0, 1e20, 1e30, 1e36)
#: a mark is so many times further from zero than every other value: no signal jumps so far to so round a number
FAR = 10


def find_mark(values: np.ndarray) -> float | None:
    """The mark among the values (..., time) of one channel, if there is one.

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
    """Values (sample, channel, *space, time) with NaN in the place of marks; a copy only where there are some."""
    found = {k: mark for k in range(len(names)) if (mark := find_mark(values[:, k])) is not None}
    if not found:
        return values
    result = allocate(values.shape, notes, ", ".join(names))
    for source, target in zip(_pieces(values), _pieces(result), strict=True):
        target[...] = source
        for k, mark in found.items():
            target[:, k][target[:, k] == mark] = np.nan
    for k, mark in found.items():
        notes.append(f"the value {mark:g} of {names[k]!r}, far from all others, is taken as missing")
    return result


def _pieces(values: np.ndarray) -> Iterator[np.ndarray]:
    """Stretches along the last axis of about 32 MB."""
    size = max(1, BLOCK // max(1, 8 * values[..., 0].size))
    for start in range(0, values.shape[-1], size):
        yield values[..., start : start + size]
