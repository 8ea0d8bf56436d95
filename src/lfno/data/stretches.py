"""Stretches: uninterrupted pieces of a record, for models that need no windows of equal length."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from lfno.core.errors import LfnoError
from lfno.data.dataset import MOVING_RUNS, Dataset, measured_length
from lfno.data.signals.record import Record

# states of the system at the first sample of a stretch
REST = "rest"  # every output is at its equilibrium, and the input was zero before
UNKNOWN = "unknown"  # the system may be in motion: a model needs an estimate of the initial state, or a warm-up
PERIODIC = "periodic"  # the stretch is one period of a steady state: after its last sample, its first sample follows again
STARTS = (REST, UNKNOWN, PERIODIC)

#: key in the provenance of a data set whose samples are whole periods; its value is "periodic". Other data sets lack the key
SAMPLE_START = "start"

#: the three parts of a split
PARTS = ("train", "validation", "test")


@dataclass(frozen=True, eq=False, repr=False)
class Stretch:
    """One uninterrupted piece of a record. The values are not scaled: they have the units of the user.

    inputs, outputs: arrays (channels, *space, time) with the same number of samples in time.
    mask: shape of the outputs, True where an output was measured; None if every output was measured.
    start: the state of the system at the first sample: "rest", "unknown" or "periodic".
    name: the origin of the stretch, for messages and plots.

    Raises LfnoError if the lengths differ or `start` is another word.

    >>> stretch = Stretch(np.zeros((1, 100)), np.zeros((2, 100)), start="rest", name="run 1")
    >>> len(stretch), stretch
    (100, Stretch(run 1: 1 input, 2 outputs, 100 samples, start rest))
    """

    inputs: np.ndarray
    outputs: np.ndarray
    mask: np.ndarray | None = None
    start: str = UNKNOWN
    name: str = ""

    def __post_init__(self) -> None:
        if self.inputs.shape[-1] != self.outputs.shape[-1]:
            raise LfnoError(
                f"a stretch has {self.inputs.shape[-1]} samples of the input and {self.outputs.shape[-1]} of the output: the "
                "numbers must be equal"
            )
        if self.mask is not None and self.mask.shape != self.outputs.shape:
            raise LfnoError(f"the mask has shape {self.mask.shape} and the outputs {self.outputs.shape}: they must be equal")
        if self.start not in STARTS:
            raise LfnoError(f"the start of a stretch is {self.start!r}; it must be one of {', '.join(STARTS)}")

    def __len__(self) -> int:
        """The number of samples in time."""
        return int(self.inputs.shape[-1])

    def __repr__(self) -> str:
        sides = ((len(self.inputs), "input"), (len(self.outputs), "output"))
        counts = ", ".join(f"{count} {word}{'' if count == 1 else 's'}" for count, word in sides)
        return f"Stretch({self.name or 'unnamed'}: {counts}, {len(self)} samples, start {self.start})"


@dataclass(frozen=True)
class Span:
    """A range of samples of a record that belongs to one part of the split.

    part: "train", "validation" or "test".
    start, stop: the samples `start` … `stop` − 1 of the record.
    state: the state of the system at `start`: "rest", "unknown" or "periodic".
    record: the index of the record.

    >>> Span("test", 800, 1000).stop
    1000
    """

    part: str
    start: int
    stop: int
    state: str = UNKNOWN
    record: int = 0


def of_records(records: Sequence[Record], spans: Iterable[Span], part: str) -> list[Stretch]:
    """Return the stretches of one part of the split.

    records: the records of the experiment.
    spans: ranges of the records, each with its part of the split.
    part: "train", "validation" or "test".

    The arrays of a stretch are views of the arrays of its record. The end of a stretch after its last measured output is
    removed, unless the stretch is one period.
    """
    found = []
    for span in spans:
        if span.part != part:
            continue
        record = records[span.record]
        mask = None if record.mask is None else record.mask[..., span.start : span.stop]
        size = span.stop - span.start if span.state == PERIODIC else measured_length(mask, span.stop - span.start)
        where = np.s_[..., span.start : span.start + size]
        mask = None if mask is None or mask[..., :size].all() else mask[..., :size]
        name = f"{record.provenance.get('name', 'record')}, samples {span.start} to {span.start + size}"
        found.append(Stretch(record.inputs[where], record.outputs[where], mask, span.state, name))
    return found


def of_samples(dataset: Dataset, indices: np.ndarray) -> list[Stretch]:
    """Return the samples `indices` of a data set as stretches.

    Whole periods have the state "periodic", and windows of a record the state "unknown". Trajectories have the state "rest",
    except the trajectories that the provenance lists under MOVING_RUNS. The end of a stretch after its last measured output is
    removed, unless the stretch is one period.
    """
    if dataset.provenance.get(SAMPLE_START) == PERIODIC:
        masks = (None if dataset.mask is None else dataset.mask[k] for k in indices)
        return [Stretch(dataset.inputs[k], dataset.outputs[k], mask, PERIODIC, f"period {k + 1}")
                for k, mask in zip(indices.tolist(), masks, strict=True)]  # fmt: skip
    windows, moving = "length" in dataset.provenance, set(dataset.provenance.get(MOVING_RUNS, ()))
    found = []
    for k in indices.tolist():
        mask = None if dataset.mask is None else dataset.mask[k]
        size = measured_length(mask, dataset.inputs.shape[-1])
        mask = None if mask is None or mask[..., :size].all() else mask[..., :size]
        state = UNKNOWN if windows or k in moving else REST
        found.append(Stretch(dataset.inputs[k][..., :size], dataset.outputs[k][..., :size], mask, state, f"trajectory {k + 1}"))
    return found


def single_record(spans: Sequence[Span]) -> bool:
    """Return whether training and validation are in one record, and the test is a single span that is not a period."""
    tests = [span for span in spans if span.part == "test"]
    return len({span.record for span in spans if span.part != "test"}) == len(tests) == 1 and tests[0].state != PERIODIC
