"""The training loop. It trains one run or a stack of runs, on a CPU, on a GPU or in several processes.

A stack is a set of runs whose models and samples have equal shapes; the runs are computed together.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np
import torch
from torch import Tensor

from lfno.core.errors import LfnoError
from lfno.core.short import Short
from lfno.models.operator import Operator
from lfno.training import parallel
from lfno.training.adam import Adam
from lfno.training.config import HELD, TrainingConfig
from lfno.training.graph import replayable
from lfno.training.labels import sample_losses
from lfno.training.stack import Stack
from lfno.training.task import Task, check_tasks

BACK_OFF = 0.3  # factor of the learning rate when a run whose loss is not finite returns to its last good state
RETREATS = 3  # largest number of returns to a good state; a run that needs more returns has failed


@dataclass(repr=False)
class History(Short):
    """The values at each validation so far. Each list has one entry for each validation.

    epoch: the number of finished epochs.
    rate: the learning rate.
    seconds: the time since the beginning of the training, without interruptions.
    train, validation: the losses, one for each run of the stack.
    """

    epoch: list[int] = field(default_factory=list)
    rate: list[float] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)
    train: list[list[float]] = field(default_factory=list)
    validation: list[list[float]] = field(default_factory=list)


#: a function watch(trainer, record) that is called at every validation
Watcher = Callable[["Trainer", dict[str, Any]], None]


class Trainer:
    """Trains the tasks of a stack together. `run` trains, and `models` returns the models with their best parameters.

    tasks: models and samples of equal shapes, one task for each run.
    config: the options of training, which are the same for all runs.
    device: the device that computes.

    Raises LfnoError for tasks that cannot be trained as one stack.
    """

    def __init__(self, tasks: Sequence[Task], config: TrainingConfig, device: str | torch.device = "cpu") -> None:
        check_tasks(tasks)
        self.tasks, self.config, self.device = tasks, config, torch.device(device)
        self.stack = Stack([task.model for task in tasks], self.device)
        self.train, self.validation = self._load("train"), self._load("validation")
        if config.unscored >= (steps := self.train["x"].shape[-1]):
            raise LfnoError(f"unscored={config.unscored} leaves no time steps for the loss: a sample has {steps} time steps")
        self.score = partial(sample_losses, config=config)
        self.adam = Adam.start(self.stack.theta)
        strengths = [config.steady_decay if task.steady_decay is None else task.steady_decay for task in tasks]
        steady = [torch.inf if strength == HELD else strength or 0.0 for strength in strengths]
        self.decay = self.stack.decay(config.weight_decay, steady)
        runs, samples = len(tasks), len(tasks[0].train)
        self.order = torch.zeros(runs, samples, dtype=torch.int64, device=self.device)
        self.rate = torch.zeros(runs, 1, device=self.device)
        zeros = torch.zeros(runs, dtype=torch.float64, device=self.device)
        self.train_loss = zeros.clone()
        self.validation_loss = zeros + torch.inf
        self.best_loss = zeros + torch.inf
        self.best_theta = self.adam.theta.clone()
        self.best_epoch = zeros.clone()
        # state of the optimiser at the last validation with finite losses, for each run
        self.good = {name: tensor.clone() for name, tensor in self.adam.tensors().items()}
        self.scale = zeros + 1  # factor of the learning rate, smaller after each return to a good state
        self.retreats = zeros.clone()
        self.stopped = zeros.clone()  # 0 running, 1 stopped early, 2 failed
        self.epoch = 0
        self.seconds = 0.0
        self.history = History()
        self._steps: dict[int, tuple[Tensor, Callable[[], None]]] = {}  # batch size → (sample indices, step)

    def _load(self, role: str) -> dict[str, Tensor]:
        """Return the samples of all tasks in single precision: name → tensor (runs, samples, …)."""
        samples = [getattr(task, role) for task in self.tasks]
        arrays = [one.arrays() for one in samples]
        if all(one is samples[0] for one in samples):  # all runs share the same data: store it once
            return {
                name: torch.as_tensor(np.asarray(values, np.float32), device=self.device).expand(len(samples), *values.shape)
                for name, values in arrays[0].items()
            }
        return {
            name: torch.as_tensor(np.stack([np.asarray(one[name], np.float32) for one in arrays]), device=self.device)
            for name in arrays[0]
        }

    # -- one epoch -----------------------------------------------------------------------------------------------

    def _pass(self) -> None:
        """Train on all batches of an epoch, in the order of `self.order`.

        `self._steps` holds one step for each batch size: a CUDA graph on a GPU, which is captured once.
        """
        self.train_loss.zero_()
        for index in self.order.split(self.config.batch, dim=1):
            size = index.shape[1]
            if size not in self._steps:
                batch, changed = index.clone(), [*self.adam.tensors().values(), self.train_loss]
                self._steps[size] = batch, replayable(partial(self._step, batch), changed, self.device)
            batch, step = self._steps[size]
            batch.copy_(index)
            step()

    def _step(self, index: Tensor) -> None:
        """Make one optimiser step on the samples `index` (runs, batch). All changes are in place."""
        rows = torch.arange(len(self.stack), device=self.device)[:, None]
        gradient, total = self._gradient(parallel.share(index), rows, index.shape[1])
        with torch.no_grad():
            parallel.add(gradient, total)
            self.train_loss += total * (index.shape[1] / self.order.shape[1])
            self.adam.step(gradient, self.rate, self.decay, self.config.clip)

    def _gradient(self, share: Tensor, rows: Tensor, size: int) -> tuple[Tensor, Tensor]:
        """Return (gradient, loss) of the part of a batch that this process computes; zero if this part is empty.

        share: (runs, samples of the part) indices of samples.
        rows: (runs, 1) indices of the runs.
        size: samples of the whole batch, of all processes together.
        """
        theta = self.adam.theta.detach().requires_grad_()
        if share.shape[1] == 0:
            return torch.zeros_like(self.adam.theta), self.adam.theta.new_zeros(len(self.stack))
        batch = {name: values[rows, share] for name, values in self.train.items()}
        losses = self.stack.losses(theta, batch, self.score)
        total = losses.sum(1) / size
        (gradient,) = torch.autograd.grad(total.sum(), theta)
        return gradient, total.detach()

    @torch.no_grad()
    def _validate(self) -> None:
        """Compute the mean loss of the validation samples of each run, in place."""
        total = torch.zeros_like(self.validation_loss)
        count = len(self.tasks[0].validation)
        for first in range(0, count, 256):
            part = {name: values[:, first : first + 256] for name, values in self.validation.items()}
            total += self.stack.losses(self.adam.theta, part, self.score).sum(1)
        self.validation_loss.copy_(total / count)

    def _shuffle(self) -> None:
        """Draw the order of the samples of each run.

        The order depends only on the seed of the run and on the epoch. A run therefore gives the same result if it is trained
        alone, trained in a stack, or resumed.
        """
        samples = self.order.shape[1]
        for row, task in enumerate(self.tasks):
            generator = np.random.Generator(np.random.PCG64([task.seed, self.epoch]))
            self.order[row].copy_(torch.from_numpy(generator.permutation(samples)))

    # -- the loop ------------------------------------------------------------------------------------------------

    def run(self, watch: Watcher | None = None) -> None:
        """Train until the last epoch, or until every run has stopped.

        watch: called as `watch(trainer, record)` at every validation. The record is a dictionary: `epoch`, `rate` (learning
            rate), `seconds`, and for each run the losses `train` and `validation`, `best` (the lowest validation loss
            so far) and `retreats` (how often the run returned to a good state).
        """
        start = time.monotonic() - self.seconds
        look = replayable(self._validate, [self.validation_loss], self.device)
        while self.epoch < self.config.epochs and bool((self.stopped == 0).any()):
            self._shuffle()
            rate = self.config.rate(self.epoch)
            self.rate.copy_(torch.where(self.stopped == 0, rate * self.scale, 0.0)[:, None])
            self._pass()
            self.epoch += 1
            if self.epoch % self.config.validate_every == 0 or self.epoch == self.config.epochs:
                look()
                self.seconds = time.monotonic() - start
                record = self._judge(rate)
                if watch is not None:
                    watch(self, record)

    def _judge(self, rate: float) -> dict[str, Any]:
        """Act on the losses of a validation, and return them as a record.

        The parameters of a run are kept if they are its best so far. A run whose loss is not finite returns to its last good
        state (the state at the last validation with finite losses). A run that has not improved for `patience` epochs stops.
        """
        finite = torch.isfinite(self.validation_loss) & torch.isfinite(self.train_loss)
        finite &= torch.isfinite(self.adam.theta).all(1)
        going = self.stopped == 0
        better = going & finite & (self.validation_loss < self.best_loss)
        self.best_loss.copy_(torch.where(better, self.validation_loss, self.best_loss))
        self.best_epoch.copy_(torch.where(better, float(self.epoch), self.best_epoch))
        self.best_theta.copy_(torch.where(better[:, None], self.adam.theta, self.best_theta))
        lost = going & ~finite
        for name, tensor in self.adam.tensors().items():
            if name != "count":
                tensor.copy_(torch.where(lost[:, None], self.good[name], tensor))
                self.good[name].copy_(tensor)
        self.scale.copy_(torch.where(lost, self.scale * BACK_OFF, self.scale))
        self.retreats += lost
        self.stopped.copy_(torch.where(lost & (self.retreats > RETREATS), 2.0, self.stopped))
        if self.config.patience:
            idle = (self.stopped == 0) & (self.epoch - self.best_epoch >= self.config.patience)
            self.stopped.copy_(torch.where(idle, 1.0, self.stopped))
        train, validation = self.train_loss.tolist(), self.validation_loss.tolist()
        self.history.epoch.append(self.epoch)
        self.history.rate.append(rate)
        self.history.seconds.append(self.seconds)
        self.history.train.append(train)
        self.history.validation.append(validation)
        return {
            "epoch": self.epoch,
            "rate": rate,
            "seconds": self.seconds,
            "train": train,
            "validation": validation,
            "best": self.best_loss.tolist(),
            "retreats": self.retreats.tolist(),
        }

    def failed(self) -> list[str]:
        """Return an error message for each run that has failed or has ended without a model."""
        sentences = []
        for task, state, best in zip(self.tasks, self.stopped.tolist(), self.best_loss.tolist(), strict=True):
            advice = f"check the data, or try a smaller learning rate than {self.config.learning_rate:g}"
            if state == 2:
                times = f"not finite {RETREATS + 1} times, although the learning rate was reduced each time"
                sentences.append(f"{task.name}: the loss was {times}; {advice}")
            elif not math.isfinite(best) and (state or self.epoch >= self.config.epochs):
                sentences.append(f"{task.name}: the loss was never finite, so there is no model; {advice}")
        return sentences

    def models(self) -> list[Operator]:
        """Return the models with their best parameters."""
        self.stack.write(self.best_theta, [task.model for task in self.tasks])
        return [task.model.eval() for task in self.tasks]

    @torch.no_grad()
    def predict(self, x: np.ndarray) -> np.ndarray:
        """Return the predictions of all runs with their best parameters, (runs, samples, outputs, *grid).

        x: inputs of each run, (runs, samples, inputs, *grid).

        The predictions of a run whose loss was never finite are NaN.
        """
        parts = torch.as_tensor(np.asarray(x, dtype=np.float32)).split(self.config.batch, dim=1)
        answers = torch.cat([self.stack.respond(self.best_theta, part.to(self.device)).cpu() for part in parts], 1)
        answers[~torch.isfinite(self.best_loss).cpu()] = torch.nan
        return answers.numpy()
