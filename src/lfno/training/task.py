"""What one run learns from, and what tasks must have in common to be trained as one stack."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import torch

from lfno.core.errors import LfnoError
from lfno.models.kernel import PoleResidue
from lfno.models.operator import Operator
from lfno.training.config import SteadyDecay
from lfno.training.labels import Samples

#: training is in single precision, and squares are taken
LARGEST = 1e18
#: between the random seeds of two starts: more than anyone has seeds
STRIDE = 1_000_003


@dataclass(frozen=True)
class Task:
    """One run: a model, and the samples to train on and to validate with."""

    model: Operator
    train: Samples
    validation: Samples
    seed: int = 0
    name: str = "run"
    steady_decay: SteadyDecay = None  # instead of the configuration's
    start: int = 0  # which of the initial weights that belong to the seed
    haste: float = 1.0  # how much faster the poles decay at first than those of a network usually do, relative to a sample

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
            hasten(model, self.haste)
        model.load_state_dict(dict(self.model.named_buffers()), strict=False)  # the units
        return model


def hasten(network: Operator, factor: float) -> None:
    """Make all poles decay faster by a factor. Residues grow with its root, so that the gain of a layer stays the same."""
    for kernel in network.modules() if factor != 1 else ():
        if isinstance(kernel, PoleResidue):
            with torch.no_grad():
                kernel.get_parameter("poles_0")[..., 0] += math.log(factor)
                kernel.residues.mul_(math.sqrt(factor))


def check_tasks(tasks: Sequence[Task]) -> None:
    """Models of one shape, samples of one shape, all of them finite: anything else is a sentence."""
    if not tasks:
        raise LfnoError("there is nothing to train: no task was given")
    first = tasks[0]
    for task in tasks:
        if task.model.config != first.model.config or task.model.grid.form != first.model.grid.form:
            raise LfnoError(f"{task.name} and {first.name} have models of different shape; train them separately")
        for role in ("train", "validation"):
            _check_samples(task, first, role)
        if len(task.validation) == 0:
            raise LfnoError(f"{task.name} has no validation samples; at least one is needed to choose the best epoch")


def _check_samples(task: Task, first: Task, role: str) -> None:
    """Each sample has a label, all values are finite, and all tasks of a stack have arrays of the same shape."""
    arrays, others = (getattr(one, role).arrays() for one in (task, first))
    if arrays.keys() != others.keys():
        raise LfnoError(f"{task.name} and {first.name} have different labels: {list(arrays)} and {list(others)}")
    if "y" not in arrays and "steady" not in arrays:
        raise LfnoError(f"{task.name}: the {role} samples have no label; give y, steady or both")
    for name, array in arrays.items():
        if array.shape != others[name].shape:
            shapes = f"{array.shape} and {others[name].shape}"
            raise LfnoError(f"{task.name} and {first.name} differ in the shape of {name} ({role}): {shapes}")
        if len(array) != len(arrays["x"]):
            raise LfnoError(f"{task.name} has {len(arrays['x'])} {role} inputs and {len(array)} of {name}")
        if not np.isfinite(array).all():
            raise LfnoError(f"{task.name}: {name} ({role}) contains NaN or infinite values")
        if array.size and max(abs(float(array.max())), abs(float(array.min()))) > LARGEST:
            raise LfnoError(f"{task.name}: {name} ({role}) reaches beyond {LARGEST:g}; bring it to other units")
    if role == "train" and len(arrays["x"]) == 0:
        raise LfnoError(f"{task.name} has no training samples")
