"""What one run learns from, and what tasks must have in common to be trained as one stack."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import torch

from lfno.core.errors import LfnoError
from lfno.models.operator import Operator

#: training is in single precision, and squares are taken
LARGEST = 1e18
#: between the random seeds of two starts: more than anyone has seeds
STRIDE = 1_000_003


@dataclass(frozen=True)
class Task:
    """One run: a model and its training and validation samples, (sample, channel, *grid) in physical units."""

    model: Operator
    x: np.ndarray
    y: np.ndarray
    x_validation: np.ndarray
    y_validation: np.ndarray
    seed: int = 0
    name: str = "run"
    steady_decay: float | None = None  # instead of the configuration's
    start: int = 0  # which of the initial weights that belong to the seed

    def restarted(self, start: int) -> Task:
        """With other initial weights; those of start 0 are the ones a task is made with."""
        return self if start == self.start else replace(self, model=self._anew(self.seed, start), start=start)

    def reseeded(self, seed: int) -> Task:
        """The same samples, which are held once, with another seed."""
        return replace(self, model=self._anew(seed, self.start), seed=seed, name=f"seed {seed}")

    def _anew(self, seed: int, start: int) -> Operator:
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(seed + STRIDE * start)
            model = type(self.model)(self.model.grid, self.model.config)
        model.load_state_dict(dict(self.model.named_buffers()), strict=False)  # the units
        return model


def check_tasks(tasks: Sequence[Task]) -> None:
    """Models of one shape, samples of one shape, all of them finite: anything else is a sentence."""
    if not tasks:
        raise LfnoError("there is nothing to train: no task was given")
    first = tasks[0]
    for task in tasks:
        if task.model.config != first.model.config or task.model.grid.form != first.model.grid.form:
            raise LfnoError(f"{task.name} and {first.name} have models of different shape; train them separately")
        for name in ("x", "y", "x_validation", "y_validation"):
            array, other = getattr(task, name), getattr(first, name)
            if array.shape != other.shape:
                shapes = f"{array.shape} and {other.shape}"
                raise LfnoError(f"{task.name} and {first.name} differ in the shape of {name}: {shapes}")
            if not np.isfinite(array).all():
                raise LfnoError(f"{task.name}: {name} contains NaN or infinite values")
            if array.size and max(abs(float(array.max())), abs(float(array.min()))) > LARGEST:
                raise LfnoError(f"{task.name}: {name} reaches beyond {LARGEST:g}; bring it to other units")
        if len(task.x) != len(task.y) or len(task.x) == 0:
            raise LfnoError(f"{task.name} has {len(task.x)} training inputs and {len(task.y)} outputs")
        if len(task.x_validation) != len(task.y_validation) or len(task.x_validation) == 0:
            raise LfnoError(f"{task.name} has no validation samples; at least one is needed to choose the best epoch")
