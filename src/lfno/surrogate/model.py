"""The public model `Surrogate`. `lfno.load` and `lfno.fit` return a `Surrogate` for every kind of model."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from lfno.core.errors import LfnoError
from lfno.core.grid import Grid
from lfno.core.short import Short
from lfno.models.operator import Operator
from lfno.surrogate.deployment import Deployment
from lfno.surrogate.dynamics import Dynamics
from lfno.surrogate.notes import notes_on
from lfno.surrogate.passes import BLOCK, decompose_in_blocks, predict_in_blocks, runs_in_blocks
from lfno.surrogate.question import Question, read_question
from lfno.surrogate.running_mean import RunningMean
from lfno.surrogate.stitch import BATCH, Progress, predict_record
from lfno.surrogate.storage import read, write
from lfno.surrogate.sum import parts_of

if TYPE_CHECKING:
    from lfno.data.dataset import Dataset
    from lfno.data.signals.record import Record

Respond = Callable[[Any, np.ndarray, Grid], np.ndarray]  # (member, inputs, grid) → outputs
InBlocks = Callable[[Any, np.ndarray, Grid, Progress], np.ndarray]  # (member, inputs of any length, grid, progress) → outputs


def _silent(done: int, total: int) -> None:
    """The default progress function: do nothing."""


@dataclass(frozen=True, repr=False)
class Answer(Short):
    """A prediction with its spread and notes.

    values: the mean of the predictions of the members.
    spread: the standard deviation of these predictions, None for a single member.
    notes: warnings about the prediction, for example that the input is out of the range of the training inputs.
    """

    values: np.ndarray
    spread: np.ndarray | None
    notes: tuple[str, ...]


class Surrogate(Dynamics, Deployment):
    """A trained model that predicts in the user's units.

    A surrogate holds one network, an ensemble of networks with different seeds, a linear model of poles and residues, modes
    with feedback, or the equation of a field. Every kind has the same methods. `networks` gives the torch modules.

    >>> import lfno
    >>> model = lfno.load("duffing-c05")
    >>> model
    Surrogate(LFNO, 1 input → 1 output, 2048 points of 0.01 s)
    >>> model.predict(np.sin(3 * model.grid["t"].points)).shape
    (2048,)
    """

    def predict(
        self, data: Any, dt: float | None = None, grid: Grid | None = None, progress: Progress = _silent
    ) -> np.ndarray:
        """Return the outputs for the inputs in `data`.

        data: an array (time), (channels, time) or (samples, channels, *space, time); a Record; or a Dataset.
        dt: the time step of an array, by default the time step of the training data.
        grid: the grid of an array, instead of `dt`.
        progress: called as `progress(done, total)` for long data.

        The result has as many axes as `data`. It has one more axis if the model has several outputs and `data` has no axis of
        channels. Raises LfnoError if the data do not fit the model. Warns if the data differ from the training data, for
        example in amplitude or frequency.
        """
        answer = self.ask(data, dt, grid, progress)
        for note in answer.notes:
            warnings.warn(note, stacklevel=2)
        return answer.values

    def ask(self, data: Any, dt: float | None = None, grid: Grid | None = None, progress: Progress = _silent) -> Answer:
        """Return the prediction, the spread of the members, and notes. `predict` has the same arguments and describes them."""
        question = Question.of(data, self, dt, grid)
        told = self._answers(lambda member, x, grid: member.predict(x, grid), predict_in_blocks, question, progress)
        spread, index = told.spread, question.index
        return Answer(told.mean[index], None if spread is None else spread[index], tuple(notes_on(self, question)))

    def interval(
        self, data: Any, level: float = 0.9, everywhere: bool = True, dt: float | None = None, grid: Grid | None = None,
        warn: bool = True,
    ) -> tuple[np.ndarray, np.ndarray]:  # fmt: skip
        """Return lower and upper bounds of the outputs, each in the shape of the prediction.

        data, dt, grid: arguments of `predict`.
        level: the probability that a new trajectory, similar to the training data, lies between the bounds.
        everywhere: whether `level` is the probability for the whole trajectory or, if False, for each single point.
        warn: whether to warn about outputs without bounds (see `without_interval`). Their bounds are NaN.

        Each output channel has its own bounds, and the probability holds for each channel separately. The bounds are computed
        from the errors on test samples (see `lfno.evaluation.conformal`). If an input exceeds the range of the training data by
        a factor, the bounds are widened by this factor. Raises LfnoError if the model file holds no errors, or too few errors
        for this level.

        With a finite number of test samples, the true share of new trajectories between the bounds differs from `level`.
        `calibration.promise(level)` gives the range in which this share lies with a probability of 90 %.
        """
        if self.calibration is None:
            raise LfnoError("this model file holds no errors of test samples, so there is no interval; fit the model again")
        if warn and self.without_interval:
            warnings.warn(self.without_interval, stacklevel=2)
        question = Question.of(data, self, dt, grid)
        widths = self.calibration.half_width(level, everywhere)
        outside = self.coverage.excesses(question.inputs, question.grid) if self.coverage else []
        widths = widths * max([1.0, *(excess.times for excess in outside)])
        values = self.ask(data, dt, grid).values
        place = values.ndim - question.grid.ndim - 1  # index of the channel axis, if the prediction has one
        half = widths[0] if place < 0 or self.channels[1] == 1 else widths.reshape(-1, *[1] * question.grid.ndim)
        return values - half, values + half

    def decompose(
        self, data: Any, dt: float | None = None, grid: Grid | None = None, progress: Progress = _silent, warn: bool = True
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return (transient, steady): two parts whose sum is the prediction, each in the shape of the prediction.

        data, dt, grid, progress: arguments of `predict`.
        warn: whether to warn if the split is not physical (see `split_caveat`).

        The steady part is the response to the input repeated for ever. The transient part is the rest of the prediction. A
        network that is not `causal` predicts a long record window by window. Then each window has its own transient, because
        each window starts from rest.
        """
        if warn and self.split_caveat:
            warnings.warn(self.split_caveat, stacklevel=2)
        question = Question.of(data, self, dt, grid)

        def both(split: tuple[np.ndarray, np.ndarray]) -> np.ndarray:
            """Return both parts as channels of one array."""
            return np.concatenate(split, 1)

        told = self._answers(
            lambda member, x, grid: both(member.decompose(x, grid)),
            lambda member, x, grid, show: both(decompose_in_blocks(member, x, grid, show)),
            question,
            progress,
        )
        transient, steady = np.split(told.mean, 2, axis=1)
        return transient[question.index], steady[question.index]

    def read(self, file: str | PathLike[str], **reading: Any) -> tuple[Record | Dataset, bool]:
        """Read the inputs of a file for this model.

        file: the file.
        reading: options of `lfno.data.signals.read_signals`, such as `input="force"`.

        Returns the data, and whether the file also holds the outputs. Raises LfnoError for a file without the inputs, or with
        other units than the training data.
        """
        return read_question(self, Path(file), **reading)

    def _answers(self, respond: Respond, in_blocks: InBlocks, question: Question, progress: Progress) -> RunningMean:
        """Return mean and spread of the predictions of the members, (samples, outputs, *space, time).

        respond: predicts a batch of windows.
        in_blocks: predicts signals of any length, for the members that have a state (see `passes`).
        """
        told = RunningMean()
        for place, member in enumerate(self.members):

            def show(done: int, total: int, before: int = place) -> None:
                progress(before * total + done, len(self.members) * total)

            answers = [self._answer(part, respond, in_blocks, question, show) for part in parts_of(member)]
            told.add(answers[0] if len(answers) == 1 else np.sum(answers, axis=0))
        return told

    def _answer(
        self, part: Any, respond: Respond, in_blocks: InBlocks, question: Question, show: Progress
    ) -> np.ndarray:
        """Return the prediction of a member, or of one summand of a member, (samples, outputs, *space, time)."""
        causal = runs_in_blocks(part, question.grid)
        if causal and question.inputs.shape[-1] > BLOCK:
            return in_blocks(part, question.inputs, question.grid, show)
        if question.record and isinstance(part, Operator) and not causal:
            warmup = self.signals.warmup
            answer = predict_record(partial(respond, part), question.inputs[0], question.grid, self.grid, warmup, show)
            return answer[None]
        count, batches = len(question.inputs), []
        for first in range(0, count, BATCH):
            show(first, count)
            batches.append(respond(part, np.array(question.inputs[first : first + BATCH]), question.grid))
        show(count, count)
        return batches[0] if len(batches) == 1 else np.concatenate(batches)

    # -- files ---------------------------------------------------------------------------------------------------

    def save(self, path: str | PathLike[str]) -> Path:
        """Write the model to one safetensors file and return its path. `lfno.load` reads it.

        If the split into transient and steady is not physical, the file stores the reason.
        """
        caveat = {"split_caveat": self.split_caveat} if self.split_caveat else {}
        return write(self.members, self.provenance | caveat, Path(path))


def load(path: str | PathLike[str], device: Any = "cpu") -> Surrogate:
    """Load a model.

    path: a model file, the folder of a run, or the name of a data set with a shipped model.
    device: where networks compute, "cpu" or "cuda".

    A model file holds tensors and JSON only; nothing is unpickled. Raises LfnoError if there is no such model, or if its file
    is damaged.

    >>> import lfno
    >>> lfno.load("heat").channels
    (1, 1)
    """
    return Surrogate(read(path, device))
