"""Estimate memory, time and disk space of a run before it begins. A run that does not fit raises an error at once."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
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
from lfno.training.pilot import START_SHARE, STRENGTHS, share_of_pilot
from lfno.training.stack import Stack
from lfno.training.task import Task

MARGIN = 1.5  # memory of a step, divided by the memory of the tensors for the backward pass; gradients need memory, too
USABLE = 0.9  # share of the free memory that a run may use
MOST_TIMED = 5  # largest number of steps that are timed
LONG_ENOUGH = 0.5  # s; after this time, no further step is timed


@dataclass(frozen=True)
class Estimate:
    """The expected cost of a run.

    memory, disk: memory and disk space in bytes.
    seconds: time of the pilot runs (short trial runs before the training) plus the training; None if the time is not estimated:
        on a GPU, or if the run does not fit into the memory.
    free_memory, free_disk: free memory and disk space in bytes; free_disk is 0 if the run writes no files.
    batch: samples per step.
    largest_batch: the largest batch that fits into the free memory.
    step: seconds of one training step of all runs; 0 if the time is not estimated.
    trial: seconds of one training step of the pilot runs that choose the weight decay of R (`lfno.training.pilot`), all in one
        stack; 0 without these runs.
    look: seconds of one validation.
    pilot, training: seconds of the pilot runs, and of the training; None if the time is not estimated.
    """

    memory: int
    disk: int
    seconds: float | None
    free_memory: int
    free_disk: int
    batch: int
    largest_batch: int
    step: float = 0.0
    trial: float = 0.0
    look: float = 0.0
    pilot: float | None = None
    training: float | None = None

    def scaled(self, config: TrainingConfig, samples: int) -> tuple[float, float]:
        """Return (seconds of the pilot runs, seconds of the training) for another configuration.

        config: a configuration that may have another number of epochs.
        samples: the number of training samples.
        """
        steps, looks = math.ceil(samples / self.batch), config.epochs / config.validate_every
        training = config.epochs * steps * self.step + looks * self.look
        pilot = 0.0
        if config.steady_decay is None:
            trials = share_of_pilot(samples, config) * config.epochs
            every = max(1, min(config.validate_every, int(trials) // 4))
            pilot += trials * steps * self.trial + trials / every * self.look * self.trial / self.step
        if config.starts > 1:
            pilot += START_SHARE * config.starts * training
        return pilot, training

    def __str__(self) -> str:
        taken = "" if self.seconds is None else f"about {duration(self.seconds)}, "
        return f"{taken}{human(self.memory)} of memory and {human(self.disk)} on disk"

    def check(self) -> None:
        """Raise LfnoError if the run does not fit into the free memory or on the disk."""
        if self.memory > USABLE * self.free_memory:
            way = f"batches of {self.largest_batch} would fit (--set batch={self.largest_batch})"
            if self.largest_batch < 1:
                way = "even a batch of one sample does not fit: use fewer modes, poles or channels, or a coarser grid"
            raise LfnoError(
                f"a step with batches of {self.batch} needs about {human(self.memory)} of memory and "
                f"{human(self.free_memory)} are free; {way}"
            )
        if self.disk > self.free_disk:
            raise LfnoError(f"the run needs about {human(self.disk)} on disk and {human(self.free_disk)} are free")


def space(tasks: Sequence[Task], config: TrainingConfig, device: torch.device | str, folder: Path | None) -> Estimate:
    """Return the expected memory and disk space of a run. The memory of small steps is measured.

    tasks: the runs of the stack.
    config: the configuration of the training.
    device: the device of the training.
    folder: the folder for the files of the run; None if no files are written.

    A step that clearly does not fit into memory is not measured.
    """
    device, first = torch.device(device), tasks[0]
    free = torch.cuda.mem_get_info(device)[0] if device.type == "cuda" else available()
    batch = min(config.batch, len(first.train))
    own = math.ceil(batch / parallel.count())  # samples of a batch that this process computes
    piloted = config.steady_decay is None
    runs = max(len(tasks) * config.starts, len(STRENGTHS) if piloted else 0)
    least = _least(first)
    if least > USABLE * free:
        return Estimate(least * own, 0, None, free, 0, batch, 0)
    few = min(max(batch, 2), 4)
    one, some = (_memory(first, config, size) for size in (1, few))
    slope = runs * max((some - one) / (few - 1), least / 4)
    numbers = runs * sum(parameter.numel() for parameter in first.model.parameters())
    rows = 1 if all(task.train is first.train for task in tasks) else runs  # members of an ensemble share their samples
    samples = 4 * rows * sum(values.size for role in (first.train, first.validation) for values in role.arrays().values())
    always = MARGIN * max(runs * one - slope, 0) + 40 * numbers + samples
    memory = int(always + MARGIN * slope * own)
    largest = max(int((USABLE * free - always) / (MARGIN * slope)), 0) * parallel.count()
    looks = math.ceil(config.epochs / config.validate_every)
    # three checkpoints of eight values per parameter, the model files, and one line of the log per validation
    disk = (3 * 8 + 1) * 4 * numbers + looks * 200 * runs + 10**6 if folder is not None else 0
    return Estimate(memory, disk, None, int(free), 0 if folder is None else free_disk(folder), batch, largest)


def estimate(tasks: Sequence[Task], config: TrainingConfig, device: torch.device | str, folder: Path | None) -> Estimate:
    """Return the expected cost of a run: the memory and disk space from `space`, and on a CPU the time. Some steps are timed.

    The arguments are those of `space`.
    """
    result, first = space(tasks, config, device, folder), tasks[0]
    if torch.device(device).type != "cpu" or result.memory > USABLE * result.free_memory:
        return result
    own = math.ceil(result.batch / parallel.count())  # samples of a batch that this process computes
    piloted = config.steady_decay is None
    step, look = _seconds(first, config, own, len(tasks))
    trial = _seconds(first, config, own, len(STRENGTHS))[0] if piloted else 0.0
    result = replace(result, step=step, trial=trial, look=look)
    pilot, training = result.scaled(config, len(first.train))
    return replace(result, seconds=pilot + training, pilot=pilot, training=training)


def with_epochs(config: TrainingConfig, epochs: int) -> TrainingConfig:
    """Return the configuration with another number of epochs and about as many validations."""
    every = max(1, round(config.validate_every * epochs / config.epochs))
    return replace(config, epochs=epochs, validate_every=every)


def _least(task: Task) -> int:
    """Return a lower bound on the bytes of one sample: four hidden fields, (width, *grid), in single precision."""
    return 16 * task.model.config.width * math.prod(task.model.grid.shape)


def _memory(task: Task, config: TrainingConfig, size: int) -> int:
    """Return the bytes that a step of one run keeps for the backward pass. size: samples of the batch."""
    kept: dict[int, Tensor] = {}  # address -> tensor; the reference to the tensor prevents a second use of its address

    def keep(tensor: Tensor) -> Tensor:
        kept[tensor.untyped_storage().data_ptr()] = tensor
        return tensor

    with torch.autograd.graph.saved_tensors_hooks(keep, lambda tensor: tensor):
        _step(task, config, size, 1)()
    return sum(tensor.untyped_storage().nbytes() for tensor in kept.values())


def _seconds(task: Task, config: TrainingConfig, size: int, runs: int) -> tuple[float, float]:
    """Return (seconds of one training step, seconds of one validation) on this CPU.

    size: samples of the batch.
    runs: number of runs in the stack.

    The first step is slower, because it allocates memory, and is not timed. The time of a step is the median of the next steps.
    A validation is not timed: per sample, its forward pass takes about a third of the time of a training step.
    """
    step = _step(task, config, size, runs)
    step()
    taken: list[float] = []
    while not taken or (len(taken) < MOST_TIMED and sum(taken) < LONG_ENOUGH):
        start = time.perf_counter()
        step()
        taken.append(time.perf_counter() - start)
    middle = sorted(taken)[len(taken) // 2]
    return middle, middle * len(task.validation) / (3 * size)


def _step(task: Task, config: TrainingConfig, size: int, runs: int) -> Callable[[], object]:
    """Return a function that computes the gradient of a batch of `size` samples for a stack of `runs` equal models."""
    stack = Stack([task.model] * runs, torch.device("cpu"))
    samples = {name: torch.zeros(runs, size, *values.shape[1:]) for name, values in task.train.arrays().items()}
    # the time steps that the loss ignores (`unscored`) do not change the cost. If there are too many, the trainer says so later
    score = partial(sample_losses, config=replace(config, unscored=0))
    theta = stack.theta.detach().requires_grad_()
    return lambda: torch.autograd.grad(stack.losses(theta, samples, score).sum(), theta)


def duration(seconds: float) -> str:
    """Return a time in words, such as "45 s", "3.2 min" or "2 h".

    >>> duration(200)
    '3.3 min'
    """
    for limit, unit, size in ((90, "s", 1), (5400, "min", 60), (172800, "h", 3600)):
        if seconds < limit:
            return f"{seconds / size:.2g} {unit}"
    return f"{seconds / 86400:.2g} days"
