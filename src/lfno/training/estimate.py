"""What a run will take, before it begins: memory, time and disk; a run that cannot fit says so at once."""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import torch
from torch import Tensor

from lfno.core.errors import LfnoError
from lfno.core.memory import available, free_disk, human
from lfno.training import parallel
from lfno.training.config import TrainingConfig
from lfno.training.labels import sample_losses
from lfno.training.pilot import STRENGTHS, TRIAL, share_of_pilot
from lfno.training.stack import Stack
from lfno.training.task import Task

#: a step takes this much more than the tensors it keeps for the way back: gradients, work space, what lies between
MARGIN = 1.5
#: the part of the free memory that a run may plan with
USABLE = 0.9


@dataclass(frozen=True)
class Estimate:
    """Bytes of memory and disk, and seconds (None on a GPU, where the first looks tell better)."""

    memory: int
    disk: int
    seconds: float | None
    free_memory: int
    free_disk: int
    batch: int
    largest_batch: int

    def __str__(self) -> str:
        duration = "" if self.seconds is None else f"about {_duration(self.seconds)}, "
        return f"{duration}{human(self.memory)} of memory and {human(self.disk)} on disk"

    def check(self) -> None:
        """One sentence for a run that cannot fit."""
        if self.memory > USABLE * self.free_memory:
            way = f"batches of {self.largest_batch} would fit (--set batch={self.largest_batch})"
            if self.largest_batch < 1:
                way = "not even one sample fits: use fewer modes, poles or channels, or a coarser grid"
            raise LfnoError(
                f"a step with batches of {self.batch} needs about {human(self.memory)} of memory and "
                f"{human(self.free_memory)} are free; {way}"
            )
        if self.disk > self.free_disk:
            raise LfnoError(f"the run needs about {human(self.disk)} on disk and {human(self.free_disk)} are free")


def estimate(tasks: Sequence[Task], config: TrainingConfig, device: torch.device | str, folder: Path | None) -> Estimate:
    """From the steps of batches of one and of a few samples; nothing is tried that the memory cannot hold."""
    device, first = torch.device(device), tasks[0]
    free = torch.cuda.mem_get_info(device)[0] if device.type == "cuda" else available()
    batch = min(config.batch, len(first.train))
    own = math.ceil(batch / parallel.count())  # the samples of a batch that this process computes
    piloted = config.steady_decay is None
    runs = max(len(tasks) * config.starts, len(STRENGTHS) if piloted else 0)
    least = _least(first)
    if least > USABLE * free:
        return Estimate(least * own, 0, None, free, 0, batch, 0)
    few = min(max(batch, 2), 4)
    one, some = (_measure(first, config, size) for size in (1, few))
    slope = runs * max((some.memory - one.memory) / (few - 1), least / 4)
    numbers = runs * sum(parameter.numel() for parameter in first.model.parameters())
    rows = 1 if all(task.train is first.train for task in tasks) else runs  # the samples of an ensemble are held once
    samples = 4 * rows * sum(values.size for role in (first.train, first.validation) for values in role.arrays().values())
    always = MARGIN * max(runs * one.memory - slope, 0) + 40 * numbers + samples
    memory = int(always + MARGIN * slope * own)
    largest = max(int((USABLE * free - always) / (MARGIN * slope)), 0) * parallel.count()
    looks = math.ceil(config.epochs / config.validate_every)
    # three checkpoints of eight numbers for each parameter at a time, the models, and a line of the log for each look
    disk = (3 * 8 + 1) * 4 * numbers + looks * 200 * runs + 10**6 if folder is not None else 0
    seconds = None
    if device.type == "cpu":
        each = max(some.seconds - one.seconds, 0.0) / (few - 1)
        steps = config.epochs * math.ceil(len(first.train) / batch)
        seconds = len(tasks) * (steps * (one.seconds + each * (own - 1)) + looks * each * len(first.validation) / 3)
        pilots = share_of_pilot(len(first.train), config) * len(STRENGTHS) / len(tasks) if piloted else 0
        seconds *= 1 + pilots + (TRIAL * config.starts if config.starts > 1 else 0)
    free_there = 0 if folder is None else free_disk(folder)  # without a folder nothing is written
    return Estimate(memory, disk, seconds, int(free), free_there, batch, largest)


def _least(task: Task) -> int:
    """Bytes that one sample takes at the very least: four fields of the width of the network."""
    return 16 * task.model.config.width * math.prod(task.model.grid.shape)


@dataclass(frozen=True)
class _Measured:
    memory: int
    seconds: float


def _measure(task: Task, config: TrainingConfig, size: int) -> _Measured:
    """Bytes that a step of one run keeps for the way back, and its seconds on this CPU, the second time it is done."""
    stack = Stack([task.model], torch.device("cpu"))
    samples = {name: torch.zeros(1, size, *values.shape[1:]) for name, values in task.train.arrays().items()}
    score = partial(sample_losses, config=replace(config, unscored=0))  # a wrong `unscored` is the trainer's to refuse
    theta = stack.theta.detach().requires_grad_()
    kept: dict[int, int] = {}

    def keep(tensor: Tensor) -> Tensor:
        storage = tensor.untyped_storage()
        kept[storage.data_ptr()] = storage.nbytes()
        return tensor

    def step() -> None:
        torch.autograd.grad(stack.losses(theta, samples, score).sum(), theta)

    with torch.autograd.graph.saved_tensors_hooks(keep, lambda tensor: tensor):
        step()
    start = time.perf_counter()
    step()
    return _Measured(sum(kept.values()), time.perf_counter() - start)


def _duration(seconds: float) -> str:
    for limit, unit, size in ((90, "s", 1), (5400, "min", 60), (172800, "h", 3600)):
        if seconds < limit:
            return f"{seconds / size:.2g} {unit}"
    return f"{seconds / 86400:.2g} days"
