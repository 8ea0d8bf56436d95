"""Find out whether each run starts at rest.

A network computes every trajectory from rest. If a run starts in motion, the network is wrong at the beginning of that run.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from lfno.data.signals.record import Record
from lfno.data.stretches import REST, UNKNOWN

# the first deviation of a run is the distance of its first output from equilibrium, in standard deviations of the output
QUIET = 0.1  # standard deviations: the largest first deviation of a run at rest
NOISY = 0.15  # standard deviations: a median first deviation up to this value is only noise; if all runs move, it is about 0.67
OUTLYING = 4.0  # factor: if the median is noise, the first deviation of a run at rest is at most this factor times the median
MOVING = 0.3  # standard deviations: a run with a larger first deviation certainly starts in motion
# the first change of a run is the change from its first to its second output, as a share of the RMS change of the output
SLOW = 0.5  # share of the RMS change: the largest first change of a run at rest
FAINT = 0.1  # share of the mean squared change: if noise explains more than 1 − FAINT of it, the first changes are ignored


def deviation(records: Sequence[Record]) -> np.ndarray:
    """Return the first deviation and the first change of each run, an array (runs, 2).

    Column 0: distance of the first sample from equilibrium, divided by the standard deviation of the output over all runs.
    Column 1: change from the first to the second sample, divided by the RMS change from sample to sample over all runs.

    If there are several outputs, each column holds the largest value over the outputs. The equilibrium of an output is zero. If
    the magnitude of its mean exceeds its standard deviation (a position, a temperature), its equilibrium is the median of the
    first values of all runs.
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

    A run is at rest if its first deviation and its first change are small (see `deviation`).

    With three runs or more, each run gets the median first change of all runs in place of its own, because the input of a
    single run may be large from its first sample. A small median first deviation shows that most runs start at rest, so that
    their first samples differ only by noise. In this case, the limit of the first deviation is a multiple of this median, but
    at least QUIET. The part of the first changes that noise explains is also subtracted, before their median is computed.

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
    """Return the first changes (runs,) without the part that noise explains; zero if noise explains nearly all of them.

    The standard deviation σ of the noise is the median deviation of the first samples divided by 0.67, as for Gaussian noise.
    The difference of two successive samples has the noise power 2σ², which is subtracted from the squared changes.
    """
    first = np.stack([record.outputs.reshape(-1, len(record))[:, 0] for record in records])
    steps = np.concatenate([np.diff(record.outputs.reshape(-1, len(record)), axis=1) for record in records], axis=1)
    sigma = np.median(np.abs(first - np.median(first, axis=0)), axis=0) / 0.67
    usual = (steps**2).mean(1)
    share = float(np.max(2 * sigma**2 / np.where(usual > 0, usual, 1.0)))
    return np.sqrt(np.clip(changes**2 - share, 0, None) / (1 - share)) if share < 1 - FAINT else np.zeros_like(changes)


def moving(records: Sequence[Record]) -> list[int]:
    """Return the indices of the runs that certainly start in motion."""
    return [k for k, (far, _) in enumerate(deviation(records)) if far > MOVING]
