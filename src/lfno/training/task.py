"""`Task`: the model and the samples of one run. `check_tasks`: whether tasks can be trained as one stack."""

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

#: largest absolute value of a sample: its square must fit into single precision
LARGEST = 1e18
#: distance between the random seeds of two initialisations of one task; larger than any number of seeds in use
STRIDE = 1_000_003


@dataclass(frozen=True)
class Task:
    """One run: a model, and its training and validation samples."""

    model: Operator
    train: Samples
    validation: Samples
    seed: int = 0
    name: str = "run"
    steady_decay: SteadyDecay = None  # overrides the value of the configuration
    start: int = 0  # index of the initialisation; each seed has several
    haste: float = 1.0  # factor by which the initial poles decay faster than the usual ones

    def restarted(self, start: int) -> Task:
        """Return the task with initialisation number `start`. Number 0 is the one that the task was made with."""
        return self if start == self.start else replace(self, model=self._anew(self.seed, start), start=start)

    def reseeded(self, seed: int) -> Task:
        """Return the task with another seed. Both tasks share the same samples in memory."""
        return replace(self, model=self._anew(seed, self.start), seed=seed, name=f"seed {seed}")

    def _anew(self, seed: int, start: int) -> Operator:
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(seed + STRIDE * start)
            model = type(self.model)(self.model.grid, self.model.config)
            hasten(model, self.haste)
        model.load_state_dict(dict(self.model.named_buffers()), strict=False)  # keep the scales of the data
        return model


def hasten(network: Operator, factor: float) -> None:
    """Make all poles decay faster by a factor. Residues grow with its root, so that the gain of a layer stays the same."""
    for kernel in network.modules() if factor != 1 else ():
        if isinstance(kernel, PoleResidue):
            with torch.no_grad():
                kernel.get_parameter("poles_0")[..., 0] += math.log(factor)
                kernel.residues.mul_(math.sqrt(factor))


def check_tasks(tasks: Sequence[Task]) -> None:
    """Check that all models and all samples have one shape and all values are finite. Raises LfnoError if not."""
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
    """Check that each sample has a label, all values are finite, and all tasks of a stack have arrays of the same shape."""
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
