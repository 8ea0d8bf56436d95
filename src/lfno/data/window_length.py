"""Estimate how long a system remembers its past, and choose the length of the windows of a record.

Inside a record the system does not start from rest, but a model computes every window from rest. The resulting error decays
with the memory of the system. A window therefore has a warm-up as long as the memory before its samples are scored.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from lfno.core.errors import LfnoError
from lfno.data.signals.record import Record

#: share of the peak: the memory ends where the impulse response has fallen to this share of its largest value
FORGOTTEN = 3e-3
#: USUAL: samples of a window if the record is long enough
#: LEAST: samples of the shortest window
USUAL, LEAST = 512, 16
#: SMALL: if the memory is short, a window has at most 1/32 of all samples (but at least LEAST samples)
#: LARGE: if the memory is long, a window has at most 1/8 of all samples, of which three quarters are warm-up
SMALL, LARGE = 32, 8
AT_ONCE = 2  # samples after an impulse that may still show the impulse itself
SEGMENTS = 128  # about this many segments of a record are used to estimate the memory; more cost time


def memory(record: Record) -> int:
    """Return the memory in samples: the time until the impulse response has fallen to FORGOTTEN of its peak.

    The impulse response h belongs to the best linear model per frequency, averaged over half-overlapping segments. A causal
    system has h = 0 before t = 0, so the estimated values before t = 0 show the size of the error. We measure the decay only
    above this error: the time in which h falls to a tenth of its peak, or to three times the error if that is larger. If h
    does not fall so far within a segment, we measure how far it falls. An exponential extrapolates the decay to FORGOTTEN.
    An immediate response (the force itself, in an acceleration) does not count as memory.
    """
    size = 1 << max(6, (len(record) // 8).bit_length() - 1)
    size = min(size, 8192, 1 << (len(record).bit_length() - 1))
    starts = range(0, len(record) - size + 1, size // 2)
    starts = starts[:: max(1, len(starts) // SEGMENTS)]
    taper = np.hanning(size)

    def spectra(values: np.ndarray) -> np.ndarray:
        """Return the spectra (frequency, channel × place, segment)."""
        flat = values.reshape(-1, values.shape[-1])[:16]
        parts = np.stack([flat[:, s : s + size] for s in starts]).astype(np.float64)
        return np.fft.rfft((parts - parts.mean(-1, keepdims=True)) * taper).transpose(2, 1, 0)

    force, motion = spectra(record.inputs), spectra(record.outputs)
    power = force @ force.conj().swapaxes(1, 2)
    # the lower bound keeps the matrix regular for a constant input, which has no power
    ridge = max(1e-3 * np.trace(power, axis1=1, axis2=2).real.max(), 1e-300) * np.eye(power.shape[-1])
    response = motion @ force.conj().swapaxes(1, 2) @ np.linalg.inv(power + ridge)
    impulse = np.sqrt((np.fft.irfft(response, axis=0) ** 2).sum((1, 2)))
    # the overlap of two tapers shrinks with the lag between them and reduces the estimated impulse response: divide by it
    meeting = np.fft.irfft(np.abs(np.fft.rfft(taper, 2 * size)) ** 2)[: size // 2]
    impulse = impulse / np.concatenate([meeting, meeting[::-1]]).clip(0.25 * meeting[0]) * meeting[0]
    after, before = impulse[: size // 2], impulse[: size // 2 - 1 : -1]
    width = max(2, size // 256)
    after, before = (np.lib.stride_tricks.sliding_window_view(side, width).max(-1) for side in (after, before))
    noise, peak = 3 * float(before[size // 8 :].max()), AT_ONCE + int(after[AT_ONCE:].argmax())
    if after[peak] <= min(noise, 0.1 * float(after[0])):
        return AT_ONCE
    # an oscillation crosses zero, so we use the envelope: the largest value from each time on
    envelope = np.maximum.accumulate(after[::-1])[::-1] / after[peak]
    floor = min(max(0.1, noise / float(after[peak])), 0.5)
    fallen = np.flatnonzero(envelope[peak:] <= floor)
    last = (len(envelope) - peak) // 2
    time, left = (max(int(fallen[0]), 1), floor) if len(fallen) else (last, float(envelope[peak + last]))
    if not left < 1:
        return len(record)
    return min(peak + math.ceil(time * math.log(FORGOTTEN) / math.log(left)), len(record))


def choose_windows(
    records: Sequence[Record], window: int | None = None, warmup: int | None = None
) -> tuple[int, int, int, str]:
    """Return (window, warm-up, memory, reason): three lengths in samples and a sentence for the user.

    window, warmup: lengths in samples that the user gives; None to choose them from the data.

    The warm-up is as long as the memory, and as many samples are scored. The memory is estimated on the longest record. If the
    memory is long compared with the record, there are fewer windows and most of each window is warm-up: training cannot
    replace a past that a window does not contain. For several runs, a window is at most as long as the median run.
    Raises LfnoError if the longest record is shorter than the shortest window.
    """
    record = max(records, key=len)
    step, unit, size = record.grid.axes[-1].step, record.grid.axes[-1].unit, sum(map(len, records))
    if len(record) < LEAST:
        raise LfnoError(f"a record of {len(record)} samples is too short: a single window has {LEAST}")
    usual, longest = min(USUAL, max(size // SMALL, LEAST)), max(size // LARGE, LEAST)
    if len(records) > 1:
        longest = max(min(longest, int(np.median([len(one) for one in records]))), LEAST)
        usual = min(usual, longest)
    why, found = "as given", memory(record)
    if warmup is None:
        room = longest - max(longest // 4, LEAST) if window is None and longest >= 2 * LEAST else (window or longest) // 2
        warmup = min(found, room)
        why = f"the system forgets its past within about {found * step:.3g} {unit}"
        if found > warmup:
            why += ", longer than the record allows"
    if window is None:
        window = max(min(max(usual, 2 * warmup), longest), warmup + LEAST)
    text = f"windows of {window} samples ({window * step:.4g} {unit}), the first {warmup} fed but not scored: {why}"
    return window, warmup, max(found, warmup), text
