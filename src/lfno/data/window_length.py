"""How long a system remembers its past, and how long the windows of a record are therefore.

Inside a record the system does not start from rest, but every window is answered as if it did. What is wrong at its
beginning dies away with the system's memory, so a window warms up for that long before it is scored.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from lfno.core.errors import LfnoError
from lfno.data.signals.record import Record

#: a warm-up lasts until the impulse response has fallen to this share of its largest value
FORGOTTEN = 3e-3
#: samples of a window that has room for them, and of the shortest there is
USUAL, LEAST = 512, 16
#: a window is this part of a record whose memory is short, or at most this one, three quarters of it warm-up, if it is long
SMALL, LARGE = 32, 8
AT_ONCE = 2  # samples after an impulse in which it may still be seen itself
SEGMENTS = 128  # stretches of a record that its memory is measured on


def memory(record: Record) -> int:
    """How many samples the system remembers: until its impulse response has fallen to FORGOTTEN of its peak.

    The impulse response h is that of the best linear model per frequency, averaged over half-overlapping segments. A
    causal system has h = 0 before t = 0, so what is found there is the size of the error, and decay is only looked for
    above it: the time to fall to a tenth (or to three times that error), or how far it falls within a segment, is
    prolonged as an exponential. What comes at once (the force itself, in an acceleration) is not memory.
    """
    size = 1 << max(6, (len(record) // 8).bit_length() - 1)
    size = min(size, 8192, 1 << (len(record).bit_length() - 1))
    starts = range(0, len(record) - size + 1, size // 2)
    starts = starts[:: max(1, len(starts) // SEGMENTS)]
    taper = np.hanning(size)

    def spectra(values: np.ndarray) -> np.ndarray:
        """(frequency, channel × place, segment)"""
        flat = values.reshape(-1, values.shape[-1])[:16]
        parts = np.stack([flat[:, s : s + size] for s in starts]).astype(np.float64)
        return np.fft.rfft((parts - parts.mean(-1, keepdims=True)) * taper).transpose(2, 1, 0)

    force, motion = spectra(record.inputs), spectra(record.outputs)
    power = force @ force.conj().swapaxes(1, 2)
    # an input that never changes has no power at all, and shows nothing
    ridge = max(1e-3 * np.trace(power, axis1=1, axis2=2).real.max(), 1e-300) * np.eye(power.shape[-1])
    response = motion @ force.conj().swapaxes(1, 2) @ np.linalg.inv(power + ridge)
    impulse = np.sqrt((np.fft.irfft(response, axis=0) ** 2).sum((1, 2)))
    # two tapers meet less and less the further they are apart, and so does what lies that far apart in time
    meeting = np.fft.irfft(np.abs(np.fft.rfft(taper, 2 * size)) ** 2)[: size // 2]
    impulse = impulse / np.concatenate([meeting, meeting[::-1]]).clip(0.25 * meeting[0]) * meeting[0]
    after, before = impulse[: size // 2], impulse[: size // 2 - 1 : -1]
    width = max(2, size // 256)
    after, before = (np.lib.stride_tricks.sliding_window_view(side, width).max(-1) for side in (after, before))
    noise, peak = 3 * float(before[size // 8 :].max()), AT_ONCE + int(after[AT_ONCE:].argmax())
    if after[peak] <= min(noise, 0.1 * float(after[0])):
        return AT_ONCE
    # an oscillation crosses zero: what counts is the largest value from some time on
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
    """Return (window, warm-up, memory, why) in samples: a warm-up as long as the memory, and as much again to be scored.

    The memory is measured on the longest record. Where the memory is long and one record is all there is, windows are fewer
    and most of each is warm-up: no training makes good for a past that a window does not know. Of several runs, a window is
    at most as long as the shorter half of them.
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
