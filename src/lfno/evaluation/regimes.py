"""Error over time, split into the transient regime (before a step) and the steady one (from that step on)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from lfno.core.checks import real_array
from lfno.core.errors import LfnoError
from lfno.evaluation.metrics import check_pair


def error_over_time(prediction: np.ndarray, truth: np.ndarray) -> np.ndarray:
    """e(t), shape (time,): the absolute error averaged over samples, channels and space."""
    prediction, truth = check_pair(prediction, truth)
    return np.abs(prediction - truth).mean(tuple(range(truth.ndim - 1)))


def moving_average(values: np.ndarray, width: int = 100) -> np.ndarray:
    """Return the mean over `width` neighbours of every point along the last axis. The length stays the same.

    At the ends the window shrinks to the points that exist, so nothing is padded. A window of even width reaches one point
    further back than ahead.

    >>> moving_average(np.array([0.0, 3.0, 6.0, 9.0]), 3)
    array([1.5, 3. , 6. , 7.5])
    """
    values = real_array(values, "the values to average", "(…, time)", 1).astype(np.float64)
    if width < 1:
        raise LfnoError(f"a moving average over {width} points does not exist: give a width of at least 1")
    size = values.shape[-1]
    total = np.concatenate([np.zeros((*values.shape[:-1], 1)), values.cumsum(-1)], axis=-1)
    start = np.maximum(np.arange(size) - width // 2, 0)
    stop = np.minimum(np.arange(size) + (width - 1) // 2 + 1, size)
    return (total[..., stop] - total[..., start]) / (stop - start)


@dataclass(frozen=True)
class Regime:
    """A stretch of the error curve: the raw curve, its moving average, and mean and variance of both.

    variance: the variance of the raw curve.
    smooth_variance: the variance of the moving average, which shows slow drift only.
    """

    curve: np.ndarray
    smooth: np.ndarray
    mean: float
    variance: float
    smooth_variance: float


def regimes(prediction: np.ndarray, truth: np.ndarray, split: int = 500, width: int = 100) -> dict[str, Regime]:
    """Return the transient regime, steps 0 … split − 1, and the steady one, steps split … N − 1.

    Each regime is smoothed separately, because a window across the split would carry transient error into the steady regime.
    Raises LfnoError if the split leaves a regime empty.
    """
    curve = error_over_time(prediction, truth)
    if not 0 < split < curve.size:
        raise LfnoError(f"a split at step {split} leaves one regime of the {curve.size} steps empty: choose one inside")
    return {"transient": _regime(curve[:split], width), "steady": _regime(curve[split:], width)}


def _regime(curve: np.ndarray, width: int) -> Regime:
    smooth = moving_average(curve, width)
    return Regime(curve, smooth, float(curve.mean()), float(curve.var()), float(smooth.var()))
