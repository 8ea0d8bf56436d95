"""Find the period of an input, average the settled periods of the outputs, and estimate the noise from their differences.

A period is settled if the transient has decayed, so that the outputs repeat.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from lfno.core.errors import LfnoError
from lfno.core.short import Short
from lfno.data.dataset import INPUT_GAPS
from lfno.data.mismatch import EXACT, is_noise
from lfno.data.signals.record import Record

# d(p) is the relative difference between the input and the input shifted by p samples; see `difference`
REPEATS = 0.02  # d: an input repeats with period p if d(p) is at most this value; 0 would not allow for noise
BETTER = 2.0  # factor: after a lag that is not the period, d of the next candidate must be smaller by at least this factor
NOVEL = 0.5  # d: the period is longer than the first lag whose d exceeds this; at shorter lags, any smooth signal has a small d
LEAST_PERIOD = 16  # samples: shorter periods are not searched
SETTLED = 1.15  # factor: settled neighbours differ by at most this factor times the smallest difference of late neighbours
HALVED = 0.5  # factor: the output has a longer period if periods k, k − 2 differ by less than this times periods k, k − 1
REPEATED_OUTPUT = 0.5  # share of the RMS of the output: if late periods differ by more, the output does not repeat


def difference(inputs: np.ndarray) -> np.ndarray:
    """Return d(p) = Σ (u(n+p) − u(n))² / Σ (u(n+p)² + u(n)²) for all lags p = 0 … N − 1, an array (N,).

    inputs: the input u, (channels, …, time) with N samples in time. The sums go over all samples n and all channels.

    First, the mean of each channel is subtracted and each channel is scaled to RMS 1. d(p) is 0 if the input repeats after p
    samples, and about 1 if the shifted input is independent.

    >>> d = difference(np.tile(np.random.default_rng(0).normal(size=(1, 50)), 4))
    >>> bool(d[50] < 1e-12), bool(d[25] > 0.5)
    (True, True)
    """
    flat = inputs.reshape(-1, inputs.shape[-1]).astype(np.float64)
    flat = flat - flat.mean(-1, keepdims=True)
    size = np.sqrt((flat**2).mean(-1, keepdims=True))
    flat = flat[size[:, 0] > 0] / size[size[:, 0] > 0]
    count = flat.shape[-1]
    spectrum = np.fft.rfft(flat, 2 * count)
    together = np.fft.irfft(np.abs(spectrum) ** 2, axis=-1)[:, :count].sum(0)
    power = (flat**2).sum(0)
    early, late = np.cumsum(power)[::-1], np.cumsum(power[::-1])[::-1]
    total = early + late
    return np.where(total > 0, 1 - 2 * together / np.where(total > 0, total, 1.0), 1.0).clip(0)


def find_period(inputs: np.ndarray, gaps: Sequence[Sequence[int]] = ()) -> int | None:
    """Return the period of an input in samples; None if the input does not repeat.

    inputs: (channels, …, time).
    gaps: (0, start, stop) of each gap in samples, as in the provenance of a record. The test for noise replaces the values in a
        gap by the values of the next or the previous period.

    A period has at least LEAST_PERIOD samples, and two periods must fit into the searched part of the record. The differences
    between the periods must be noise; see `lfno.data.mismatch`. A sum of sines that nearly repeats is therefore not periodic.
    The first period may differ from the others, for example because an amplifier was switched on. We therefore first search in
    the record without its first third, and then in the whole record. All periods of the searched part must repeat.
    """
    count = inputs.shape[-1]
    for first in (count // 3, 0):
        found, least = difference(inputs[..., first:]), REPEATS
        for period in _candidates(found, (count - first) // 2):
            if found[period] <= least:
                if is_noise(folded(_repaired(_strongest(inputs), gaps, period)[:, first:], period)):
                    return period
                least = found[period] / BETTER
    return None


def _candidates(found: np.ndarray, longest: int) -> list[int]:
    """Return the lags p ≤ `longest` that may be the period: the lag with the smallest d(p) in each interval of small d(p).

    The multiples of p must have a small d, too.

    found: d(p) for p = 0, 1, …, from `difference`.
    """
    novel = np.flatnonzero(found[: longest + 1] > NOVEL)
    if not novel.size:
        return []
    small = found[: longest + 1] <= REPEATS
    small[: max(novel[0], LEAST_PERIOD)] = False
    lags = np.flatnonzero(small)
    intervals = np.split(lags, np.flatnonzero(np.diff(lags) > 1) + 1) if lags.size else []
    best = [int(lags[found[lags].argmin()]) for lags in intervals]
    return [lag for lag in best if (found[lag : len(found) - lag // 2 : lag] <= 2 * REPEATS).all()]


def _strongest(inputs: np.ndarray) -> np.ndarray:
    """Return each channel at the point in space where it varies most, (channels, time). There, noise matters least."""
    lines = inputs.reshape(len(inputs), -1, inputs.shape[-1])
    return np.asarray(lines[np.arange(len(lines)), lines.std(-1).argmax(-1)])


def _repaired(values: np.ndarray, gaps: Sequence[Sequence[int]], period: int) -> np.ndarray:
    """Return values (channels, time) with the values in each gap taken from the next period, or else from the one before."""
    result = values.copy()
    for _, start, stop in gaps:
        index = np.arange(start, stop)
        other = np.where(index + period < values.shape[-1], index + period, index - period)
        result[:, index] = values[:, other]
    return result


def folded(values: np.ndarray, period: int) -> np.ndarray:
    """Return values (…, time) as (…, periods, time of a period), without an incomplete last period."""
    count = values.shape[-1] // period
    return values[..., : count * period].reshape(*values.shape[:-1], count, period)


@dataclass(frozen=True, eq=False, repr=False)
class Periods(Short):
    """The average of the settled periods of one record.

    mean: a record of one period, the average of the settled periods.
    noise: (outputs,) RMS of the measurement noise; None if only one period is settled.
    count: the number of settled periods.
    before: the number of periods before the first settled period; they contain the transient.
    """

    mean: Record
    noise: np.ndarray | None
    count: int
    before: int


def average(record: Record, period: int, from_rest: bool = False) -> Periods | None:
    """Return the average of the settled periods of a record; None if the outputs do not repeat although the input does.

    period: the period in samples.
    from_rest: whether the record starts at rest. If such a record has only two periods, the first is taken as the transient.

    noise² = Σ_k |y_k − ȳ|² / ((K − 1) P) for K settled periods y_k of P samples with mean ȳ. An incomplete last period is left
    out. Values that were not measured are ignored.
    Raises LfnoError if the record is shorter than two periods.
    """
    count = len(record) // period
    if count < 2 or period < 2:
        raise LfnoError(f"a period of {period} samples does not repeat in a record of {len(record)}: two periods are needed")

    inputs, outputs = folded(record.inputs, period), folded(record.outputs, period)
    mask = None if record.mask is None else folded(record.mask, period)
    places = tuple(range(1, outputs.ndim))
    size = np.sqrt(((outputs - outputs.mean(places, keepdims=True)) ** 2).mean(places))

    def apart(one: np.ndarray, other: np.ndarray, counted: np.ndarray | bool) -> np.ndarray:
        """Return the RMS difference of two periods for each channel, (channels,). counted: True where both are measured."""
        axes = tuple(range(1, one.ndim))
        number = np.broadcast_to(counted, one.shape).sum(axes)
        total = ((one - other) ** 2).sum(axes, where=counted)
        return np.asarray(np.sqrt(np.where(number > 0, total / np.maximum(number, 1), np.nan)))

    def both(k: int, j: int) -> np.ndarray | bool:
        """Return True where the outputs of period k and of period j are measured."""
        return True if mask is None else mask[..., k, :] & mask[..., j, :]

    def differences(lag: int) -> np.ndarray:
        """Return the RMS differences between each period and the period `lag` periods before, (periods − lag, outputs)."""
        found = [apart(outputs[..., k, :], outputs[..., k - lag, :], both(k, k - lag)) for k in range(lag, count)]
        return np.stack(found)

    steps = np.nan_to_num(differences(1))
    late = slice(-max(1, count // 2), None)
    floor = np.maximum(steps[late].min(0), 1e-9 * size)
    if (floor > REPEATED_OUTPUT * size).any():
        return None
    # noise is the same at both lags; a nonlinear system can respond with twice the period of its input
    if count > 2 and ((differences(2)[late].min(0) < HALVED * floor) & (floor > EXACT * size)).any():
        return None
    # the settled periods begin after the last large difference between neighbouring periods; if a period has few samples, the
    # difference itself has a random error, so the limit is larger
    large = np.flatnonzero((steps > max(SETTLED, 1 + 4 / np.sqrt(2 * period)) * floor).any(1))
    before = min(int(large[-1]) + 1 if large.size else 0, count - 1)
    before = max(before, int(from_rest and count == 2))
    kept = slice(before, None)
    counted = np.ones(outputs.shape, bool) if mask is None else mask
    times = counted[..., kept, :].sum(-2)
    total = np.where(counted, outputs, 0.0)[..., kept, :].sum(-2)
    mean = np.where(times > 0, total / np.maximum(times, 1), outputs[..., kept, :].mean(-2))
    noise = None
    if count - before > 1:
        rest = np.where(counted, outputs - mean[..., None, :], 0.0)[..., kept, :]
        freedom = np.maximum((times - 1).clip(0).sum(tuple(range(1, times.ndim))), 1)
        noise = np.sqrt((rest**2).sum(tuple(range(1, rest.ndim))) / freedom)
    axis = record.grid.axes[-1]
    grid = record.grid.change(axis.name, size=period, origin=axis.origin + before * period * axis.step)
    told = {key: value for key, value in record.provenance.items() if key != INPUT_GAPS}
    # a gap in the inputs makes one period wrong, and the median ignores one wrong period
    typical = np.median if INPUT_GAPS in record.provenance else np.mean
    one = Record(typical(inputs[..., kept, :], axis=-2), mean, grid, record.input_channels, record.output_channels,
                 told, None if (times > 0).all() else times > 0)  # fmt: skip
    return Periods(one, noise, count - before, before)
