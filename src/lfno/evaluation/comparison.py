"""Compare two predictions of the same test data: the ratio of their errors, with a confidence interval."""

from __future__ import annotations

import math

import numpy as np
from scipy.stats import t

from lfno.evaluation.metrics import in_deviations

FEWEST_PIECES = 8  # pieces: a record is cut into at least this many, if each has SHORTEST_PIECE samples
SHORTEST_PIECE = 16  # samples: length of the shortest piece
LEVEL = 0.95  # probability: the confidence interval contains the true ratio with this probability


def in_pieces(values: np.ndarray, length: int) -> np.ndarray:
    """Return a record in pieces, (pieces, channels, *space, length of a piece).

    values: (1, channels, *space, time).
    length: length of a piece in samples. Pieces are shorter if there would be fewer than FEWEST_PIECES, but they have at least
        SHORTEST_PIECE samples. A record that is shorter than SHORTEST_PIECE is one piece.

    All pieces have the same length; samples that are left at the end are dropped.
    """
    size = values.shape[-1]
    length = min(max(min(length, size // FEWEST_PIECES), SHORTEST_PIECE), size)
    count = size // length
    return np.stack(np.split(values[0, ..., : count * length], count, axis=-1))


def squared_errors(
    prediction: np.ndarray, truth: np.ndarray, mask: np.ndarray | None = None, length: int | None = None
) -> np.ndarray:
    """Return the mean squared error of each sample divided by the variance of the truth, (samples,).

    prediction, truth: (samples, channels, *space, time).
    mask: shape of the truth, True where it was measured; None if everything was measured.
    length: for one long sample: the sample is cut into pieces of this length (see `in_pieces`), and each piece has its own
        error.

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
    """Return a 95 % confidence interval (low, high) of the ratio RMSE of `one` / RMSE of `other`.

    one, other: (samples,) squared errors of two predictions of the same samples.

    The logarithm of the ratio is ½ log(mean(one) / mean(other)). The delta method gives its standard error from the values
    one / mean(one) − other / mean(other). Samples that are difficult for both predictions therefore do not widen the interval.
    Returns None for fewer than three samples, and for errors that are all zero or not finite.

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
