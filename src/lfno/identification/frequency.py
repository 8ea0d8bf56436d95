"""The frequency response that data show, for a Bode plot beside a linear model's and a network's."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from lfno.core.errors import LfnoError
from lfno.identification.pairs import signal_pair


@dataclass(frozen=True)
class FrequencyResponse:
    """`response` (outputs, inputs, frequencies) complex, `coherence` (outputs, frequencies) from 0 to 1, f in Hz.

    Where the inputs have no power there is nothing to see: the response is NaN and the coherence 0. An input that never
    changes has no power at any frequency; the others are seen as if it were not there.
    """

    frequencies: np.ndarray
    response: np.ndarray
    coherence: np.ndarray


def measure_response(
    inputs: np.ndarray, outputs: np.ndarray, step: float, segment: int | None = None, floor: float = 1e-8
) -> FrequencyResponse:
    """The H1 estimate H(f) = S_uf(f) S_ff(f)⁻¹ from `(samples, channels, time)`, least squares at every frequency.

    Spectra are averaged over samples and over half-overlapping Hann segments of `segment` steps (default: an eighth of
    the record, at most 4096). The coherence is the part of the output's power that a linear system could explain:
    below 1 there is noise, nonlinearity or a transient. Inputs weaker than `floor` of their peak power are ignored.
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
            f"{samples * len(starts)} segments cannot tell {channels} inputs apart: choose shorter ones than {length}"
        )
    window = 0.5 - 0.5 * np.cos(2 * np.pi * (np.arange(length) + 0.5) / length)

    def spectra(signal: np.ndarray) -> np.ndarray:
        """(frequencies, channels, samples × segments), the mean of each segment taken off."""
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
