"""`Compared`: the signals of the test data beside their predictions, cut to the values that are scored, with their times."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from lfno.core.grid import Axis

if TYPE_CHECKING:
    from lfno.data.prepared import Prepared
    from lfno.surrogate import Surrogate
    from lfno.surrogate.contest import Contest


@dataclass(frozen=True)
class Compared:
    """The measured and predicted signals of the test data. All arrays are (samples, channels, time).

    label: the name of the model.
    axis: the time axis of the first sample.
    truth: the measured outputs.
    prediction: the prediction of the model.
    linear: the prediction of the linear model that serves as a baseline.
    outputs: the labels of the output channels.
    mask: True where an output is scored; None if all values are scored. Values that were not measured, and the outputs of a
        warm-up, are not scored.
    spread: the standard deviation of the predictions of an ensemble; None for a single model.
    inputs: the inputs; None if no figure shows them.
    starts: the time of the first value of each sample; by default, each sample begins at the origin of `axis`.
    runs: the index of the run of each sample, counted from 0; empty for the only run.
    """

    label: str
    axis: Axis
    truth: np.ndarray
    prediction: np.ndarray
    linear: np.ndarray
    outputs: Sequence[str]
    mask: np.ndarray | None = None
    spread: np.ndarray | None = None
    inputs: np.ndarray | None = None
    starts: Sequence[float] = ()
    runs: Sequence[int] = ()

    @property
    def measured(self) -> np.ndarray:
        """The outputs, with NaN for values that are not scored."""
        return self.truth if self.mask is None else np.where(self.mask, self.truth, np.nan)

    def times(self, sample: int, steps: slice = slice(None)) -> np.ndarray:
        """Return the times of a sample in the unit of the time axis: the times in the file."""
        start = self.starts[sample] if len(self.starts) else self.axis.origin
        return (start + self.axis.step * np.arange(self.truth.shape[-1]))[steps]

    def scored(self, sample: int) -> slice:
        """Return the steps of a sample from the first to the last scored value. The slice is empty if no value is scored."""
        known = np.ones(1, bool) if self.mask is None else self.mask[sample].any(0)
        if known.all():
            return slice(0, self.truth.shape[-1])
        places = np.flatnonzero(known)
        return slice(int(places[0]), int(places[-1]) + 1) if len(places) else slice(0, 0)

    def complete(self) -> Compared:
        """Return the part of the test data for spectra: equally long samples in which every value is scored.

        Each sample proposes its longest stretch of scored values. The chosen stretch has the most values, counted over all
        samples that are complete within it.

        >>> signal, known = np.zeros((2, 1, 6)), np.array([[[0, 1, 1, 1, 1, 1]], [[0, 1, 1, 0, 1, 1]]], dtype=bool)
        >>> Compared("LFNO", Axis("t", 6, 0.1), signal, signal, signal, ["x"], known).complete().truth.shape
        (1, 1, 5)
        """
        if self.mask is None:
            return self
        known = np.asarray(self.mask.all(axis=1))
        spans = {_longest(row) for row in known}
        start, stop = max(spans, key=lambda span: (span[1] - span[0]) * known[:, slice(*span)].all(1).sum())
        samples = np.flatnonzero(known[:, start:stop].all(1)) if stop > start else np.zeros(0, int)
        return self._part(samples, slice(start, stop))

    def _part(self, samples: np.ndarray, steps: slice) -> Compared:
        """Return some samples, cut to a range of steps in which every value is scored."""

        def cut(values: np.ndarray) -> np.ndarray:
            return values[samples][..., steps]

        return replace(
            self, truth=cut(self.truth), prediction=cut(self.prediction), linear=cut(self.linear), mask=None,
            spread=None if self.spread is None else cut(self.spread), inputs=None if self.inputs is None else cut(self.inputs),
            starts=[float(self.times(k)[steps][0]) for k in samples], runs=[self.runs[k] for k in samples if len(self.runs)],
        )  # fmt: skip


def _longest(known: np.ndarray) -> tuple[int, int]:
    """Return (start, stop) of the longest run of True; (0, 0) if there is none.

    >>> _longest(np.array([True, False, True, True]))
    (2, 4)
    """
    edges = np.flatnonzero(np.diff(np.concatenate([[0], known.astype(int), [0]])))
    runs = edges.reshape(-1, 2)
    if not len(runs):
        return 0, 0
    start, stop = runs[np.argmax(runs[:, 1] - runs[:, 0])]
    return int(start), int(stop)


def signals_of_test(model: Surrogate, contest: Contest, label: str) -> Compared:
    """Return the signals of the test data with the times of the file.

    model: a fitted model of signals; its `fitted.prepared` holds the test data.
    label: the name of the model in the legends.
    """
    assert model.fitted is not None
    axis, starts, runs = _clock(model.fitted.prepared, len(contest.truth))
    return Compared(
        label, axis, contest.truth, contest.prediction, contest.linear, contest.outputs, contest.mask, contest.spread,
        contest.inputs, starts, runs,
    )  # fmt: skip


def _clock(prepared: Prepared, samples: int) -> tuple[Axis, list[float], list[int]]:
    """Return the time axis of the test samples, the time of the first value of each sample, and the index of its run."""
    axis, rows, parameters = prepared.dataset.grid.axes[-1], prepared.split.test[:samples], prepared.dataset.parameters
    if prepared.test is not None:  # the scored part of one record begins after the warm-up
        start = prepared.test.grid.axes[-1].origin + prepared.warmup * axis.step
        return replace(axis, origin=start), [start], []
    if prepared.records and "start" in parameters:  # windows of records
        numbers, firsts = (parameters[name][rows].astype(int) for name in ("record", "start"))
        begins = [prepared.records[number].grid.axes[-1].origin for number in numbers]
        starts = [begin + first * axis.step for begin, first in zip(begins, firsts, strict=True)]
        return axis, starts, [int(number) for number in numbers]
    return axis, [axis.origin] * len(rows), [int(row) for row in rows]
