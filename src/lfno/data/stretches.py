"""Uninterrupted pieces of measurement, for models that need no windows of equal length."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from lfno.core.errors import LfnoError
from lfno.data.dataset import Dataset
from lfno.data.signals.record import Record

#: the state of the system at the first sample of a stretch
REST = "rest"  # every output is at its equilibrium, and the input was zero before
UNKNOWN = "unknown"  # the system moves already; a model must estimate its initial state, or warm up
PERIODIC = "periodic"  # the stretch is one period of a steady state: the last sample is followed by the first
STARTS = (REST, UNKNOWN, PERIODIC)

#: the three parts of a split
PARTS = ("train", "validation", "test")


@dataclass(frozen=True, eq=False, repr=False)
class Stretch:
    """One uninterrupted piece of measurement in the user's units.

    inputs, outputs: arrays (channels, *space, time) with the same number of samples in time.
    mask: True where an output was measured, in the shape of the outputs; None if all of them were.
    start: the state at the first sample: "rest", "unknown" or "periodic".
    name: where the stretch comes from, for messages and figures.

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
            raise LfnoError(f"a stretch has {self.inputs.shape[-1]} samples of input and {self.outputs.shape[-1]} of output")
        if self.mask is not None and self.mask.shape != self.outputs.shape:
            raise LfnoError(f"the mask has shape {self.mask.shape} and the outputs {self.outputs.shape}: they must be equal")
        if self.start not in STARTS:
            raise LfnoError(f"a stretch cannot start {self.start!r}; the words are {', '.join(STARTS)}")

    def __len__(self) -> int:
        """The number of samples in time."""
        return int(self.inputs.shape[-1])

    def __repr__(self) -> str:
        sides = ((len(self.inputs), "input"), (len(self.outputs), "output"))
        counts = ", ".join(f"{count} {word}{'' if count == 1 else 's'}" for count, word in sides)
        return f"Stretch({self.name or 'unnamed'}: {counts}, {len(self)} samples, start {self.start})"


@dataclass(frozen=True)
class Span:
    """Samples `start` to `stop` (not included) of the record with number `record`, which belong to one part of the split.

    state: the state of the system at `start`, as in `Stretch.start`.

    >>> Span("test", 800, 1000).stop
    1000
    """

    part: str
    start: int
    stop: int
    state: str = UNKNOWN
    record: int = 0


def of_records(records: Sequence[Record], spans: Iterable[Span], part: str) -> list[Stretch]:
    """Return the stretches of one part of the split; the arrays are views of those of the records."""
    return [
        Stretch(
            records[span.record].inputs[..., span.start : span.stop],
            records[span.record].outputs[..., span.start : span.stop],
            _cut(records[span.record].mask, span),
            span.state,
            _name(records, span),
        )
        for span in spans
        if span.part == part
    ]


def of_samples(dataset: Dataset, indices: np.ndarray) -> list[Stretch]:
    """Return the samples `indices` of a data set. Whole trajectories start at rest; windows of a record do not."""
    state = UNKNOWN if "length" in dataset.provenance else REST
    masks = dataset.mask
    return [
        Stretch(dataset.inputs[k], dataset.outputs[k], None if masks is None else masks[k], state, f"trajectory {k + 1}")
        for k in indices.tolist()
    ]


def _cut(mask: np.ndarray | None, span: Span) -> np.ndarray | None:
    piece = None if mask is None else mask[..., span.start : span.stop]
    return None if piece is None or piece.all() else piece


def _name(records: Sequence[Record], span: Span) -> str:
    own = str(records[span.record].provenance.get("name", "record"))
    return f"{own}, samples {span.start} to {span.stop}"
