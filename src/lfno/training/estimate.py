"""Estimate memory, time and disk space of a run before it begins. A run that cannot fit ends at once with an error message.
"""

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

#: memory of a step, divided by the memory of the tensors kept for the backward pass; the rest is gradients and work space
MARGIN = 1.5
#: the share of the free memory that a run may use
USABLE = 0.9
MOST_TIMED = 5  # steps that are timed
LONG_ENOUGH = 0.5  # seconds; after them no further step is timed


@dataclass(frozen=True)
class Estimate:
    """The expected cost of a run.

    memory, disk: bytes.
    seconds: pilot and training together; None on a GPU.
    step: seconds of one training step of all runs.
    trial: seconds of one step of the pilot, with all its trials.
    look: seconds of one validation.
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
        """Return the seconds of pilot and training of a configuration with other epochs and `samples` to train on."""
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
                way = "not even one sample fits: use fewer modes, poles or channels, or a coarser grid"
            raise LfnoError(
                f"a step with batches of {self.batch} needs about {human(self.memory)} of memory and "
                f"{human(self.free_memory)} are free; {way}"
            )
        if self.disk > self.free_disk:
            raise LfnoError(f"the run needs about {human(self.disk)} on disk and {human(self.free_disk)} are free")


def estimate(tasks: Sequence[Task], config: TrainingConfig, device: torch.device | str, folder: Path | None) -> Estimate:
    """Estimate the cost of a run by measuring steps with batches of one and of a few samples.

    No step is tried that the memory cannot hold.
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
    result = Estimate(memory, disk, None, int(free), 0 if folder is None else free_disk(folder), batch, largest)
    if device.type != "cpu" or memory > USABLE * free:
        return result
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
    """Return a lower bound on the bytes of one sample: four fields of the width of the network."""
    return 16 * task.model.config.width * math.prod(task.model.grid.shape)


def _memory(task: Task, config: TrainingConfig, size: int) -> int:
    """Return the bytes that a step of one run keeps for the backward pass."""
    kept: dict[int, Tensor] = {}  # holds references, so that no address is reused

    def keep(tensor: Tensor) -> Tensor:
        kept[tensor.untyped_storage().data_ptr()] = tensor
        return tensor

    with torch.autograd.graph.saved_tensors_hooks(keep, lambda tensor: tensor):
        _step(task, config, size, 1)()
    return sum(tensor.untyped_storage().nbytes() for tensor in kept.values())


def _seconds(task: Task, config: TrainingConfig, size: int, runs: int) -> tuple[float, float]:
    """Return the seconds of one step of a stack of `runs`, and of one validation, on this CPU.

    The first step is slower, because it allocates its buffers. The result is the median of the following steps.
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
    score = partial(sample_losses, config=replace(config, unscored=0))  # the trainer reports a wrong `unscored`
    theta = stack.theta.detach().requires_grad_()
    return lambda: torch.autograd.grad(stack.losses(theta, samples, score).sum(), theta)


def duration(seconds: float) -> str:
    """Return seconds in words: "45 s", "3.2 min", "2 h".

    >>> duration(200)
    '3.3 min'
    """
    for limit, unit, size in ((90, "s", 1), (5400, "min", 60), (172800, "h", 3600)):
        if seconds < limit:
            return f"{seconds / size:.2g} {unit}"
    return f"{seconds / 86400:.2g} days"
