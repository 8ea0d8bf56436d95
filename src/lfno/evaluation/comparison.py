"""Compare two predictions of the same test data: the ratio of their errors, with the interval that the test allows."""

from __future__ import annotations

import math

import numpy as np
from scipy.stats import t

from lfno.evaluation.metrics import in_deviations

FEWEST_PIECES = 8  # a record is cut into at least this many pieces, if they are long enough
SHORTEST_PIECE = 16  # samples
LEVEL = 0.95  # coverage of an interval


def in_pieces(values: np.ndarray, length: int) -> np.ndarray:
    """Cut a record into pieces: (1, channels, *space, time) → (pieces, channels, *space, length).

    Pieces are shorter than `length` if there were fewer than FEWEST_PIECES otherwise. A shorter last piece is dropped.
    """
    size = values.shape[-1]
    length = min(max(min(length, size // FEWEST_PIECES), SHORTEST_PIECE), size)
    count = size // length
    return np.stack(np.split(values[0, ..., : count * length], count, axis=-1))


def squared_errors(
    prediction: np.ndarray, truth: np.ndarray, mask: np.ndarray | None = None, length: int | None = None
) -> np.ndarray:
    """Return the mean squared error of each sample, relative to the variance of the truth, (samples,).

    length: cut the only sample into pieces of this length (see `in_pieces`); None for whole samples.

    A sample without measured points has the error NaN.
    """
    prediction, truth, known = in_deviations(prediction, truth, mask)
    missed = (prediction - truth) ** 2
    if length is not None:
        missed, known = in_pieces(missed, length), in_pieces(known, length)
    axes = tuple(range(1, missed.ndim))
    count = known.sum(axes)
    return np.asarray(missed.sum(axes) / np.where(count > 0, count, np.nan))


def ratio_interval(one: np.ndarray, other: np.ndarray) -> tuple[float, float] | None:
    """Return a 95 % interval of the ratio of two RMSEs, from the squared errors of the same samples.

    The logarithm of the ratio is ½ log(mean one / mean other). Its standard error follows from the differences between the
    samples (delta method). The errors are paired: samples that are difficult for both predictions do not widen the interval.
    Returns None for fewer than three samples, and for errors that are zero or not finite.

    >>> low, high = ratio_interval(np.array([4.0, 4.4, 3.6, 4.0]), np.array([1.0, 1.1, 0.9, 1.0]))
    >>> bool(low <= 2 <= high)
    True
    """
    kept = ~(np.isnan(one) | np.isnan(other))
    one, other = one[kept], other[kept]
    count = len(one)
    if count < 3 or not (np.isfinite(one).all() and np.isfinite(other).all() and one.any() and other.any()):
        return None
    difference = one / one.mean() - other / other.mean()
    middle = 0.5 * math.log(one.mean() / other.mean())
    half = 0.5 * float(t.ppf((1 + LEVEL) / 2, count - 1)) * difference.std(ddof=1) / math.sqrt(count)
    return math.exp(middle - half), math.exp(min(middle + half, 700.0))
