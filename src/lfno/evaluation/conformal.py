"""Prediction intervals from errors on samples that the model was not trained on (split conformal prediction).

Take n calibration samples and a new sample of the same kind. Each of these n + 1 samples is equally likely to have the k-th
largest error. With k = ⌈(n + 1) level⌉, the k-th smallest calibration error is therefore at least as large as the new error
with a probability of at least `level`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from lfno.core.errors import LfnoError
from lfno.core.json_text import with_nan
from lfno.core.short import Short

MOST = 1000  # errors of a channel: at most this many are stored; more would hardly change a quantile


@dataclass(frozen=True, repr=False)
class Calibration(Short):
    """Sorted errors of n calibration samples, for each output channel.

    The errors of a channel that was not measured in any sample are NaN: this channel has no interval.

    whole: (channels, n) the largest absolute error of each sample, for an interval that holds for a whole trajectory.
    points: (channels, n) the absolute error at one random point of each sample, for an interval at a single point.
    """

    whole: list[list[float]]
    points: list[list[float]]

    @classmethod
    def of(cls, prediction: np.ndarray, truth: np.ndarray, mask: np.ndarray | None = None, seed: int = 0) -> Calibration:
        """Return the calibration from predictions and truths of the calibration samples.

        prediction, truth: (samples, channels, *space, time).
        mask: shape of the truth, True where it was measured; other points are not used. A sample without any measured point in
            one of the measured channels is left out.
        seed: seed of the random points. In each channel of a sample, one point is drawn, because the points of a sample are not
            independent.
        """
        error = np.abs(np.asarray(prediction, dtype=np.float64) - truth)
        error = error.reshape(*error.shape[:2], -1)
        known = np.ones(error.shape, bool) if mask is None else np.broadcast_to(mask, truth.shape).reshape(error.shape)
        measured = np.asarray(known.any(2))
        kept = measured[:, measured.any(0)].all(1) & measured.any(1)
        error, known = error[kept], known[kept]
        draw = np.where(known, np.random.default_rng(seed).random(error.shape), -1.0).argmax(-1)
        single = np.take_along_axis(error, draw[..., None], -1)[..., 0]
        largest = np.where(known, error, 0.0).max(-1)
        single[:, ~measured.any(0)] = largest[:, ~measured.any(0)] = np.nan
        return cls(*(_thinned(np.sort(values, axis=0).T) for values in (largest, single)))

    @property
    def count(self) -> int:
        """The number of calibration samples that are kept."""
        return len(self.whole[0]) if self.whole else 0

    @property
    def unmeasured(self) -> list[int]:
        """The indices of the channels that have no interval, because they were not measured in any calibration sample."""
        return [channel for channel, errors in enumerate(self.whole) if np.isnan(errors).any()]

    def half_width(self, level: float = 0.9, everywhere: bool = True) -> np.ndarray:
        """Return the half-width of the interval for each output channel, (channels,); NaN for a channel without interval.

        level: the probability that the truth lies in the interval.
        everywhere: whether the probability is for the whole trajectory or, if False, for each single point.

        Raises LfnoError if there are too few samples for this level.
        """
        if not 0 < level < 1:
            raise LfnoError(f"level={level!r} must be a probability between 0 and 1")
        place = math.ceil((self.count + 1) * level)
        if place > self.count:
            most = 100 * self.count / (self.count + 1)
            raise LfnoError(
                f"{self.count} test samples are too few for a {100 * level:g} % interval; they allow at most {most:.3g} %: "
                "choose a lower level, or fit the model to more data"
            )
        return np.array([errors[place - 1] for errors in (self.whole if everywhere else self.points)])

    def promise(self, level: float = 0.9) -> tuple[float, float]:
        """Return the range in which the coverage of an interval lies with 90 % probability.

        level: the level of the interval, as in `half_width`.

        The coverage is the share of new samples that lie in the interval. Its mean over many calibrations is `level`. For one
        calibration with n samples, its distribution is Beta(k, n + 1 − k) with k = ⌈(n + 1) level⌉.

        >>> low, high = Calibration([[0.0] * 200], [[0.0] * 200]).promise(0.9)
        >>> round(low, 2), round(high, 2)
        (0.86, 0.93)
        """
        from scipy.stats import beta

        self.half_width(level)
        place = math.ceil((self.count + 1) * level)
        low, high = beta.ppf([0.05, 0.95], place, self.count + 1 - place)
        return float(low), float(high)

    def to_dict(self) -> dict[str, Any]:
        """Return the calibration as lists of numbers. `from_dict` is the inverse."""
        return {"whole": self.whole, "points": self.points}

    @classmethod
    def from_dict(cls, tree: dict[str, Any]) -> Calibration:
        """Return the calibration that `to_dict` described."""
        return cls(with_nan(tree["whole"]), with_nan(tree["points"]))


def _thinned(errors: np.ndarray) -> list[list[float]]:
    """Return at most MOST of the sorted errors (channels, n), equally spaced in rank, as lists."""
    if errors.shape[1] > MOST:
        errors = errors[:, np.linspace(0, errors.shape[1] - 1, MOST).round().astype(int)]
    return [[float(f"{value:.6g}") for value in row] for row in errors]
