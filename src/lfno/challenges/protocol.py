"""The protocol of a benchmark: training records, questions for the test, and the figures of merit.

A figure of merit, in short "figure", is a root mean square error that the benchmark defines.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np

from lfno.core.errors import LfnoError
from lfno.core.short import Short

#: part of each training record that is held out to choose between models, for records that are not periodic
HELD_OUT = 0.2
#: a residual counts as white noise if its autocorrelations, relative to its power, do not exceed this value
WHITE = 0.1


@dataclass(frozen=True, repr=False)
class Question(Short):
    """The part of a test record that a model may see.

    inputs: all inputs, (channels, time).
    first_outputs: the first `skip` outputs, (channels, skip), from which a model may estimate the initial state.
    period: the period in samples of a record in periodic steady state; 0 for any other record.
    rest: whether the system was at rest before the first sample.
    """

    inputs: np.ndarray
    first_outputs: np.ndarray
    period: int = 0
    rest: bool = False


@dataclass(frozen=True, repr=False)
class Record(Short):
    """One measured record.

    figure: name of the figure of merit that the record belongs to; for training records also the name of the input level.
    inputs: (channels, time).
    outputs: (channels, time).
    period: the period in samples of a record in periodic steady state; 0 for any other record.
    rest: whether the system was at rest before the first sample.
    """

    figure: str
    inputs: np.ndarray
    outputs: np.ndarray
    period: int = 0
    rest: bool = False

    def __len__(self) -> int:
        return self.inputs.shape[-1]

    def question(self, skip: int) -> Question:
        """Return the part of the record that a model may see. The first outputs are a copy, which hides the other outputs."""
        return Question(self.inputs, self.outputs[:, :skip].copy(), self.period, self.rest)

    def cut(self, start: int, stop: int) -> Record:
        """Return the samples start … stop − 1 as a record. A record with `start` > 0 does not begin at rest."""
        part = np.s_[:, start:stop]
        return replace(self, inputs=self.inputs[part], outputs=self.outputs[part], rest=self.rest and start == 0)

    def averaged(self) -> Record:
        """Return the mean period of a periodic record."""
        shape = (-1, len(self) // self.period, self.period)
        inputs, outputs = (values.reshape(shape).mean(1) for values in (self.inputs, self.outputs))
        return replace(self, inputs=inputs, outputs=outputs)


@dataclass(frozen=True, repr=False)
class Training(Short):
    """The training records and the protocol. The choice of a model may depend on nothing else.

    records: the training records.
    step: the sampling interval in seconds.
    skip: number of first outputs of a test record that a model may use for the initial state. These outputs are not scored.
    scale: factor from the unit of the data to the unit of the figures.
    """

    records: tuple[Record, ...]
    step: float
    skip: int
    scale: float = 1.0

    @property
    def channels(self) -> tuple[int, int]:
        """Return the number of inputs and the number of outputs."""
        return len(self.records[0].inputs), len(self.records[0].outputs)

    @property
    def periodic(self) -> bool:
        """Return whether all training records are in periodic steady state."""
        return all(record.period for record in self.records)

    def split(self) -> tuple[Training, Training]:
        """Return two parts: the data for the fit, and the held-out data for the choice of a model.

        If all records are periodic, every sixth record of each figure is held out. Otherwise the last fifth of every record
        is held out.
        """
        if not self.periodic:
            cuts = [round((1 - HELD_OUT) * len(record)) for record in self.records]
            kept = [record.cut(0, cut) for record, cut in zip(self.records, cuts, strict=True)]
            held = [record.cut(cut, len(record)) for record, cut in zip(self.records, cuts, strict=True)]
            return replace(self, records=tuple(kept)), replace(self, records=tuple(held))
        kept, held = [], []
        for figure in dict.fromkeys(record.figure for record in self.records):
            group = [record for record in self.records if record.figure == figure]
            if len(group) < 2:
                raise LfnoError(f"there is one training realisation of {figure!r}; two are needed to hold one out")
            chosen = range(min(3, len(group) - 1), len(group), 6)
            held += [record for k, record in enumerate(group) if k in chosen]
            kept += [record for k, record in enumerate(group) if k not in chosen]
        return replace(self, records=tuple(kept)), replace(self, records=tuple(held))


class Model(Protocol):
    """A fitted model. `simulate` returns the predicted outputs (channels, time) for one question."""

    @property
    def description(self) -> str: ...

    def simulate(self, question: Question) -> np.ndarray: ...


def figures(model: Model, records: Sequence[Record], skip: int, scale: float) -> dict[str, float]:
    """Return the figures of merit by name, in the unit of the benchmark.

    The root mean square error of each record and each output is computed without the first `skip` samples. A figure is the mean
    of these errors over all records and outputs that belong to the figure.

    scale: factor from the unit of the data to the unit of the figures.

    >>> class Zero:
    ...     description = "nothing"
    ...     def simulate(self, question): return 0 * question.inputs
    >>> record = Record("test", np.ones((1, 9)), np.r_[9.0, 9.0, np.full(7, 2.0)][None])
    >>> figures(Zero(), [record], skip=2, scale=1e3)
    {'test': 2000.0}
    """
    errors: dict[str, list[float]] = {}
    for record in records:
        with np.errstate(over="ignore", invalid="ignore"):  # a model may diverge
            answer = np.asarray(model.simulate(record.question(skip)), dtype=np.float64)
        if answer.shape != record.outputs.shape:
            raise LfnoError(f"the prediction has shape {answer.shape}; the outputs of the record have {record.outputs.shape}")
        missed = answer[:, skip:] - record.outputs[:, skip:]
        with np.errstate(over="ignore", invalid="ignore"):
            errors.setdefault(record.figure, []).extend(np.sqrt((missed**2).mean(-1)).tolist())
    return {name: scale * float(np.mean(values)) for name, values in errors.items()}


@np.errstate(over="ignore", invalid="ignore")  # a model may diverge
def is_white(model: Model, records: Sequence[Record], skip: int) -> bool:
    """Return whether the residual of a model is white noise: small autocorrelations at lags of 1, 2 and 3 samples."""
    power, products = 0.0, np.zeros(3)
    for record in records:
        missed = (np.asarray(model.simulate(record.question(skip))) - record.outputs)[:, skip:]
        missed = missed / np.maximum(record.outputs.std(-1, keepdims=True), 1e-300)
        power += float((missed**2).sum())
        products += [(missed[:, lag:] * missed[:, :-lag]).sum() for lag in (1, 2, 3)]
    return bool(np.isfinite(power) and (np.abs(products) <= WHITE * power).all())
