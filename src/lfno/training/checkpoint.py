"""Stop and go on: everything a trainer needs, in one safetensors file that is never half-written."""

from __future__ import annotations

import json
import os
from dataclasses import asdict
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from lfno import tensorfile
from lfno.errors import LfnoError
from lfno.training.loop import History, Trainer

KEY = "lfno-checkpoint"
NAME, PREVIOUS = "checkpoint.safetensors", "checkpoint-previous.safetensors"

VECTORS = ("best_loss", "best_theta", "best_epoch", "scale", "retreats", "stopped", "train_loss", "validation_loss")


def save(trainer: Trainer, folder: Path) -> None:
    """Write the state; the checkpoint before it is kept beside it."""
    tree = {
        "fingerprint": fingerprint(trainer),
        "epoch": trainer.epoch,
        "seconds": trainer.seconds,
        "history": asdict(trainer.history),
    }
    path = folder / NAME
    if path.exists():
        os.replace(path, folder / PREVIOUS)
    tensorfile.write(path, _tensors(trainer), tree, KEY)


def restore(trainer: Trainer, folder: Path) -> bool:
    """Continue from the last checkpoint; False when there is none. A damaged one is passed over for the one before."""
    problems = []
    for path in (folder / NAME, folder / PREVIOUS):
        if not path.exists():
            continue
        try:
            tree, tensors = tensorfile.read(path, KEY, "checkpoint")
        except LfnoError as error:
            problems.append(str(error))
            continue
        _apply(trainer, tree, tensors, path)
        return True
    if problems:
        raise LfnoError(f"no checkpoint in {folder} can be used: {'; '.join(problems)}; start again without --resume")
    return False


def _tensors(trainer: Trainer) -> dict[str, Tensor]:
    own = {name: getattr(trainer, name) for name in VECTORS}
    good = {f"good.{name}": value for name, value in trainer.good.items()}
    return trainer.adam.tensors() | own | good


def _apply(trainer: Trainer, tree: dict[str, Any], tensors: dict[str, Tensor], path: Path) -> None:
    wanted, found = fingerprint(trainer), tree["fingerprint"]
    for key in wanted:
        if wanted[key] != found.get(key):
            raise LfnoError(f"{path} belongs to another run: its {key} is {found.get(key)}, this one's {wanted[key]}")
    with torch.no_grad():
        for name, value in _tensors(trainer).items():
            value.copy_(tensors[name])
    trainer.epoch, trainer.seconds = int(tree["epoch"]), float(tree["seconds"])
    trainer.history = History(**tree["history"])


def fingerprint(trainer: Trainer) -> dict[str, Any]:
    """What must be equal for two runs to be the same one."""
    tree = {
        "model": type(trainer.tasks[0].model).__name__,
        "configuration": asdict(trainer.tasks[0].model.config),
        "grid": [axis.size for axis in trainer.tasks[0].model.grid.axes],
        "training": asdict(trainer.config),
        "runs": [[task.name, task.seed] for task in trainer.tasks],
        "samples": len(trainer.tasks[0].x),
    }
    return json.loads(json.dumps(tree))
