"""What goes into a fit and what comes out of it."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from lfno.challenges.protocol import Model, Training
from lfno.core.errors import LfnoError

#: seeds that are trained in one stack: more is a slip of the finger
MOST_SEEDS = 100
#: seconds that networks may take on a CPU unless the user gives a budget or a number of epochs
USUAL = 900.0
#: seconds of a time budget below which no network is trained beside other models
FEWEST = 10.0


@dataclass(frozen=True)
class Settings:
    """What a user may choose about a fit: seeds, device, a time budget, fields of the network and of its training."""

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
        """Whether the time budget is too short by now for a network."""
        return self.seconds is not None and self.seconds - (time.monotonic() - self.begun) < FEWEST

    def left(self, device: str) -> float | None:
        """Seconds that are left for networks; None for no limit."""
        if self.seconds is not None:
            return max(self.seconds - (time.monotonic() - self.begun), 1.0)
        return USUAL if device == "cpu" and "epochs" not in self.changes else None


def mean_score(figures: dict[str, float], training: Training) -> float:
    """One number for a set of figures: the mean of the errors, each relative to the size of the outputs it belongs to."""
    sizes: dict[str, list[float]] = {}
    for record in training.records:
        sizes.setdefault(record.figure, []).append(training.scale * float(record.outputs.std()))
    ratios = [value / (float(np.mean(sizes[name])) or 1.0) for name, value in figures.items()]
    return float(np.mean(ratios)) if all(map(math.isfinite, ratios)) else math.inf


@dataclass(frozen=True)
class Fitted:
    """The models of all seeds, their mean figures on held-out training records, and the configuration that made them.

    trained: the model that never saw the held-out records, where `models` were fitted to all of them; None if they are one.
    """

    models: Sequence[Model]
    validation: dict[str, float]
    configuration: dict[str, Any] = field(default_factory=dict)
    trained: Model | None = None


#: fits a model to training records
Fit = Callable[[Training, Settings], Fitted]
