"""How far a prediction is from the truth: one number per sample, per channel, and over seeds and folds.

Every array is `(samples, channels, *grid)` in physical units; a sample's norm runs over all its channels and points, so
channels of different units are brought to their own first (`in_own_units`).
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from lfno.core.checks import real_array
from lfno.core.errors import LfnoError


def check_pair(prediction: np.ndarray, truth: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Both arrays in double precision, or a sentence: broadcasting two different shapes would hide a mistake."""
    prediction, truth = (
        real_array(values, name).astype(np.float64) for name, values in (("predictions", prediction), ("truths", truth))
    )
    if prediction.shape != truth.shape or truth.ndim < 3 or truth.size == 0:
        raise LfnoError(
            f"prediction {prediction.shape} and truth {truth.shape} cannot be compared: "
            "both must have the shape (samples, channels, *grid) and values"
        )
    return prediction, truth


def ratio(error: np.ndarray, size: np.ndarray) -> np.ndarray:
    """error / size with 0/0 = 0 and e/0 = inf: a truth that is zero is either met or missed altogether."""
    missed = np.where(error > 0, np.inf, 0.0)
    return np.divide(error, size, out=missed, where=size > 0)


def relative_l2(prediction: np.ndarray, truth: np.ndarray) -> np.ndarray:
    """‖û − u‖₂ / ‖u‖₂ of every sample, shape (samples,).

    >>> relative_l2(np.full((1, 1, 4), 1.1), np.ones((1, 1, 4))).round(6)
    array([0.1])
    """
    prediction, truth = check_pair(prediction, truth)
    axes = tuple(range(1, truth.ndim))
    return ratio(np.sqrt(((prediction - truth) ** 2).sum(axes)), np.sqrt((truth**2).sum(axes)))


def relative_linf(prediction: np.ndarray, truth: np.ndarray) -> np.ndarray:
    """max|û − u| / max|u| of every sample, shape (samples,)."""
    prediction, truth = check_pair(prediction, truth)
    axes = tuple(range(1, truth.ndim))
    return ratio(np.abs(prediction - truth).max(axes), np.abs(truth).max(axes))


def rmse(prediction: np.ndarray, truth: np.ndarray) -> np.ndarray:
    """Root mean square error in the data's unit, one per channel, over all samples and points."""
    prediction, truth = check_pair(prediction, truth)
    axes = (0, *range(2, truth.ndim))
    return np.sqrt(((prediction - truth) ** 2).mean(axes))


def fit_percent(prediction: np.ndarray, truth: np.ndarray) -> np.ndarray:
    """100 (1 − ‖u − û‖ / ‖u − mean u‖) of every channel, averaged over the samples.

    This is the "fit" of MATLAB's `compare`: 100 is perfect, 0 is no better than the sample's own mean, and it may be
    negative. Samples whose truth is constant have no such number and are left out; NaN when that leaves none.
    """
    prediction, truth = check_pair(prediction, truth)
    axes = tuple(range(2, truth.ndim))
    error = np.sqrt(((prediction - truth) ** 2).sum(axes))
    spread = np.sqrt(((truth - truth.mean(axes, keepdims=True)) ** 2).sum(axes))
    varies = spread > 1e-12 * np.sqrt((truth**2).sum(axes))
    fits = np.where(varies, 100 * (1 - error / np.where(varies, spread, 1.0)), 0.0)
    count = varies.sum(0)
    return np.where(count > 0, fits.sum(0) / np.maximum(count, 1), np.nan)


def in_own_units(prediction: np.ndarray, truth: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Both with every channel divided by its truth's root mean square: metres and volts then count the same."""
    prediction, truth = check_pair(prediction, truth)
    largest = np.abs(truth).max((0, *range(2, truth.ndim)), keepdims=True)
    largest = np.where(largest > 0, largest, 1.0)  # taken out first: a square must not overflow
    size = largest * np.sqrt(((truth / largest) ** 2).mean((0, *range(2, truth.ndim)), keepdims=True))
    size = np.where(size > 0, size, 1.0)
    return prediction / size, truth / size


def scores(prediction: np.ndarray, truth: np.ndarray) -> dict[str, Any]:
    """What a table of errors shows of one model.

    l2, linf: means over samples; nrmse: RMSE over the root mean square of the truth. In these every channel counts the
    same, whatever its unit. rmse: of each channel, in its unit. fit: the mean over channels.
    """
    own = in_own_units(prediction, truth)
    return {
        "l2": float(relative_l2(*own).mean()),
        "linf": float(relative_linf(*own).mean()),
        "nrmse": float(np.sqrt((rmse(*own) ** 2).mean())),
        "rmse": rmse(prediction, truth).tolist(),
        "fit": float(fit_percent(prediction, truth).mean()),
    }


@dataclass(frozen=True)
class Summary:
    """Mean and sample standard deviation (n − 1) over `count` runs; one run has no spread and prints none."""

    mean: float
    std: float
    count: int

    def __str__(self) -> str:
        return f"{self.mean:.3g} ± {self.std:.1g}" if self.count > 1 else f"{self.mean:.3g}"


def summary(values: Iterable[float]) -> Summary:
    """Mean ± standard deviation over seeds and folds.

    >>> str(summary([0.010, 0.012, 0.014]))
    '0.012 ± 0.002'
    """
    numbers = [float(value) for value in values]
    if not numbers:
        raise LfnoError("there is nothing to summarise: no run has finished")
    mean = math.fsum(number / len(numbers) for number in numbers)
    if not math.isfinite(mean):
        return Summary(mean, math.nan, len(numbers))
    spread = math.fsum(min(abs(number - mean), 1e150) ** 2 for number in numbers)  # a square must not overflow
    return Summary(mean, math.sqrt(spread / max(len(numbers) - 1, 1)), len(numbers))
