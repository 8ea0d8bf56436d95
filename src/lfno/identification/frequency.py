"""The frequency response of measured data. A Bode plot compares this response with the response of a model."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from lfno.core.errors import LfnoError
from lfno.core.short import Short
from lfno.identification.pairs import signal_pair


@dataclass(frozen=True, repr=False)
class FrequencyResponse(Short):
    """A measured frequency response.

    frequencies: in Hz, (frequencies,).
    response: complex (outputs, inputs, frequencies).
    coherence: from 0 to 1, (outputs, frequencies).

    At frequencies where the inputs have no power, the response is NaN and the coherence is 0. The response to a constant input
    is NaN at all frequencies. A constant input does not change the response to the other inputs.
    """

    frequencies: np.ndarray
    response: np.ndarray
    coherence: np.ndarray


def measure_response(
    inputs: np.ndarray, outputs: np.ndarray, step: float, segment: int | None = None, floor: float = 1e-8
) -> FrequencyResponse:
    """Return the H1 estimate H(f) = S_uf(f) S_ff(f)⁻¹ from signals `(samples, channels, time)`.

    S_uf is the cross spectrum of outputs and inputs, and S_ff is the power spectrum of the inputs. The estimate is a
    least-squares fit at every frequency. Spectra are averaged over samples and over Hann segments that overlap by half. The
    coherence is the part of the output power that a linear system can explain. Noise, a nonlinearity or a transient lowers the
    coherence below 1.

    step: sampling step in seconds.
    segment: number of steps in a segment. Default: an eighth of the record, at least 64 and at most 4096 steps. A record of
        fewer than 64 steps is one segment.
    floor: smallest input power, relative to the peak of the input power over all frequencies. Frequencies with less power are
        ignored. The input power at a frequency is the smallest eigenvalue of S_ff; for one input it is S_ff itself.
    """
    inputs, outputs = signal_pair(inputs, outputs)
    if not 0 < step < math.inf:
        raise LfnoError(f"the step is {step!r}: a positive number of seconds is needed")
    samples, channels, size = inputs.shape
    length = min(size, max(size // 8, 64), 4096) if segment is None else segment
    if not 8 <= length <= size:
        raise LfnoError(f"segments of {length} steps cannot be cut from {size} steps: choose 8 to {size}")
    starts = range(0, size - length + 1, max(length // 2, 1))
    if samples * len(starts) < 2 * channels:
        raise LfnoError(
            f"{samples * len(starts)} segments are too few for {channels} inputs: choose segments shorter than {length} steps"
        )
    window = 0.5 - 0.5 * np.cos(2 * np.pi * (np.arange(length) + 0.5) / length)

    def spectra(signal: np.ndarray) -> np.ndarray:
        """Return the spectra (frequencies, channels, samples × segments) of all segments. Each segment loses its mean first."""
        parts = np.stack([signal[..., start : start + length] for start in starts], axis=1)
        parts = np.fft.rfft((parts - parts.mean(-1, keepdims=True)) * window, axis=-1)
        return parts.reshape(-1, *parts.shape[2:]).transpose(2, 1, 0)

    varies = np.flatnonzero(np.ptp(inputs, axis=(0, 2)) > 0)
    force, motion = spectra(inputs)[:, varies], spectra(outputs)
    cross, power = motion @ force.conj().swapaxes(1, 2), force @ force.conj().swapaxes(1, 2)
    smallest = np.linalg.eigvalsh(power)[:, 0] if len(varies) else np.zeros(len(power))
    seen = smallest > floor * max(float(smallest.max()), np.finfo(float).tiny)
    response = np.full(cross.shape, np.nan + 0j)
    response[seen] = np.linalg.solve(power[seen].swapaxes(1, 2), cross[seen].swapaxes(1, 2)).swapaxes(1, 2)
    total = (np.abs(motion) ** 2).sum(-1)
    explained = np.zeros(total.shape)
    explained[seen] = np.einsum("foi,foi->fo", response[seen], cross[seen].conj()).real
    coherence = np.divide(explained, total, out=np.zeros(total.shape), where=total > 0).clip(0, 1)
    every = np.full((outputs.shape[1], channels, len(response)), np.nan + 0j)
    every[:, varies] = response.transpose(1, 2, 0)
    return FrequencyResponse(np.fft.rfftfreq(length, step), every, coherence.T)
