"""What goes into a fit and what comes out of it."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from lfno.challenges.protocol import Model, Training
from lfno.core.errors import LfnoError

#: seeds that are trained in one stack: more is a slip of the finger
MOST_SEEDS = 100


@dataclass(frozen=True)
class Settings:
    """What a user may choose about a fit: the number of seeds, the device, fields of the model and of the training."""

    seeds: int = 1
    device: str | None = None
    changes: dict[str, Any] = field(default_factory=dict)
    watch: Callable[[Any, dict[str, Any]], None] | None = None

    def __post_init__(self) -> None:
        if not (isinstance(self.seeds, int) and 1 <= self.seeds <= MOST_SEEDS):
            raise LfnoError(f"{self.seeds!r} seeds: a whole number from 1 to {MOST_SEEDS} is needed")


def mean_score(figures: dict[str, float], training: Training) -> float:
    """One number for a set of figures: the mean of the errors, each relative to the size of the outputs it belongs to."""
    sizes: dict[str, list[float]] = {}
    for record in training.records:
        sizes.setdefault(record.figure, []).append(training.scale * float(record.outputs.std()))
    ratios = [value / (float(np.mean(sizes[name])) or 1.0) for name, value in figures.items()]
    return float(np.mean(ratios)) if all(map(math.isfinite, ratios)) else math.inf


@dataclass(frozen=True)
class Fitted:
    """The models of all seeds, their mean figures on held-out training records, and the configuration that made them."""

    models: Sequence[Model]
    validation: dict[str, float]
    configuration: dict[str, Any] = field(default_factory=dict)


#: fits a model to training records
Fit = Callable[[Training, Settings], Fitted]
