"""Offset and scale of each channel: the affine map between physical units and the units inside a model."""

from __future__ import annotations

from typing import Any

import numpy as np


def scale_of(values: np.ndarray, mask: np.ndarray | None = None) -> tuple[np.ndarray, np.ndarray]:
    """Return (offset, scale) of each channel, two arrays (channels,). Scaled value = (value − offset) / scale.

    values: (samples, channels, *grid).
    mask: shape of `values`, True where a value was measured; the other values are ignored.

    Zero usually means "at rest", so the offset is zero for most channels. The offset is the mean if the magnitude of the mean
    exceeds the standard deviation, as for a temperature of 293 ± 5 K. The scale is the RMS of (value − offset), or 1 for a
    constant channel.

    >>> scale_of(np.array([[[-1.0, 1.0]], [[-1.0, 1.0]]]))
    (array([0.]), array([1.]))
    """
    axes = (0, *range(2, values.ndim))
    counted: Any = True
    if mask is not None:  # for a channel without any measured value, the filled values are used
        counted = np.where(mask.any(axes, keepdims=True), mask, True)
    mean = values.mean(axes, dtype=np.float64, where=counted)
    deviation = values.std(axes, dtype=np.float64, where=counted)
    moved = np.abs(mean) > deviation
    offset = np.where(moved, mean, 0.0)
    scale = np.where(moved, deviation, np.sqrt(mean**2 + deviation**2))
    return offset, np.where(scale > 1e-12 * np.maximum(1e-30, np.abs(mean)), scale, 1.0)
