"""Estimate the memory of a system, and choose the length of the windows of a record.

The memory is the time after which the past has no more influence. A model computes every window from rest, but inside a record
the system is in motion at the beginning of a window. The resulting error decays within the memory. The first samples of a
window, the warm-up, are therefore not scored.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from lfno.core.errors import LfnoError, Option
from lfno.data.signals.record import Record

FORGOTTEN = 3e-3  # share of the peak: the memory ends when the impulse response has fallen to this share of its peak
USUAL = 512  # samples: length of a window if the memory is short and the record is long
LEAST = 16  # samples: length of the shortest window
SMALL = 32  # windows: if the memory is short, a window is so short that at least this many fit into all data
LARGE = 8  # windows: if the memory is long, a window is so short that at least this many fit into all data
AT_ONCE = 2  # samples: an immediate response to an impulse lasts this long
SEGMENTS = 128  # segments: about this many are used to estimate the memory; more would only cost time


def memory(record: Record) -> int:
    """Return the memory in samples: the time until the impulse response h has fallen to FORGOTTEN of its peak.

    1. Estimate the frequency response from segments that overlap by half. Its inverse Fourier transform is h, for lags of up to
       half a segment before and after t = 0. At most 16 inputs and 16 outputs (channels × points in space) are used.
    2. A causal system has h = 0 before t = 0. The largest value well before t = 0 is therefore the error of the estimate.
    3. Measure the time in which h falls to a tenth of its peak, or to three times the error if that is larger (but at most to
       half of the peak). If h does not fall so far within half a segment, measure how far h falls in half of the time that
       remains after the peak.
    4. Extrapolate this decay to FORGOTTEN as an exponential. If h does not fall at all, the memory is the whole record.

    An immediate response is not part of the memory: an acceleration, for example, contains the force itself. If nothing but an
    immediate response stands out from the error, the memory is AT_ONCE.
    """
    size = 1 << max(6, (len(record) // 8).bit_length() - 1)
    size = min(size, 8192, 1 << (len(record).bit_length() - 1))
    starts = range(0, len(record) - size + 1, size // 2)
    starts = starts[:: max(1, len(starts) // SEGMENTS)]
    taper = np.hanning(size)

    def spectra(values: np.ndarray) -> np.ndarray:
        """Return the spectra of the segments, (frequency, channel × point, segment), of values (channel, *space, time)."""
        flat = values.reshape(-1, values.shape[-1])[:16]
        parts = np.stack([flat[:, s : s + size] for s in starts]).astype(np.float64)
        return np.fft.rfft((parts - parts.mean(-1, keepdims=True)) * taper).transpose(2, 1, 0)

    force, motion = spectra(record.inputs), spectra(record.outputs)
    power = force @ force.conj().swapaxes(1, 2)
    # a constant input has no power, and 1e-300 keeps the matrix invertible
    ridge = max(1e-3 * np.trace(power, axis1=1, axis2=2).real.max(), 1e-300) * np.eye(power.shape[-1])
    response = motion @ force.conj().swapaxes(1, 2) @ np.linalg.inv(power + ridge)
    impulse = np.sqrt((np.fft.irfft(response, axis=0) ** 2).sum((1, 2)))
    # the taper reduces h at large lags by the overlap of two shifted tapers: divide h by this overlap
    meeting = np.fft.irfft(np.abs(np.fft.rfft(taper, 2 * size)) ** 2)[: size // 2]
    impulse = impulse / np.concatenate([meeting, meeting[::-1]]).clip(0.25 * meeting[0]) * meeting[0]
    after, before = impulse[: size // 2], impulse[: size // 2 - 1 : -1]
    width = max(2, size // 256)
    after, before = (np.lib.stride_tricks.sliding_window_view(side, width).max(-1) for side in (after, before))
    noise, peak = 3 * float(before[size // 8 :].max()), AT_ONCE + int(after[AT_ONCE:].argmax())
    if after[peak] <= min(noise, 0.1 * float(after[0])):
        return AT_ONCE
    # h may oscillate, so we use its envelope: the largest value from each time to the end
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
    """Return (window, warm-up, memory, note): three lengths in samples and a sentence for the user.

    window, warmup: lengths in samples that the user gives; None to choose them from the data.

    The memory is estimated on the longest record. The warm-up is as long as the memory, and the scored part of a window is at
    least as long as the warm-up. If the memory is too long for this, up to three quarters of a window are warm-up, or up to
    half of a window that the user gives. A chosen window is at most 1/LARGE of all samples, and at most the median length of
    several runs, but at least LEAST samples longer than the warm-up. The returned memory is at least the warm-up.
    Raises LfnoError if the longest record is shorter than the shortest window, or if `window` or `warmup` is longer than all
    data.
    """
    record = max(records, key=len)
    step, unit, size = record.grid.axes[-1].step, record.grid.axes[-1].unit, sum(map(len, records))
    if len(record) < LEAST:
        raise LfnoError(f"a record of {len(record)} samples is too short: the shortest window has {LEAST} samples")
    most = max(window or 0, warmup or 0)
    if most > size:
        raise LfnoError(
            f"a window or warm-up of {most} samples is longer than all data ({size} samples); shorten it: ",
            Option("window", "SAMPLES"),
        )
    usual, longest = min(USUAL, max(size // SMALL, LEAST)), max(size // LARGE, LEAST)
    if len(records) > 1:
        longest = max(min(longest, int(np.median([len(one) for one in records]))), LEAST)
        usual = min(usual, longest)
    why, found = "as given", memory(record)
    if warmup is None:
        room = longest - max(longest // 4, LEAST) if window is None and longest >= 2 * LEAST else (window or longest) // 2
        warmup = min(found, room)
        why = f"the memory of the system is about {found * step:.3g} {unit}"
        if found > warmup:
            why += ", too long for this record"
    if window is None:
        window = max(min(max(usual, 2 * warmup), longest), warmup + LEAST)
    text = f"windows of {window} samples ({window * step:.4g} {unit}), the first {warmup} are warm-up and not scored: {why}"
    return window, warmup, max(found, warmup), text
