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

FEWEST = 5  # smallest number of epochs, however small the time budget is
OVERDUE = 1.05  # a run is stopped after its time budget multiplied by this factor


@dataclass
class Pace:
    """The configuration of a run whose epochs fit into a time budget, and the expected time.

    config: the configuration of the training.
    pilot: the expected time of the pilot runs (`lfno.training.pilot`) in seconds; None on a GPU, where it is not estimated.
    training: the expected time of the training in seconds; None on a GPU. It is estimated again after the pilot runs.
    budget: the time budget in seconds; None for no limit.
    """

    config: TrainingConfig
    pilot: float | None
    training: float | None
    budget: float | None = None
    _begun: float = field(default_factory=time.monotonic)

    @classmethod
    def of(cls, tasks: Sequence[Task], config: TrainingConfig, expected: Estimate, budget: float | None) -> Pace:
        """Return the pace of a run. If the run does not fit into its budget, it has fewer epochs.

        tasks, config: the run.
        expected: its estimated cost.
        budget: the time budget in seconds; None for no limit.
        """
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
        """The expected time of pilot runs and training together, in seconds; None on a GPU."""
        return None if self.pilot is None or self.training is None else self.pilot + self.training

    def after_pilot(self, took: float) -> TrainingConfig:
        """Return the configuration of the training, with fewer epochs if the budget needs it.

        took: the time of the pilot runs in seconds. The ratio of this time to the expected time shows how fast the machine is.
            The expected time of the training is multiplied by this ratio.
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
        """Return a function that is called at every validation.

        The function calls `watch`. It also stops a training that exceeds its budget by 5 %.

        `record["left"]` is the expected time in seconds until the end of the training.
        """

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
    """Return whether a trainer trains pilot runs, not the run itself."""
    return trainer.tasks[0].name.startswith("pilot")


