"""Pilot runs: short trial runs that choose the initialisation and the weight decay of R by the validation loss.

R are the Fourier weights: one trainable channel matrix for each low Fourier mode of a layer (`lfno.models.fourier_weights`).

Initialisation: a small network may get stuck from one initialisation. Several initialisations are tried, each for a small share
of the epochs.

Weight decay of R: R reduces the error of fields in space, and of signals whose inputs all have one shape. With many different
inputs, R overfits. Two pilot runs are therefore compared: in one of them R is trained, in the other one R keeps its initial
value.
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

from lfno.core.json_text import to_json
from lfno.core.tensorfile import write_atomically
from lfno.models.lfno import LFNO
from lfno.training import parallel
from lfno.training.config import HELD, MOST_STARTS, SteadyDecay, TrainingConfig
from lfno.training.loop import Trainer, Watcher
from lfno.training.task import Task

#: values of `steady_decay` that the pilot runs compare: R is trained with a weak decay, or R keeps its initial value
STRENGTHS: tuple[SteadyDecay, ...] = (1e-4, HELD)
SHARE = 0.2  # length of the pilot run for R, as a share of the epochs of the run
#: smallest number of steps of the pilot run for R. R helps early in training and may overfit later, which a shorter run would
#: not show. If the limits contradict each other, LARGEST_SHARE has priority
FEWEST_STEPS = 450
LARGEST_SHARE = 0.5  # largest length of the pilot run for R, as a share of the epochs of the run
START_SHARE = 0.04  # length of the pilot run of one initialisation, as a share of the epochs of the run
MOST_START_EPOCHS = 200  # largest number of epochs of the pilot run of one initialisation; the best one is known by then

PILOT = "pilot.json"  # name of the file with the choices
PilotChoice = tuple[int, SteadyDecay]  # (index of the initialisation, weight decay of R)


def chosen(
    tasks: Sequence[Task],
    config: TrainingConfig,
    device: str | torch.device,
    folder: Path | None = None,
    resume: bool = False,
    watch: Watcher | None = None,
) -> tuple[list[Task], float]:
    """Choose initialisation and weight decay of R of each task. Return (tasks with these choices, seconds of the pilot runs).

    folder: the folder in which the choices are written; None to write no file.
    resume: whether to use the choices in `folder` from an earlier part of the run. If they are missing or damaged, the pilot
        runs are repeated.
    watch: called as `watch(trainer, record)` at every validation.
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
    """Return the tasks with faster models, which have no R, if R is zero and not trained in every run of the stack.

    Otherwise, return the tasks unchanged.
    """
    models = [t.model for t in tasks if t.steady_decay == HELD and isinstance(t.model, LFNO) and t.model.starts_exact]
    if len(models) < len(tasks):
        return list(tasks)
    return [replace(task, model=model.without_weights()) for task, model in zip(tasks, models, strict=True)]


def choices(tasks: Sequence[Task]) -> list[PilotChoice]:
    """Return (index of the initialisation, weight decay of R) of each task."""
    return [(task.start, task.steady_decay) for task in tasks]


def chosen_before(tasks: Sequence[Task], found: Any) -> list[Task] | None:
    """Return the tasks with choices from a file; None if the choices are damaged.

    found: the content of the file, in the form of `choices`.
    """
    try:
        pairs = [(range(MOST_STARTS)[start], s if s is None or s == HELD else float(s)) for start, s in found]
        chosen = zip(tasks, pairs, strict=True)
        return lightened([replace(t.restarted(start), steady_decay=strength) for t, (start, strength) in chosen])
    except (ValueError, TypeError, IndexError):
        return None


def write_choices(folder: Path, tasks: Sequence[Task], seconds: float = 0.0) -> None:
    """Write the choices, and the time of the pilot runs in seconds, to the folder of the run."""
    write_atomically(folder / PILOT, to_json({"choices": choices(tasks), "seconds": seconds}).encode())


def read_choices(folder: Path, tasks: Sequence[Task]) -> tuple[list[Task], float] | None:
    """Return (tasks with the choices in the folder, time of the pilot runs in seconds); None without a readable file."""
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
    """Return the best validation loss of each trial, (trials,). The trials are trained as copies.

    share: length of the training, as a share of the epochs of the run.
    """
    epochs = max(1, round(share * config.epochs))
    every = max(1, min(config.validate_every, epochs // 4))
    named = [replace(trial, name=f"pilot of {trial.name}", model=deepcopy(trial.model)) for trial in trials]
    pilot = Trainer(named, replace(config, epochs=epochs, validate_every=every), device)
    pilot.run(watch)
    return pilot.best_loss


def share_of_pilot(samples: int, config: TrainingConfig) -> float:
    """Return the length of the pilot run for R, as a share of the epochs of the run. samples: number of training samples."""
    steps = config.epochs * math.ceil(samples / config.batch)
    return min(LARGEST_SHARE, max(SHARE, FEWEST_STEPS / steps))


def choose_strength(
    tasks: Sequence[Task], config: TrainingConfig, device: str | torch.device, watch: Watcher | None = None
) -> list[Task]:
    """Return the tasks with the better weight decay of R. Tasks with equal samples share their pilot runs and the choice."""
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
    """Return a hash of all training and validation samples. Two folds may differ only between their first and last samples."""
    digest = hashlib.sha256()
    for values in [*task.train.arrays().values(), *task.validation.arrays().values()]:
        digest.update(np.ascontiguousarray(values).tobytes())
    return digest.hexdigest()
