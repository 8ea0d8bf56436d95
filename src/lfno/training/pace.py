"""Choose the number of epochs for a time budget, and report the time that is left."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from lfno.training.config import TrainingConfig
from lfno.training.estimate import Estimate, with_epochs
from lfno.training.loop import Trainer, Watcher
from lfno.training.task import Task

FEWEST = 5  # epochs of a run with the smallest budget
OVERDUE = 1.05  # a run ends with its best networks so far after this multiple of its budget


@dataclass
class Pace:
    """The configuration of a run whose epochs fit into a time budget, and the expected seconds.

    pilot, training: expected seconds; None if they cannot be estimated (on a GPU). After the pilot, the seconds of the training
        are estimated again from the measured speed of the machine.
    """

    config: TrainingConfig
    pilot: float | None
    training: float | None
    budget: float | None = None
    _begun: float = field(default_factory=time.monotonic)

    @classmethod
    def of(cls, tasks: Sequence[Task], config: TrainingConfig, expected: Estimate, budget: float | None) -> Pace:
        """Return the pace of a run; `budget` in seconds, None for no limit."""
        pilot, training = expected.pilot, expected.training
        if budget is None or pilot is None or training is None or pilot + training <= budget:
            return cls(config, pilot, training, budget)
        epochs = config.epochs
        while epochs > FEWEST:
            epochs = max(FEWEST, min(epochs - 1, int(0.95 * epochs)))
            pilot, training = expected.scaled(with_epochs(config, epochs), len(tasks[0].train))
            if pilot + training <= budget:
                break
        return cls(with_epochs(config, epochs), pilot, training, budget)

    @property
    def total(self) -> float | None:
        """Expected seconds of pilot and training together."""
        return None if self.pilot is None or self.training is None else self.pilot + self.training

    def after_pilot(self, took: float) -> TrainingConfig:
        """Return the configuration of the training after a pilot of `took` seconds.

        The ratio of measured to expected seconds of the pilot gives the present speed of the machine.
        """
        if self.pilot and self.training and took > 0:
            self.training *= took / self.pilot
            self.pilot = took
        if self.budget is None or self.training is None:
            return self.config
        left = self.budget - (time.monotonic() - self._begun)
        if self.training > left:
            epochs = max(FEWEST, int(self.config.epochs * max(left, 0.0) / self.training))
            if epochs < self.config.epochs:
                self.training *= epochs / self.config.epochs
                self.config = with_epochs(self.config, epochs)
        return self.config

    def watcher(self, watch: Watcher | None) -> Watcher:
        """Return a watcher that adds the seconds left as `record["left"]`, calls `watch`, and ends an overdue run."""

        def observe(trainer: Trainer, record: dict[str, Any]) -> None:
            done, total = record["epoch"], trainer.config.epochs
            left = record["seconds"] / max(done, 1) * (total - done)
            if is_pilot(trainer) and self.pilot and self.training:
                left += self.training * record["seconds"] / max(done, 1) * total / self.pilot
            overdue = self.budget is not None and time.monotonic() - self._begun > OVERDUE * self.budget
            if overdue and not is_pilot(trainer):
                trainer.stopped.fill_(1.0)
            if watch is not None:
                watch(trainer, {**record, "left": left})

        return observe


def is_pilot(trainer: Trainer) -> bool:
    """Whether a trainer runs short trials before the run itself."""
    return trainer.tasks[0].name.startswith("pilot")


