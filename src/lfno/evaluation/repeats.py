"""Compare the split of a model with a measured record whose input repeats. Such a record contains steady and transient part.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from lfno.core.grid import Grid
from lfno.data.periods import average, find_period
from lfno.data.signals.record import Record

#: a record starts at rest if its first outputs are below this share of their rms
AT_REST = 0.1


class Decomposes(Protocol):
    """A model with `decompose(inputs, grid=…)` → (transient, steady)."""

    def decompose(self, inputs: Any, /, *, grid: Grid) -> tuple[np.ndarray, np.ndarray]: ...


@dataclass(frozen=True)
class MeasuredSplit:
    """Errors of the two parts, relative to the larger of steady part and response (rms over the outputs).

    steady: the difference from the average of the settled periods.
    transient: the difference from the first period minus the steady part; None if the record does not start at rest.
    noise: the part of `steady` that measurement noise causes; None if only one period is settled.
    periods: the number of settled periods.
    """

    steady: float
    transient: float | None
    noise: float | None
    periods: int


def measure_split(model: Decomposes, record: Record, from_rest: bool = False) -> MeasuredSplit | None:
    """Compare the split of a model with a record whose input repeats.

    from_rest: whether the system was at rest before the record. Otherwise outputs that begin near zero show it.

    The steady state is the average of the periods in which the outputs have settled. The transient is the first period minus
    the steady state, if the system was at rest before. Returns None if input or outputs do not repeat.
    """
    if record.grid.ndim > 1 or (period := find_period(record.inputs)) is None:
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
    return np.sqrt((np.asarray(values, dtype=np.float64) ** 2).mean(-1))


def _mean(each: np.ndarray) -> float:
    return float(np.sqrt((each**2).mean()))
