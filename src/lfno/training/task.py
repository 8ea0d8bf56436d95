"""`Task`: the model and the samples of one run. `check_tasks`: whether tasks can be trained together, as one stack."""

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

LARGEST = 1e18  # largest absolute value of a sample: the square must be finite in single precision
STRIDE = 1_000_003  # distance between the random seeds of two initialisations; larger than all seeds in use


@dataclass(frozen=True)
class Task:
    """One run: a model, and its training and validation samples.

    model: the network before its training.
    train, validation: the samples.
    seed: seed of the initial weights and of the order of the samples.
    name: name of the run, for messages.
    steady_decay: the weight decay of R (see `lfno.training.config`); None to take the value of the training configuration.
    start: index of the initialisation. Each seed has several initialisations; see `lfno.training.pilot`.
    haste: factor by which the initial poles decay faster than usual.
    """

    model: Operator
    train: Samples
    validation: Samples
    seed: int = 0
    name: str = "run"
    steady_decay: SteadyDecay = None
    start: int = 0
    haste: float = 1.0

    def restarted(self, start: int) -> Task:
        """Return the task with the initialisation of index `start`. A new task has index 0."""
        return self if start == self.start else replace(self, model=self._anew(self.seed, start), start=start)

    def reseeded(self, seed: int) -> Task:
        """Return the task with another seed. Both tasks share the same samples in memory."""
        return replace(self, model=self._anew(seed, self.start), seed=seed, name=f"seed {seed}")

    def _anew(self, seed: int, start: int) -> Operator:
        """Return a new model with other initial weights."""
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(seed + STRIDE * start)
            model = type(self.model)(self.model.grid, self.model.config)
            hasten(model, self.haste)
        model.load_state_dict(dict(self.model.named_buffers()), strict=False)  # keep the scales of the data
        return model


def hasten(network: Operator, factor: float) -> None:
    """Make all stable poles of a network for signals decay faster by a factor, in place.

    The residues are multiplied by the square root of the factor, so that the impulse response of each pole keeps its energy.
    """
    for kernel in network.modules() if factor != 1 else ():
        if isinstance(kernel, PoleResidue) and kernel.stable:
            with torch.no_grad():
                kernel.get_parameter("poles_0")[..., 0] += math.log(factor)
                kernel.residues.mul_(math.sqrt(factor))


def check_tasks(tasks: Sequence[Task]) -> None:
    """Raise LfnoError if models or samples of the tasks have different shapes, or if a value is not finite."""
    if not tasks:
        raise LfnoError("there is no task: at least one is needed")
    first = tasks[0]
    for task in tasks:
        if task.model.config != first.model.config or task.model.grid.form != first.model.grid.form:
            raise LfnoError(f"{task.name} and {first.name} have models with different shapes; train them separately")
        for role in ("train", "validation"):
            _check_samples(task, first, role)
        if len(task.validation) == 0:
            raise LfnoError(f"{task.name} has no validation samples; at least one is needed to choose the best epoch")


def _check_samples(task: Task, first: Task, role: str) -> None:
    """Raise LfnoError if the samples of a task have no label, a value that is not finite, or other shapes than the first task.

    role: "train" or "validation".
    """
    arrays, others = (getattr(one, role).arrays() for one in (task, first))
    if arrays.keys() != others.keys():
        raise LfnoError(f"{task.name} and {first.name} have different labels: {list(arrays)} and {list(others)}")
    if "y" not in arrays and "steady" not in arrays:
        raise LfnoError(f"{task.name}: the {role} samples have no label; give y, steady or both")
    for name, array in arrays.items():
        if array.shape != others[name].shape:
            shapes = f"{array.shape} and {others[name].shape}"
            raise LfnoError(f"{task.name} and {first.name} have different shapes of {name} ({role}): {shapes}")
        if len(array) != len(arrays["x"]):
            raise LfnoError(f"{task.name} has {len(arrays['x'])} inputs x and {len(array)} of {name} ({role}): they must agree")
        if not np.isfinite(array).all():
            raise LfnoError(f"{task.name}: {name} ({role}) contains NaN or infinite values")
        if array.size and max(abs(float(array.max())), abs(float(array.min()))) > LARGEST:
            raise LfnoError(f"{task.name}: {name} ({role}) has values beyond {LARGEST:g}; convert it to another unit")
    if role == "train" and len(arrays["x"]) == 0:
        raise LfnoError(f"{task.name} has no training samples")
