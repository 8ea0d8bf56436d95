"""The split of a model against a measured record whose input repeats: steady and transient part are then in the data."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from lfno.core.grid import Grid
from lfno.data.periods import average, find_period
from lfno.data.signals.record import Record

#: a first period whose outputs begin below this part of their rms starts at rest
AT_REST = 0.1


class Decomposes(Protocol):
    """Anything that tells transient from steady on a grid of its own choice."""

    def decompose(self, inputs: Any, /, *, grid: Grid) -> tuple[np.ndarray, np.ndarray]: ...


@dataclass(frozen=True)
class MeasuredSplit:
    """Errors of the two parts, relative to the larger of steady part and response (rms over the outputs).

    steady: against the average of the settled periods.
    transient: against the first period without the steady part; None where the record does not start at rest.
    noise: what noise alone adds to `steady`; None where only one period is settled.
    periods: the number of settled periods.
    """

    steady: float
    transient: float | None
    noise: float | None
    periods: int


def measure_split(model: Decomposes, record: Record, from_rest: bool = False) -> MeasuredSplit | None:
    """Compare a model's split with a record whose input repeats; None if the input or the outputs do not repeat.

    The average of the periods in which the outputs have settled is the steady state. The transient is the first period minus
    the steady state, where the system was at rest before it: `from_rest` says so, or outputs that begin near zero.
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
