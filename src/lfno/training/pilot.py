"""What short trial runs decide, judged on the validation samples: where to start, and how strongly to hold R back.

A network of a few channels may start where it gets stuck; a few starts are tried, each for a small part of the epochs.
R can fit what poles cannot (one forcing shape, a field in space), and it is where a network overfits on rich inputs.
Which of the two it will be is a property of the data, so the data are asked.
"""

from __future__ import annotations

import hashlib
import json
import math
import time
from collections.abc import Sequence
from copy import deepcopy
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from lfno.core.tensorfile import write_atomically
from lfno.models.lfno import LFNO
from lfno.training import parallel
from lfno.training.config import HELD, MOST_STARTS, SteadyDecay, TrainingConfig
from lfno.training.loop import Trainer, Watcher
from lfno.training.task import Task

#: what the pilot compares: an R that is almost free, and no R at all
STRENGTHS: tuple[SteadyDecay, ...] = (1e-4, HELD)
SHARE = 0.2  # of the epochs of the real run
LEAST = 450  # steps, about: R helps at first even where it overfits later
MOST = 0.5  # of the epochs of a run that has few
TRIAL, LONGEST = 0.04, 200  # the same, of a start, and the most: by then it is seen which start is ahead

PILOT = "pilot.json"
PilotChoice = tuple[int, SteadyDecay]  # a start and a strength


def chosen(
    tasks: Sequence[Task],
    config: TrainingConfig,
    device: str | torch.device,
    folder: Path | None = None,
    resume: bool = False,
    watch: Watcher | None = None,
) -> tuple[list[Task], float]:
    """Return the tasks with their initial weights and the decay of R chosen, and the seconds that the pilot took.

    With `resume` the choices that an earlier part of the run wrote into `folder` are used again; without them, or if they
    are damaged, a pilot makes them and writes them there.
    """
    before = read_choices(folder, tasks) if resume and folder is not None else None
    if before is not None:
        return before
    start = time.monotonic()
    tasks = choose_all(tasks, config, device, watch if parallel.leader() else None)
    seconds = time.monotonic() - start
    if folder is not None and parallel.leader():
        write_choices(folder, tasks, seconds)
    return tasks, seconds


def choose_all(
    tasks: Sequence[Task], config: TrainingConfig, device: str | torch.device, watch: Watcher | None = None
) -> list[Task]:
    """The tasks with all that is chosen before a run."""
    return lightened(choose_strength(choose_start(tasks, config, device, watch), config, device, watch))


def lightened(tasks: Sequence[Task]) -> list[Task]:
    """An R that no run of a stack keeps is left out of its models: the same answers for less, in training and after."""
    models = [t.model for t in tasks if t.steady_decay == HELD and isinstance(t.model, LFNO) and t.model.starts_exact]
    if len(models) < len(tasks):
        return list(tasks)
    return [replace(task, model=model.without_weights()) for task, model in zip(tasks, models, strict=True)]


def choices(tasks: Sequence[Task]) -> list[PilotChoice]:
    """What was chosen, to be written down."""
    return [(task.start, task.steady_decay) for task in tasks]


def chosen_before(tasks: Sequence[Task], found: Any) -> list[Task] | None:
    """The tasks with choices as they were written down; None where they are damaged: chosen again they are the same."""
    try:
        pairs = [(range(MOST_STARTS)[start], s if s is None or s == HELD else float(s)) for start, s in found]
        chosen = zip(tasks, pairs, strict=True)
        return lightened([replace(t.restarted(start), steady_decay=strength) for t, (start, strength) in chosen])
    except (ValueError, TypeError, IndexError):
        return None


def write_choices(folder: Path, tasks: Sequence[Task], seconds: float = 0.0) -> None:
    """Beside the checkpoints of a run, with the time that choosing took."""
    write_atomically(folder / PILOT, json.dumps({"choices": choices(tasks), "seconds": seconds}).encode())


def read_choices(folder: Path, tasks: Sequence[Task]) -> tuple[list[Task], float] | None:
    """The tasks as an earlier part of the same run chose them, and the seconds that took; None where nothing is to be read."""
    try:
        found = json.loads((folder / PILOT).read_text())
        before, seconds = chosen_before(tasks, found["choices"]), float(found["seconds"])
    except (OSError, ValueError, TypeError, KeyError):
        return None
    return None if before is None else (before, seconds)


def choose_start(
    tasks: Sequence[Task], config: TrainingConfig, device: str | torch.device, watch: Watcher | None = None
) -> list[Task]:
    """The tasks with the best of `starts` initial weights, each task with its own."""
    if config.starts == 1:
        return list(tasks)
    trials = [task.restarted(start) for task in tasks for start in range(config.starts)]
    share = min(TRIAL, LONGEST / config.epochs)
    losses = _losses(trials, replace(config, steady_decay=config.steady_decay or 0.0), share, device, watch)
    best = losses.reshape(len(tasks), config.starts).argmin(1).tolist()
    return [task.restarted(start) for task, start in zip(tasks, best, strict=True)]


def _losses(
    trials: Sequence[Task], config: TrainingConfig, share: float, device: str | torch.device, watch: Watcher | None
) -> Tensor:
    """The best validation loss of each trial after a share of the epochs. The models of the trials are left as they are."""
    epochs = max(1, round(share * config.epochs))
    looks = max(1, min(config.validate_every, epochs // 4))
    named = [replace(trial, name=f"pilot of {trial.name}", model=deepcopy(trial.model)) for trial in trials]
    pilot = Trainer(named, replace(config, epochs=epochs, validate_every=looks), device)
    pilot.run(watch)
    return pilot.best_loss


def share_of_pilot(samples: int, config: TrainingConfig) -> float:
    """How much of a run the pilot is that asks whether R is wanted."""
    steps = config.epochs * math.ceil(samples / config.batch)
    return min(MOST, max(SHARE, LEAST / steps))


def choose_strength(
    tasks: Sequence[Task], config: TrainingConfig, device: str | torch.device, watch: Watcher | None = None
) -> list[Task]:
    """The tasks with their `steady_decay` set. Tasks on the same samples (seeds of one run) share one choice."""
    if config.steady_decay is not None:
        return list(tasks)
    keys = [_samples(task) for task in tasks]
    first: dict[str, Task] = {}
    for key, task in zip(keys, tasks, strict=True):
        first.setdefault(key, task)
    trials = [replace(task, steady_decay=strength) for task in first.values() for strength in STRENGTHS]
    share = share_of_pilot(len(tasks[0].train), config)
    losses = _losses(trials, replace(config, steady_decay=0.0), share, device, watch).reshape(len(first), -1).tolist()
    chosen = {key: STRENGTHS[row.index(min(row))] for key, row in zip(first, losses, strict=True)}
    return [replace(task, steady_decay=chosen[key]) for key, task in zip(keys, tasks, strict=True)]


def _samples(task: Task) -> str:
    """Equal for tasks of one data set and split, and for no others: folds may begin and end with the same samples."""
    digest = hashlib.sha256()
    for values in [*task.train.arrays().values(), *task.validation.arrays().values()]:
        digest.update(np.ascontiguousarray(values).tobytes())
    return digest.hexdigest()
