"""How strongly to hold R back: a short trial run of each strength, judged on the validation samples.

R can fit what poles cannot (one forcing shape, a field in space), and it is where a network overfits on rich inputs.
Which of the two it will be is a property of the data, so the data are asked.
"""

from __future__ import annotations

from collections.abc import Sequence
from copy import deepcopy
from dataclasses import replace

import torch

from lfno.training.config import ABSENT, TrainingConfig
from lfno.training.loop import Trainer, Watcher
from lfno.training.task import Task

#: weight decay of R: practically free, and no R at all
STRENGTHS = (1e-4, ABSENT)
SHARE = 0.2  # of the epochs of the real run


def choose_strength(
    tasks: Sequence[Task], config: TrainingConfig, device: str | torch.device, watch: Watcher | None = None
) -> list[Task]:
    """The tasks with their `steady_decay` set. Tasks on the same samples (seeds of one run) share one choice."""
    if config.steady_decay is not None:
        return list(tasks)
    first: dict[int, Task] = {}
    for task in tasks:
        first.setdefault(_samples(task), task)
    trials = [
        replace(task, model=deepcopy(task.model), steady_decay=strength, name=f"pilot of {task.name}")
        for task in first.values()
        for strength in STRENGTHS
    ]
    epochs = max(1, round(SHARE * config.epochs))
    looks = max(1, min(config.validate_every, epochs // 4))
    pilot = Trainer(trials, replace(config, epochs=epochs, validate_every=looks, steady_decay=0.0), device)
    pilot.run(watch)
    losses = pilot.best_loss.reshape(len(first), len(STRENGTHS)).tolist()
    chosen = {key: STRENGTHS[row.index(min(row))] for key, row in zip(first, losses, strict=True)}
    return [replace(task, steady_decay=chosen[_samples(task)]) for task in tasks]


def _samples(task: Task) -> int:
    """Tasks made from one data set and split have equal samples; their first training output tells them apart."""
    return hash((task.y[0].tobytes(), task.y[-1].tobytes(), len(task.y)))
