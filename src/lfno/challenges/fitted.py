"""The settings and the result of a fit."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from lfno.challenges.protocol import Model, Training
from lfno.core.errors import LfnoError

#: largest number of seeds, whose networks are trained together; a larger number is probably a typing error
MOST_SEEDS = 100
#: seconds for a whole fit on a CPU if the user gives neither a time budget nor a number of epochs
USUAL = 540.0
#: seconds; `auto` trains no network if less of the time budget is left
FEWEST = 10.0


@dataclass(frozen=True)
class Settings:
    """The user's choices for a fit.

    seeds: number of networks with different initial weights.
    device: "cpu" or "cuda"; None takes the best device.
    changes: fields of the network and of its training, with their values.
    watch: a callback for the progress of the training.
    seconds: time budget in seconds; None for the default.
    begun: the time at which the fit began, on the monotonic clock.
    """

    seeds: int = 1
    device: str | None = None
    changes: dict[str, Any] = field(default_factory=dict)
    watch: Callable[[Any, dict[str, Any]], None] | None = None
    seconds: float | None = None
    begun: float = field(default_factory=time.monotonic)

    def __post_init__(self) -> None:
        if not (isinstance(self.seeds, int) and 1 <= self.seeds <= MOST_SEEDS):
            raise LfnoError(f"{self.seeds!r} seeds: a whole number from 1 to {MOST_SEEDS} is needed")
        if self.seconds is not None and not (math.isfinite(self.seconds) and self.seconds > 0):
            raise LfnoError(f"a time budget of {self.seconds!r} seconds: a positive number is needed")

    @property
    def late(self) -> bool:
        """Return whether the remaining time budget is too short for a network."""
        return self.seconds is not None and self.seconds - (time.monotonic() - self.begun) < FEWEST

    def left(self, device: str) -> float | None:
        """Return the remaining seconds for networks on this device; None for no limit."""
        if self.seconds is not None:
            return max(self.seconds - (time.monotonic() - self.begun), 1.0)
        if device != "cpu" or "epochs" in self.changes:
            return None
        return max(USUAL - (time.monotonic() - self.begun), FEWEST)


def mean_score(figures: dict[str, float], training: Training) -> float:
    """Return the mean of the figures, each divided by the standard deviation of its outputs.

    The result is infinity if a figure is not finite.
    """
    sizes: dict[str, list[float]] = {}
    for record in training.records:
        sizes.setdefault(record.figure, []).append(training.scale * float(record.outputs.std()))
    ratios = [value / (float(np.mean(sizes[name])) or 1.0) for name, value in figures.items()]
    return float(np.mean(ratios)) if all(map(math.isfinite, ratios)) else math.inf


@dataclass(frozen=True)
class Fitted:
    """The result of a fit.

    models: one model for each seed.
    validation: mean figures of merit on held-out training records.
    configuration: the configuration of the fit.
    trained: the model that was fitted without the held-out records; None if the method does not return this model.
    """

    models: Sequence[Model]
    validation: dict[str, float]
    configuration: dict[str, Any] = field(default_factory=dict)
    trained: Model | None = None


#: type of a method: a function that fits a model to training records
Fit = Callable[[Training, Settings], Fitted]
