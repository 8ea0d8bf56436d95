"""Does a run start at rest? A model that starts at rest is wrong at the beginning of a run that does not."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from lfno.data.signals.record import Record
from lfno.data.stretches import REST, UNKNOWN

QUIET = 0.1  # at rest, the first sample of an output deviates from equilibrium by less than this share of its RMS
SLOW = 0.5  # at rest, the first change of an output is less than this share of its RMS change from sample to sample
NOISY = 0.15  # a median first deviation up to this share of the RMS is noise around rest; in motion it is about 0.67
OUTLYING = 4.0  # a run whose first deviation exceeds this many times the median one is not at rest
FAINT = 0.1  # changes with less than this share beyond noise tell nothing
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

    Three runs or more tell the noise: if most of them start at rest, their first samples differ by noise alone. Then a run is
    at rest if its first sample is not far beyond the noise. The median of the first changes counts, without the part that
    noise has in them: the input of a single run may be large at once.

    >>> from lfno.core.grid import Grid
    >>> from lfno.systems.base import Channel
    >>> t = np.arange(200) * 0.1
    >>> def record(u):
    ...     return Record(u[None], u[None], Grid.line(200, 0.1), (Channel("f"),), (Channel("u"),))
    >>> starts([record(t * np.sin(t)), record(np.cos(t))])
    ['rest', 'unknown']
    """
    found = deviation(records)
    quiet = QUIET
    if len(found) > 2:
        usual = float(np.median(found[:, 0]))
        if usual <= NOISY:
            quiet = max(QUIET, OUTLYING * usual)
            found[:, 1] = _without_noise(records, found[:, 1])
        found[:, 1] = np.median(found[:, 1])
    return [REST if far <= quiet and fast <= SLOW else UNKNOWN for far, fast in found]


def _without_noise(records: Sequence[Record], changes: np.ndarray) -> np.ndarray:
    """Return the first changes with the part of noise taken off their squares; zero where noise is all that changes.

    The noise is that of the first samples, whose median deviation is 0.67 of its standard deviation σ. Two samples differ by
    √2 σ because of it.
    """
    first = np.stack([record.outputs.reshape(-1, len(record))[:, 0] for record in records])
    steps = np.concatenate([np.diff(record.outputs.reshape(-1, len(record)), axis=1) for record in records], axis=1)
    sigma = np.median(np.abs(first - np.median(first, axis=0)), axis=0) / 0.67
    usual = (steps**2).mean(1)
    share = float(np.max(2 * sigma**2 / np.where(usual > 0, usual, 1.0)))
    return np.sqrt(np.clip(changes**2 - share, 0, None) / (1 - share)) if share < 1 - FAINT else np.zeros_like(changes)


def moving(records: Sequence[Record]) -> list[int]:
    """Return the numbers, from 0, of the runs that surely start in motion."""
    return [k for k, (far, _) in enumerate(deviation(records)) if far > MOVING]
