"""Errors of predictions: of each sample, of each channel, and summaries over seeds and folds.

Every array is `(samples, channels, *grid)` in physical units. The norm of a sample is a sum over all channels and points.
`scores` therefore divides each channel by its own scale first (`in_own_units`), because channels may have different units.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from lfno.core.checks import real_array
from lfno.core.errors import LfnoError

CONSTANT = 1e-12  # share of the root mean square: a channel with a smaller standard deviation is constant


def check_pair(prediction: np.ndarray, truth: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return both arrays in double precision. Raises LfnoError if their shapes differ: broadcasting would hide a mistake."""
    prediction, truth = (
        real_array(values, name).astype(np.float64) for name, values in (("predictions", prediction), ("truths", truth))
    )
    if prediction.shape != truth.shape or truth.ndim < 3 or truth.size == 0:
        raise LfnoError(
            f"a prediction of shape {prediction.shape} and a truth of shape {truth.shape} cannot be compared: "
            "both must have the same shape (samples, channels, *grid) and must not be empty"
        )
    return prediction, truth


def ratio(error: np.ndarray, size: np.ndarray) -> np.ndarray:
    """Return error / size with 0/0 = 0 and e/0 = inf."""
    missed = np.where(error > 0, np.inf, 0.0)
    return np.divide(error, size, out=missed, where=size > 0)


def relative_l2(prediction: np.ndarray, truth: np.ndarray, mask: np.ndarray | None = None) -> np.ndarray:
    """Return ‖û − u‖₂ / ‖u‖₂ of each sample for the prediction û and the truth u, (samples,).

    mask: True where the truth was measured; other points are ignored. A sample without measured points has the error NaN.

    >>> relative_l2(np.full((1, 1, 4), 1.1), np.ones((1, 1, 4))).round(6)
    array([0.1])
    """
    prediction, truth, mask = _masked(prediction, truth, mask)
    axes = tuple(range(1, truth.ndim))
    error = ratio(np.sqrt(((prediction - truth) ** 2).sum(axes)), np.sqrt((truth**2).sum(axes)))
    return np.where(mask.any(axes), error, np.nan)


def relative_linf(prediction: np.ndarray, truth: np.ndarray, mask: np.ndarray | None = None) -> np.ndarray:
    """Return max|û − u| / max|u| of each sample for the prediction û and the truth u, (samples,).

    mask: True where the truth was measured; other points are ignored. A sample without measured points has the error NaN.
    """
    prediction, truth, mask = _masked(prediction, truth, mask)
    axes = tuple(range(1, truth.ndim))
    return np.where(mask.any(axes), ratio(np.abs(prediction - truth).max(axes), np.abs(truth).max(axes)), np.nan)


def rmse(prediction: np.ndarray, truth: np.ndarray, mask: np.ndarray | None = None) -> np.ndarray:
    """Return the root mean square error of each channel in its unit, over all samples and points, (channels,).

    mask: True where the truth was measured; other points are ignored.
    """
    prediction, truth, mask = _masked(prediction, truth, mask)
    axes = (0, *range(2, truth.ndim))
    count = mask.sum(axes)
    return np.sqrt(((prediction - truth) ** 2).sum(axes) / np.where(count > 0, count, np.nan))


def fit_percent(prediction: np.ndarray, truth: np.ndarray, mask: np.ndarray | None = None) -> np.ndarray:
    """Return 100 (1 − ‖u − û‖ / ‖u − mean u‖) of each channel for the prediction û and the truth u, (channels,).

    mask: True where the truth was measured; other points are ignored.

    This value is the "fit" of MATLAB's `compare`, averaged over the samples. 100 is perfect, 0 is as good as the mean of the
    sample, and worse predictions have negative values. Samples with a constant truth are left out; NaN if no sample is left.
    """
    prediction, truth, mask = _masked(prediction, truth, mask)
    axes = tuple(range(2, truth.ndim))
    error = np.sqrt(((prediction - truth) ** 2).sum(axes))
    mean = truth.sum(axes, keepdims=True) / np.maximum(mask.sum(axes, keepdims=True), 1)
    spread = np.sqrt((np.where(mask, truth - mean, 0.0) ** 2).sum(axes))
    varies = spread > 1e-12 * np.sqrt((truth**2).sum(axes))
    fits = np.where(varies, 100 * (1 - error / np.where(varies, spread, 1.0)), 0.0)
    count = varies.sum(0)
    return np.where(count > 0, fits.sum(0) / np.maximum(count, 1), np.nan)


def in_own_units(
    prediction: np.ndarray, truth: np.ndarray, mask: np.ndarray | None = None
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Divide each channel of both arrays by the root mean square of its truth, so that all channels have equal weight.

    Returns (prediction, truth, mask) in the shape of the truth. Points that were not measured are 0 in both arrays.
    """
    prediction, truth, mask = _masked(prediction, truth, mask)
    axes = (0, *range(2, truth.ndim))
    largest = np.abs(truth).max(axes, keepdims=True)
    largest = np.where(largest > 0, largest, 1.0)  # divide first, so that squares do not overflow
    count = np.maximum(mask.sum(axes, keepdims=True), 1)
    size = largest * np.sqrt(((truth / largest) ** 2).sum(axes, keepdims=True) / count)
    size = np.where(size > 0, size, 1.0)
    return prediction / size, truth / size, mask


def in_deviations(
    prediction: np.ndarray, truth: np.ndarray, mask: np.ndarray | None = None
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Subtract the mean of the truth from each channel of both arrays, and divide by the standard deviation of the truth.

    Without this, a large constant offset of a sensor makes every relative error look small. A channel with a constant truth is
    divided by its root mean square. Returns (prediction, truth, mask) in the shape of the truth. Points that were not measured
    are 0 in both arrays.

    >>> in_deviations(np.array([[[99.0, 102.0]]]), np.array([[[99.0, 101.0]]]))[0]
    array([[[-1.,  2.]]])
    """
    prediction, truth, mask = in_own_units(prediction, truth, mask)
    axes = (0, *range(2, truth.ndim))
    count = np.maximum(mask.sum(axes, keepdims=True), 1)
    mean = truth.sum(axes, keepdims=True) / count
    size = np.sqrt((np.where(mask, truth - mean, 0.0) ** 2).sum(axes, keepdims=True) / count)
    size = np.where(size > CONSTANT, size, 1.0)
    return *(np.where(mask, values - mean, 0.0) / size for values in (prediction, truth)), mask  # type: ignore[return-value]


def scores(prediction: np.ndarray, truth: np.ndarray, mask: np.ndarray | None = None) -> dict[str, Any]:
    """Return the errors of a prediction: name of the error -> value.

    mask: True where the truth was measured; other points are ignored.

    | error     | meaning                                                | channels                      |
    |-----------|--------------------------------------------------------|-------------------------------|
    | l2, linf  | `relative_l2`, `relative_linf`, averaged over samples  | have equal weight             |
    | nrmse     | RMSE divided by the standard deviation of the truth    | have equal weight             |
    | rmse      | root mean square error                                 | one value for each channel    |
    | fit       | `fit_percent`                                          | averaged                      |

    l2 and linf are the relative errors of the paper. An offset of the truth makes them smaller. nrmse is used for measured
    signals, because an offset does not change it; the mean of the truth has the error nrmse = 1.

    Raises LfnoError if no point was measured.

    >>> scores(np.array([[[1.0, 2.0, 9.0]]]), np.array([[[1.0, 2.0, 0.0]]]), np.array([True, True, False]))["l2"]
    0.0
    """
    prediction, truth, mask = _masked(prediction, truth, mask)
    if not mask.any():
        raise LfnoError("the outputs of the test were not measured, so they have no error: choose other data for the test")
    own = in_own_units(prediction, truth, mask)
    samples = mask.any(tuple(range(1, mask.ndim)))  # samples with at least one measured point
    channels = mask.any((0, *range(2, mask.ndim)))
    return {
        "l2": float(relative_l2(*own)[samples].mean()),
        "linf": float(relative_linf(*own)[samples].mean()),
        "nrmse": float(np.sqrt((rmse(*in_deviations(prediction, truth, mask))[channels] ** 2).mean())),
        "rmse": rmse(prediction, truth, mask).tolist(),
        "fit": float(fit_percent(prediction, truth, mask)[channels].mean()),
    }


def _masked(prediction: np.ndarray, truth: np.ndarray, mask: np.ndarray | None) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return (prediction, truth, mask) in the shape of the truth. Points that were not measured are 0 in both arrays."""
    prediction, truth = check_pair(prediction, truth)
    if mask is None:
        return prediction, truth, np.broadcast_to(True, truth.shape)
    try:
        full = np.broadcast_to(np.asarray(mask, dtype=bool), truth.shape)
    except ValueError as error:
        raise LfnoError(f"a mask of shape {np.shape(mask)} does not fit a truth of shape {truth.shape}") from error
    return np.where(full, prediction, 0.0), np.where(full, truth, 0.0), full


@dataclass(frozen=True)
class Summary:
    """Mean and sample standard deviation (with divisor n − 1) of n = `count` values. `std` is 0 for a single value."""

    mean: float
    std: float
    count: int

    def __str__(self) -> str:
        return f"{self.mean:.3g} ± {self.std:.1g}" if self.count > 1 else f"{self.mean:.3g}"


def summary(values: Iterable[float]) -> Summary:
    """Return mean and standard deviation of values, such as the errors of several seeds. Raises LfnoError for no values.

    >>> str(summary([0.010, 0.012, 0.014]))
    '0.012 ± 0.002'
    """
    numbers = [float(value) for value in values]
    if not numbers:
        raise LfnoError("there are no values to summarise: no run has finished")
    mean = math.fsum(number / len(numbers) for number in numbers)
    if not math.isfinite(mean):
        return Summary(mean, math.nan, len(numbers))
    spread = math.fsum(min(abs(number - mean), 1e150) ** 2 for number in numbers)  # 1e150: the square must not overflow
    return Summary(mean, math.sqrt(spread / max(len(numbers) - 1, 1)), len(numbers))
