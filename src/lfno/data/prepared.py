"""Data that are ready for training: samples with a split, and the records that contain the samples."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from lfno.core.errors import LfnoError
from lfno.data import stretches
from lfno.data.dataset import Dataset
from lfno.data.signals.record import Record
from lfno.data.split import Split
from lfno.data.stretches import PARTS, Span, Stretch


@dataclass(frozen=True, repr=False)
class Prepared:
    """Samples of equal length with their split, and the records that contain the samples.

    dataset: the samples.
    split: indices of the samples for training, validation and test.
    notes: one sentence for each change that was made to the data.
    warmup: length of the warm-up in time steps: a model receives these first steps of a window, but their outputs are not
        scored. 0 for whole trajectories and whole periods. If `record` is None, the mask of the data set is False in the
        warm-up.
    records: the records that the windows were cut from, or the averaged periods and the transients before them; empty for
        whole trajectories.
    spans: ranges of the records, each with its part of the split.
    noise_floor: (outputs,) RMS of the measurement noise, in the unit of the output; None if no record has two settled periods.
    memory: length of the memory of the system in time steps; 0 if the memory is not known. If the record is too short for a
        warm-up of this length, `warmup` is shorter.
    """

    dataset: Dataset
    split: Split
    notes: list[str]
    warmup: int = 0
    records: tuple[Record, ...] = ()
    spans: tuple[Span, ...] = ()
    noise_floor: np.ndarray | None = None
    memory: int = 0

    def __repr__(self) -> str:
        return f"Prepared({self.dataset!r}, {self.split!r})"

    @property
    def record(self) -> Record | None:
        """The record that contains training and validation.

        None for whole trajectories, for whole periods, if there are several such records, or if the test is not one span.
        """
        known = [span.record for span in self.spans if span.part != "test"]
        return self.records[known[0]] if stretches.single_record(self.spans) else None

    @property
    def test(self) -> Record | None:
        """The test part as one record; None if `record` is None."""
        span = self._tested()
        return None if span is None else self.records[span.record].part(span.start, span.stop)

    @property
    def stretch(self) -> tuple[int, int] | None:
        """(start, stop): the test is the samples `start` … `stop` − 1 of `record`.

        None if the test is in another record, or if `record` is None.
        """
        span = self._tested()
        return None if span is None or self.records[span.record] is not self.record else (span.start, span.stop)

    def _tested(self) -> Span | None:
        """Return the test span; None if `record` is None."""
        return None if self.record is None else next(span for span in self.spans if span.part == "test")

    def stretches(self, part: str) -> list[Stretch]:
        """Return the uninterrupted pieces of the records in one part of the split.

        part: "train", "validation" or "test". Raises LfnoError for another word.
        Stretches of training and validation never overlap with stretches of the test.

        >>> from lfno.core.grid import Grid
        >>> values = np.random.default_rng(0).normal(size=(10, 1, 50))
        >>> samples = Dataset(values, values.cumsum(-1), Grid.line(50, 0.1))
        >>> prepared = Prepared(samples, Split(np.arange(7), np.array([7]), np.array([8, 9])), [])
        >>> prepared.stretches("test")[0]
        Stretch(trajectory 9: 1 input, 1 output, 50 samples, start rest)
        """
        if part not in PARTS:
            raise LfnoError(f"the split has no part {part!r}; its parts are {', '.join(PARTS)}")
        if not self.spans:
            return stretches.of_samples(self.dataset, getattr(self.split, part))
        return stretches.of_records(self.records, self.spans, part)
