"""Short trial runs that choose the initialisation and the weight decay of R by the validation loss.

Initialisation: a small network may get stuck. Several initialisations are tried, each for a small share of the epochs.

Weight decay of R, the free weights of the steady modes: R can fit shapes that poles cannot (one forcing shape, a field in
space), but R also overfits on rich inputs. Which of the two happens depends on the data.
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

#: values of `steady_decay` that the pilot compares: an almost free R, and an R that stays zero
STRENGTHS: tuple[SteadyDecay, ...] = (1e-4, HELD)
SHARE = 0.2  # epochs of the pilot for R, as a share of the epochs of the run
FEWEST_STEPS = 450  # least number of steps of that pilot: early in training R helps even if it overfits later
LARGEST_SHARE = 0.5  # upper bound on SHARE for runs with few steps
START_SHARE = 0.04  # epochs of a trial of one initialisation, as a share of the epochs of the run
MOST_START_EPOCHS = 200  # upper bound on the epochs of such a trial; the best initialisation is known by then

PILOT = "pilot.json"
PilotChoice = tuple[int, SteadyDecay]  # (index of the initialisation, weight decay of R)


def chosen(
    tasks: Sequence[Task],
    config: TrainingConfig,
    device: str | torch.device,
    folder: Path | None = None,
    resume: bool = False,
    watch: Watcher | None = None,
) -> tuple[list[Task], float]:
    """Choose the initialisation and the weight decay of R of each task.

    folder: the choices are written there.
    resume: whether to use choices that an earlier part of the run wrote into `folder`. If they are missing or damaged, a pilot
        runs again.

    Returns the tasks with their choices, and the seconds that the pilot took.
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
    """Return the tasks with initialisation and weight decay chosen."""
    return lightened(choose_strength(choose_start(tasks, config, device, watch), config, device, watch))


def lightened(tasks: Sequence[Task]) -> list[Task]:
    """Return the tasks without R if no run of the stack trains it. The predictions stay the same and cost less."""
    models = [t.model for t in tasks if t.steady_decay == HELD and isinstance(t.model, LFNO) and t.model.starts_exact]
    if len(models) < len(tasks):
        return list(tasks)
    return [replace(task, model=model.without_weights()) for task, model in zip(tasks, models, strict=True)]


def choices(tasks: Sequence[Task]) -> list[PilotChoice]:
    """Return the choices of each task, for `write_choices`."""
    return [(task.start, task.steady_decay) for task in tasks]


def chosen_before(tasks: Sequence[Task], found: Any) -> list[Task] | None:
    """Return the tasks with choices that were read from a file; None if the choices are damaged."""
    try:
        pairs = [(range(MOST_STARTS)[start], s if s is None or s == HELD else float(s)) for start, s in found]
        chosen = zip(tasks, pairs, strict=True)
        return lightened([replace(t.restarted(start), steady_decay=strength) for t, (start, strength) in chosen])
    except (ValueError, TypeError, IndexError):
        return None


def write_choices(folder: Path, tasks: Sequence[Task], seconds: float = 0.0) -> None:
    """Write the choices and the seconds of the pilot beside the checkpoints of a run."""
    write_atomically(folder / PILOT, json.dumps({"choices": choices(tasks), "seconds": seconds}).encode())


def read_choices(folder: Path, tasks: Sequence[Task]) -> tuple[list[Task], float] | None:
    """Return the tasks with the choices in `folder`, and the seconds of that pilot; None if there are no readable choices.
    """
    try:
        found = json.loads((folder / PILOT).read_text())
        before, seconds = chosen_before(tasks, found["choices"]), float(found["seconds"])
    except (OSError, ValueError, TypeError, KeyError):
        return None
    return None if before is None else (before, seconds)


def choose_start(
    tasks: Sequence[Task], config: TrainingConfig, device: str | torch.device, watch: Watcher | None = None
) -> list[Task]:
    """Return the tasks, each with the best of `config.starts` initialisations."""
    if config.starts == 1:
        return list(tasks)
    trials = [task.restarted(start) for task in tasks for start in range(config.starts)]
    share = min(START_SHARE, MOST_START_EPOCHS / config.epochs)
    losses = _losses(trials, replace(config, steady_decay=config.steady_decay or 0.0), share, device, watch)
    best = losses.reshape(len(tasks), config.starts).argmin(1).tolist()
    return [task.restarted(start) for task, start in zip(tasks, best, strict=True)]


def _losses(
    trials: Sequence[Task], config: TrainingConfig, share: float, device: str | torch.device, watch: Watcher | None
) -> Tensor:
    """Return the best validation loss of each trial after a share of the epochs. The models of the trials are not changed.
    """
    epochs = max(1, round(share * config.epochs))
    every = max(1, min(config.validate_every, epochs // 4))
    named = [replace(trial, name=f"pilot of {trial.name}", model=deepcopy(trial.model)) for trial in trials]
    pilot = Trainer(named, replace(config, epochs=epochs, validate_every=every), device)
    pilot.run(watch)
    return pilot.best_loss


def share_of_pilot(samples: int, config: TrainingConfig) -> float:
    """Return the epochs of the pilot for R, as a share of the epochs of the run."""
    steps = config.epochs * math.ceil(samples / config.batch)
    return min(LARGEST_SHARE, max(SHARE, FEWEST_STEPS / steps))


def choose_strength(
    tasks: Sequence[Task], config: TrainingConfig, device: str | torch.device, watch: Watcher | None = None
) -> list[Task]:
    """Return the tasks with their `steady_decay` set. Tasks with the same samples (seeds of one run) share one choice."""
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
    """Return a hash of all training and validation samples.

    The hash covers every sample, because two folds may have the same first and last samples.
    """
    digest = hashlib.sha256()
    for values in [*task.train.arrays().values(), *task.validation.arrays().values()]:
        digest.update(np.ascontiguousarray(values).tobytes())
    return digest.hexdigest()
