"""Does a run start at rest? A model that starts at rest is wrong at the beginning of a run that does not."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from lfno.data.signals.record import Record
from lfno.data.stretches import REST, UNKNOWN

QUIET = 0.1  # at rest, the first sample of an output deviates from equilibrium by less than this share of its RMS
SLOW = 0.5  # at rest, the first change of an output is less than this share of its RMS change from sample to sample
MOVING = 0.3  # a run whose first sample deviates by more than this share surely starts in motion


def deviation(records: Sequence[Record]) -> np.ndarray:
    """Return (runs, 2): distance of the first sample from equilibrium, and the change to the second sample.

    Both are relative to the RMS, over all runs, of the output and of its change from sample to sample; the output with the
    largest value counts. The equilibrium of an output is zero, or, for an output with an offset (a position, a temperature),
    the median of the first values of all runs.
    """
    flat = [record.outputs.reshape(-1, len(record)) for record in records]
    whole = np.concatenate(flat, axis=1)
    mean, spread = whole.mean(1), whole.std(1)
    first = np.stack([one[:, 0] for one in flat])
    offset = np.where(np.abs(mean) > spread, np.median(first, axis=0), 0.0)
    steps = np.concatenate([np.diff(one, axis=1) for one in flat], axis=1)
    change = np.stack([one[:, min(1, one.shape[1] - 1)] - one[:, 0] for one in flat])
    usual = np.sqrt((steps**2).mean(1)) if steps.size else spread
    size, step = (np.where(values > 0, values, 1.0) for values in (spread, usual))
    return np.stack([(np.abs(first - offset) / size).max(1), (np.abs(change) / step).max(1)], axis=1)


def starts(records: Sequence[Record]) -> list[str]:
    """Return "rest" or "unknown" for each run.

    Of three runs or more, the median of the first changes counts: the input of a single run may be large at once.

    >>> from lfno.core.grid import Grid
    >>> from lfno.systems.base import Channel
    >>> t = np.arange(200) * 0.1
    >>> def record(u):
    ...     return Record(u[None], u[None], Grid.line(200, 0.1), (Channel("f"),), (Channel("u"),))
    >>> starts([record(t * np.sin(t)), record(np.cos(t))])
    ['rest', 'unknown']
    """
    found = deviation(records)
    if len(found) > 2:
        found[:, 1] = np.median(found[:, 1])
    return [REST if far <= QUIET and fast <= SLOW else UNKNOWN for far, fast in found]


def moving(records: Sequence[Record]) -> list[int]:
    """Return the numbers, from 0, of the runs that surely start in motion."""
    return [k for k, (far, _) in enumerate(deviation(records)) if far > MOVING]
