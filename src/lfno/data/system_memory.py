"""Estimate the memory of a system from a record.

The memory is the time after which the past has no more influence: the time until the impulse response h stays below the share
FORGOTTEN of its peak. A linear system with the slowest time constant τ forgets in about 5.8 τ.

An immediate response is not part of the memory: an acceleration, for example, contains the force itself.
"""

from __future__ import annotations

import math

import numpy as np

from lfno.data.response_poles import fit_poles
from lfno.data.signals.record import Record

FORGOTTEN = 3e-3  # share of the peak: the memory ends when the impulse response has fallen to this share of its peak
AT_ONCE = 2  # samples: an immediate response to an impulse lasts this long
EXPLAINED = 0.5  # part of the variance of an output: a fit with a larger error says nothing about the memory
MOST_CHANNELS = 16  # inputs, and outputs (channels × points in space): more would only cost time
SEGMENTS = 128  # segments: about this many are used to estimate the spectra; more would only cost time


def memory(record: Record) -> int:
    """Return the memory in samples, at most the length of the record.

    A linear model with few poles is fitted to each output (see `response_poles`). The impulse response h of this model has no
    noise, so its end can be computed, also if the record is short. h is the root of the sum of squares over inputs and
    outputs, each divided by its standard deviation. If no output is explained by its model, `by_spectra` gives the memory.
    """
    inputs, outputs = (_scaled(values) for values in (record.inputs, record.outputs))
    fits = [fit for output in outputs if (fit := fit_poles(inputs, output)).error < EXPLAINED]
    if not fits:
        return by_spectra(record)
    t = np.arange(len(record))
    squares = sum((np.abs(fit.residues @ fit.poles[:, None] ** t) ** 2).sum(0) for fit in fits)
    impulse = np.sqrt(squares * np.ones(len(record)))[AT_ONCE:]
    late = np.flatnonzero(impulse > FORGOTTEN * impulse.max(initial=0.0))
    return AT_ONCE + (int(late[-1]) + 1 if late.size else 0)


def _scaled(values: np.ndarray) -> np.ndarray:
    """Return values (channels, *space, time) as (channels × points, time), divided by their standard deviations."""
    flat = values.reshape(-1, values.shape[-1])[:MOST_CHANNELS].astype(np.float64)
    size = flat.std(-1, keepdims=True)
    return flat / np.where(size > 0, size, 1.0)


def by_spectra(record: Record) -> int:
    """Return the memory of a record that a linear model with few poles does not explain.

    1. Estimate the frequency response from segments that overlap by half. Its inverse Fourier transform is h, for lags of up to
       half a segment before and after t = 0. At most 16 inputs and 16 outputs (channels × points in space) are used.
    2. A causal system has h = 0 before t = 0. The largest value well before t = 0 is therefore the error of the estimate.
    3. Measure the time in which h falls to a tenth of its peak, or to three times the error if that is larger (but at most to
       half of the peak). If h does not fall so far within half a segment, measure how far h falls in half of the time that
       remains after the peak.
    4. Extrapolate this decay to FORGOTTEN as an exponential. If h does not fall at all, the memory is the whole record.

    If nothing but an immediate response stands out from the error, the memory is AT_ONCE.
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
