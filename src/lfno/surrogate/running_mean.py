"""Mean and standard deviation of the predictions of several members, computed one member at a time."""

from __future__ import annotations

import numpy as np


class RunningMean:
    """The mean (`mean`) and the standard deviation (`spread`) of all arrays that were added so far, by Welford's method.

    >>> tally = RunningMean()
    >>> for value in (1.0, 2.0, 6.0):
    ...     tally.add(np.array([value]))
    >>> tally.mean, tally.spread
    (array([3.]), array([2.64575131]))
    """

    def __init__(self) -> None:
        self.count = 0
        self.mean = np.zeros(0)
        self._deviations = np.zeros(0)

    def add(self, values: np.ndarray) -> None:
        """Include one more array."""
        self.count += 1
        if self.count == 1:
            self.mean = values
            return
        difference = values - self.mean
        self.mean = self.mean + difference / self.count
        self._deviations = difference * (values - self.mean) + (self._deviations if self.count > 2 else 0.0)

    @property
    def spread(self) -> np.ndarray | None:
        """Return the standard deviation of the arrays; None for a single array."""
        return np.sqrt(self._deviations / (self.count - 1)) if self.count > 1 else None
