"""Checkpoints: the whole state of a trainer in one safetensors file. A run can be resumed from its checkpoint."""

from __future__ import annotations

import hashlib
import json
import logging
import os
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from lfno.core import tensorfile
from lfno.core.errors import LfnoError
from lfno.core.json_text import to_json, with_nan
from lfno.training import parallel
from lfno.training.loop import History, Trainer
from lfno.training.task import Task

KEY = "lfno-checkpoint"  # key of the description in the metadata of the file
NAME = "checkpoint.safetensors"  # the newest checkpoint
PREVIOUS = "checkpoint-previous.safetensors"  # the second newest checkpoint, called the previous checkpoint
NEXT = "checkpoint-next.safetensors"  # the name of a checkpoint until it is completely written
DAMAGED = "checkpoint-damaged.safetensors"  # a checkpoint that could not be read

#: attributes of the trainer that are stored, besides the optimiser and `good`
VECTORS = ("best_loss", "best_theta", "best_epoch", "scale", "retreats", "stopped", "train_loss", "validation_loss")


class CheckpointError(LfnoError):
    """A checkpoint cannot be used: it is damaged, or it belongs to another run."""


State = tuple[dict[str, Any], dict[str, Tensor]]  # (description, copies of the tensors)


def state(trainer: Trainer) -> State:
    """Return a copy of everything that a resumed run needs.

    Call this function between two epochs. Then a resumed run gives the same bits as a run that was not stopped.
    """
    tree = {
        "fingerprint": fingerprint(trainer),
        "epoch": trainer.epoch,
        "seconds": trainer.seconds,
        "history": asdict(trainer.history),
    }
    return tree, {name: value.detach().clone() for name, value in _tensors(trainer).items()}


def save(what: State, folder: Path) -> None:
    """Write a state as the newest checkpoint. The previous checkpoint is kept. If the disk is full, no checkpoint is lost."""
    tree, tensors = what
    tensorfile.write(folder / NEXT, tensors, tree, KEY)
    if (folder / NAME).exists():
        os.replace(folder / NAME, folder / PREVIOUS)
    os.replace(folder / NEXT, folder / NAME)


def restore(trainer: Trainer, folder: Path) -> bool:
    """Load the newest checkpoint into a trainer. Return whether the folder has a checkpoint.

    If the newest checkpoint is damaged, the previous one is loaded. Raises CheckpointError if no checkpoint can be used.
    """
    problems = []
    for path in (folder / NAME, folder / PREVIOUS):
        if not path.exists():
            continue
        try:
            tree, tensors = tensorfile.read(path, KEY, "checkpoint")
        except LfnoError as error:
            problems.append(str(error))
            if parallel.leader() and path.exists():
                os.replace(path, folder / DAMAGED)  # otherwise `save` would replace the previous checkpoint by this file
            continue
        _apply(trainer, tree, tensors, path)
        for problem in problems:
            more = f"training continues from the previous checkpoint, at epoch {trainer.epoch}"
            logging.getLogger("lfno").warning(f"{problem}; {more}")
        return True
    if problems:
        raise CheckpointError(f"no checkpoint in {folder} can be used: {'; '.join(problems)}; start again without --resume")
    return False


def _tensors(trainer: Trainer) -> dict[str, Tensor]:
    """Return the tensors of the state of a trainer by name. They are not copied."""
    own = {name: getattr(trainer, name) for name in VECTORS}
    good = {f"good.{name}": value for name, value in trainer.good.items()}
    return trainer.adam.tensors() | own | good


def _apply(trainer: Trainer, tree: dict[str, Any], tensors: dict[str, Tensor], path: Path) -> None:
    """Load a state into a trainer. Raises CheckpointError if the state belongs to another run."""
    wanted, found = fingerprint(trainer), tree.get("fingerprint")
    own = _tensors(trainer)
    shapes = {name: tuple(value.shape) for name, value in own.items()}
    if not isinstance(found, dict) or shapes != {name: tuple(value.shape) for name, value in tensors.items()}:
        raise CheckpointError(f"{path} is a checkpoint of another run or release; start again without --resume")
    for key in wanted:
        if key == "batch" and isinstance(found.get(key), int) and wanted[key] < found[key]:
            continue  # a smaller batch is allowed, so that a run that ran out of memory can be resumed
        if wanted[key] != found.get(key):
            raise CheckpointError(f"{path} belongs to another run: its {key} is {found.get(key)}, not {wanted[key]}")
    try:
        epoch, seconds, history = int(tree["epoch"]), float(tree["seconds"]), History(**with_nan(tree["history"]))
    except (KeyError, TypeError, ValueError) as error:
        raise CheckpointError(f"{path} does not state the epoch of its run: {error}; start again without --resume") from error
    with torch.no_grad():
        for name, value in own.items():
            value.copy_(tensors[name])
    trainer.epoch, trainer.seconds, trainer.history = epoch, seconds, history


def narrowed(trainer: Trainer, rows: list[int], epochs: int) -> Trainer:
    """Return a trainer that continues with some runs of the stack.

    rows: indices of the runs that continue.
    epochs: number of epochs after which training ends.
    """
    smaller = Trainer([trainer.tasks[row] for row in rows], replace(trainer.config, epochs=epochs), trainer.device)
    before = _tensors(trainer)
    with torch.no_grad():
        for name, value in _tensors(smaller).items():
            value.copy_(before[name] if name.endswith("count") else before[name][rows])  # all runs share one step count
    past = trainer.history
    losses = ([[look[row] for row in rows] for look in kept] for kept in (past.train, past.validation))
    smaller.history = History(list(past.epoch), list(past.rate), list(past.seconds), *losses)
    smaller.epoch, smaller.seconds = trainer.epoch, trainer.seconds
    return smaller


def fingerprint(trainer: Trainer) -> dict[str, Any]:
    """Return the properties of a run that must be equal in a checkpoint, so that the run can be resumed from it.

    There is one exception: the batch of the resumed run may be smaller. The number of epochs and the interval between
    validations may change, so they are not included.
    """
    first = trainer.tasks[0]
    training = asdict(trainer.config)
    del training["epochs"], training["validate_every"]
    tree = {
        "model": type(first.model).__name__,
        "configuration": asdict(first.model.config),
        "grid": [axis.size for axis in first.model.grid.axes],
        "batch": training.pop("batch"),
        "training": training,
        "runs": [[task.name, task.seed, task.steady_decay] for task in trainer.tasks],
        "samples": len(first.train),
        "data": [_digest(task) for task in trainer.tasks],
    }
    return json.loads(to_json(tree))


def _digest(task: Task) -> str:
    """Return a hash of the first and the last training sample, and of the scales, which depend on all training samples."""
    digest = hashlib.sha256()
    for values in task.train.arrays().values():
        digest.update(np.ascontiguousarray(values[[0, -1]]).tobytes())
    for name in ("input_offset", "input_scale", "output_offset", "output_scale"):
        digest.update(getattr(task.model, name).cpu().numpy().tobytes())
    return digest.hexdigest()[:16]
