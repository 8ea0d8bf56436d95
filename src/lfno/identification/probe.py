"""The small-signal response of any function from forces to outputs, measured with weak random forces in a frequency band."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from lfno.core.checks import real_array
from lfno.core.errors import LfnoError
from lfno.core.short import Short
from lfno.identification.pairs import LARGEST

#: a function from inputs (batch, channels, time) to outputs (batch, outputs, time) from rest, both in physical units
Respond = Callable[[np.ndarray], np.ndarray]

#: number of random forces for each input channel
FORCES = 4
#: smallest number of steps in a response; shorter responses do not show modes
FEWEST = 32
#: part of the input power that lies below the band; an equal part lies above the band
OUTSIDE = 0.005


@dataclass(frozen=True, repr=False)
class SmallSignal(Short):
    """Weak forces and the linear response from rest.

    forces: (samples, inputs, time), rms 1.
    responses: (samples, outputs, time), the linear response to `forces`.
    step: the sampling step in seconds.
    """

    forces: np.ndarray
    responses: np.ndarray
    step: float


def input_band(inputs: np.ndarray, step: float) -> tuple[float, float]:
    """Return the lowest and the highest frequency, in Hz, of the band with 99 % of the power of inputs (…, time).

    The mean of the inputs does not count. For inputs that are constant in time, the band reaches from zero to the Nyquist
    frequency.

    >>> t = 0.01 * np.arange(1000)
    >>> low, high = input_band(np.sin(2 * np.pi * 3 * t), 0.01)
    >>> bool(2.9 <= low <= high <= 3.1)
    True
    """
    values = np.asarray(inputs, dtype=np.float64)
    window = np.hanning(values.shape[-1] + 2)[1:-1]
    power = np.abs(np.fft.rfft((values - values.mean(-1, keepdims=True)) * window)) ** 2
    power = power.reshape(-1, power.shape[-1]).sum(0)
    frequencies = np.fft.rfftfreq(values.shape[-1], step)
    if not power.sum() > 0:
        return 0.0, float(frequencies[-1])
    share = np.cumsum(power) / power.sum()
    low, high = np.searchsorted(share, (OUTSIDE, 1 - OUTSIDE))
    return float(frequencies[low]), float(frequencies[high])


def random_forces(samples: int, channels: int, size: int, step: float, band: tuple[float, float]) -> np.ndarray:
    """Return Gaussian forces (samples, channels, time). The rms of all values together is 1. Forces begin at zero.

    band: lowest and highest frequency in Hz; the spectrum is flat between them. Raises LfnoError if no frequency of the signal
        lies in the band.

    >>> random_forces(2, 1, 500, 0.02, (0.5, 3.0)).shape
    (2, 1, 500)
    """
    draw = np.random.default_rng(0)
    long = 2 * size  # a force is half a period of a periodic signal, so the force itself is not one whole period
    frequencies = np.fft.rfftfreq(long, step)
    inside = (frequencies >= band[0]) & (frequencies <= band[1]) & (frequencies > 0)
    if not inside.any():
        raise LfnoError(f"the band from {band[0]:g} to {band[1]:g} holds no frequency that {size} steps of {step:g} can show")
    spectrum = inside * (draw.normal(size=(samples, channels, len(frequencies), 2)) @ np.array([1, 1j]))
    values = np.fft.irfft(spectrum, long)[..., :size]
    rise = max(2, round(1 / (4 * band[1] * step)))
    values[..., :rise] *= 0.5 - 0.5 * np.cos(math.pi * np.arange(rise) / rise)
    return values / np.sqrt((values**2).mean())


def small_signal(
    respond: Respond,
    size: int,
    step: float,
    band: tuple[float, float],
    amplitude: float,
    channels: int = 1,
    operating: float = 0.0,
    settle: float = 0.5,
) -> SmallSignal:
    """Return the linear response about the steady state under a constant input, by central differences.

    The inputs are level ± amplitude × force. The linear response is half the difference of the two outputs, divided by the
    amplitude. All even powers of the nonlinearity cancel in this difference. The level rises smoothly to `operating` over the
    first half of the settling time.

    respond: a function from inputs (batch, channels, time) to outputs (batch, outputs, time).
    size: number of time steps.
    step: sampling step in seconds.
    band: lowest and highest frequency of the forces in Hz.
    amplitude: rms of the forces that are added to the constant input. Choose it as small as the precision of `respond` allows.
    channels: number of input channels.
    operating: the constant input.
    settle: part of the window before the force begins; the system settles during this time. Use 0 for a system at rest under
        `operating=0`.
    """
    start = math.floor(settle * size)
    if not (0 < amplitude <= LARGEST and abs(operating) <= LARGEST):
        raise LfnoError(
            f"forces of amplitude {amplitude} around the constant input {operating} cannot show modes: give a positive "
            f"amplitude; neither number may exceed {LARGEST:g} in magnitude"
        )
    if size - start < FEWEST:
        raise LfnoError(f"{size - start} steps of a response are too few to show modes; at least {FEWEST} are needed")
    forces = random_forces(FORCES * channels, channels, size - start, step, band)
    level = operating * (0.5 - 0.5 * np.cos(math.pi * np.minimum(np.arange(size) / max(start / 2, 1), 1)))
    change = np.concatenate([np.zeros((*forces.shape[:2], start)), forces], axis=-1)
    answers = real_array(respond(np.concatenate([level + amplitude * change, level - amplitude * change])), "the answers")
    count = len(forces)
    if answers.ndim != 3 or not answers.shape[1] or (len(answers), answers.shape[-1]) != (2 * count, size):
        raise LfnoError(f"the answers have shape {answers.shape}; ({2 * count}, outputs, {size}) is needed")
    answers = answers.astype(np.float64)
    responses = (answers[:count] - answers[count:])[..., start:] / (2 * amplitude)
    if not (np.isfinite(responses).all() and np.abs(responses).max() > 0):
        raise LfnoError("the small-signal response is zero or not finite and shows no modes: change the amplitude")
    return SmallSignal(forces, responses, step)
