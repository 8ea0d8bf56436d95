"""The error over time in the transient regime (before a given time step) and in the steady regime (from that time step on)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from lfno.core.checks import real_array
from lfno.core.errors import LfnoError
from lfno.core.short import Short
from lfno.evaluation.metrics import check_pair


def error_over_time(prediction: np.ndarray, truth: np.ndarray) -> np.ndarray:
    """Return the absolute error averaged over samples, channels and space, (time,).

    prediction, truth: (samples, channels, *space, time).
    """
    prediction, truth = check_pair(prediction, truth)
    return np.abs(prediction - truth).mean(tuple(range(truth.ndim - 1)))


def moving_average(values: np.ndarray, width: int = 100) -> np.ndarray:
    """Return the mean over `width` neighbouring points along the last axis, in the shape of the values.

    At the ends, the mean is over the points that exist. If the width is even, one more point before than after is used.

    >>> moving_average(np.array([0.0, 3.0, 6.0, 9.0]), 3)
    array([1.5, 3. , 6. , 7.5])
    """
    values = real_array(values, "the values to average", "(…, time)", 1).astype(np.float64)
    if width < 1:
        raise LfnoError(f"the width of a moving average is {width} points; it must be at least 1")
    size = values.shape[-1]
    total = np.concatenate([np.zeros((*values.shape[:-1], 1)), values.cumsum(-1)], axis=-1)
    start = np.maximum(np.arange(size) - width // 2, 0)
    stop = np.minimum(np.arange(size) + (width - 1) // 2 + 1, size)
    return (total[..., stop] - total[..., start]) / (stop - start)


@dataclass(frozen=True, repr=False)
class Regime(Short):
    """The error in one regime.

    curve: (time,) the error over time.
    smooth: (time,) the moving average of the curve.
    mean, variance: mean and variance of the curve.
    smooth_variance: the variance of the moving average, which contains slow changes only.
    """

    curve: np.ndarray
    smooth: np.ndarray
    mean: float
    variance: float
    smooth_variance: float


def regimes(prediction: np.ndarray, truth: np.ndarray, split: int = 500, width: int = 100) -> dict[str, Regime]:
    """Return {"transient": steps 0 … split − 1, "steady": steps split … N − 1} of the error over time.

    prediction, truth: (samples, channels, *space, time) with N time steps.
    split: the first time step of the steady regime.
    width: number of time steps of the moving average. Each regime has its own moving average, so that no transient error enters
        the steady regime.
    Raises LfnoError if the split leaves a regime empty.
    """
    curve = error_over_time(prediction, truth)
    if not 0 < split < curve.size:
        raise LfnoError(f"the split at step {split} must be inside the {curve.size} time steps: one regime would be empty")
    return {"transient": _regime(curve[:split], width), "steady": _regime(curve[split:], width)}


def _regime(curve: np.ndarray, width: int) -> Regime:
    """Return the regime of one part of the error curve."""
    smooth = moving_average(curve, width)
    return Regime(curve, smooth, float(curve.mean()), float(curve.var()), float(smooth.var()))
