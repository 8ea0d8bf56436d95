"""Compare the transient part and the steady part of a model with a measured record whose input repeats.

Such a record shows both parts. A late period is the steady part. The first period minus a late period is the transient part.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from lfno.core.grid import Grid
from lfno.core.short import Short
from lfno.data.dataset import INPUT_GAPS
from lfno.data.periods import average, find_period
from lfno.data.signals.record import Record

AT_REST = 0.1  # share of the RMS of the first period: at rest, the first two samples of every output are smaller


class Decomposes(Protocol):
    """A model with `decompose(inputs, grid=…)` → (transient, steady)."""

    def decompose(self, inputs: Any, /, *, grid: Grid) -> tuple[np.ndarray, np.ndarray]: ...


@dataclass(frozen=True, repr=False)
class MeasuredSplit(Short):
    """Errors of the two parts of a model on a record.

    The error of one output is an RMS over a period, divided by the RMS of the first period or of the steady part, whichever is
    larger. For several outputs, it is the root mean square of their errors. A period is settled if the outputs repeat.

    steady: the error of the steady part, compared with the average of the settled periods.
    transient: the error of the transient part, compared with the first period minus the steady part. None if the record does
        not start at rest, if the first period is settled and so shows no transient, or if the first period has gaps.
    noise: the error of the average of the settled periods due to measurement noise; None if only one period is settled.
    periods: the number of settled periods.
    """

    steady: float
    transient: float | None
    noise: float | None
    periods: int


def measure_split(model: Decomposes, record: Record, from_rest: bool = False) -> MeasuredSplit | None:
    """Return the errors of the transient part and of the steady part of a model.

    The result is None if the inputs or the outputs do not repeat, and for a record of a field.

    record: a record whose input repeats.
    from_rest: whether the system was at rest before the record. If False, the function tests this: the system was at rest if
        the first two samples of every output are smaller than AT_REST times the RMS of its first period.
    """
    if record.grid.ndim > 1:
        return None
    period = find_period(record.inputs, record.provenance.get(INPUT_GAPS, []))
    if period is None:
        return None
    found = average(record, period, from_rest)
    if found is None:
        return None
    truth, grid = found.mean.outputs, found.mean.grid
    steady = np.asarray(model.decompose(np.array(found.mean.inputs[None]), grid=grid)[1])[0]
    first = record.outputs[:, :period]
    larger = np.maximum(_rms(truth), _rms(first))
    still = from_rest or bool((np.abs(first[:, :2]) < AT_REST * _rms(first)[:, None]).all())
    transient = None
    if found.before and still and (record.mask is None or record.mask[:, :period].all()):
        own = np.asarray(model.decompose(np.array(record.inputs[None, :, :period]), grid=grid)[0])[0]
        transient = _mean(_rms(own - (first - truth)) / larger)
    noise = None if found.noise is None else _mean(found.noise / np.sqrt(found.count) / larger)
    return MeasuredSplit(_mean(_rms(steady - truth) / larger), transient, noise, found.count)


def _rms(values: np.ndarray) -> np.ndarray:
    """Return the RMS along time of each output, (outputs,)."""
    return np.sqrt((np.asarray(values, dtype=np.float64) ** 2).mean(-1))


def _mean(each: np.ndarray) -> float:
    """Return the root mean square over the outputs."""
    return float(np.sqrt((each**2).mean()))
