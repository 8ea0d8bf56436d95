"""Values that are missing or not finite are filled in and masked: a model may be fed with them, and never judged by them."""

from __future__ import annotations

import numpy as np

from lfno.core.errors import LfnoError
from lfno.core.memory import BLOCK, allocate
from lfno.data.signals.sides import Side


def finite(values: np.ndarray) -> np.ndarray:
    """(sample, time) of booleans for values of shape (sample, channel, *space, time): all finite there?"""
    good = np.empty((values.shape[0], values.shape[-1]), dtype=bool)
    between = tuple(range(1, values.ndim - 1))
    piece = max(1, BLOCK // max(1, values[..., 0].nbytes))
    for start in range(0, values.shape[-1], piece):
        good[:, start : start + piece] = np.isfinite(values[..., start : start + piece]).all(axis=between)
    return good


def fill(side: Side, notes: list[str]) -> None:
    """Fill missing values by straight lines in time and set `side.mask`, True where a value was measured.

    The ends of a series take its nearest value; a series without any value becomes zero. Raises `LfnoError` for a channel
    that has no value at all.

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
            raise LfnoError(f"{name!r} has no value at all; leave it out")
    result = allocate(side.values.shape, notes, ", ".join(side.names))
    moments = np.arange(side.values.shape[-1]) if len(side.stamps) != side.values.shape[-1] else side.stamps
    for index in np.ndindex(side.values.shape[:-1]):
        series, good = np.asarray(side.values[index]), mask[index]
        if good.all():
            result[index] = series
        else:
            result[index] = np.interp(moments, moments[good], series[good]) if good.any() else 0.0
    side.values, side.mask = result, mask
