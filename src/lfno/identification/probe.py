"""The small-signal response of anything that answers a force: random forces in a band, infinitely small."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from lfno.core.checks import real_array
from lfno.core.errors import LfnoError
from lfno.identification.pairs import LARGEST

#: inputs (batch, channels, time) → outputs (batch, outputs, time), both in physical units, from rest
Respond = Callable[[np.ndarray], np.ndarray]

#: forces that are tried for each input channel
FORCES = 4
#: steps of a response that can show modes, at least
FEWEST = 32
#: the share of its power that an input may have below and above its band
OUTSIDE = 0.005


@dataclass(frozen=True)
class SmallSignal:
    """Forces (samples, inputs, time) of rms 1 and the linear response to them (samples, outputs, time), from rest."""

    forces: np.ndarray
    responses: np.ndarray
    step: float


def input_band(inputs: np.ndarray, step: float) -> tuple[float, float]:
    """The band in Hz that holds all but 1 % of the power of inputs (…, time), without their mean.

    >>> t = 0.01 * np.arange(1000)
    >>> low, high = input_band(np.sin(2 * np.pi * 3 * t), 0.01)
    >>> bool(2.9 <= low <= high <= 3.1)
    True
    """
    values = np.asarray(inputs, dtype=np.float64)
    window = np.hanning(values.shape[-1] + 2)[1:-1]
    power = np.abs(np.fft.rfft((values - values.mean(-1, keepdims=True)) * window)) ** 2
    power = power.reshape(-1, power.shape[-1]).sum(0)
    share = np.cumsum(power) / (power.sum() or 1.0)
    frequencies = np.fft.rfftfreq(values.shape[-1], step)
    return float(frequencies[np.searchsorted(share, OUTSIDE)]), float(frequencies[np.searchsorted(share, 1 - OUTSIDE)])


def random_forces(samples: int, channels: int, size: int, step: float, band: tuple[float, float]) -> np.ndarray:
    """Gaussian forces (samples, channels, time) of rms 1 with a flat spectrum in a band in Hz; they begin at zero.

    >>> random_forces(2, 1, 500, 0.02, (0.5, 3.0)).shape
    (2, 1, 500)
    """
    draw = np.random.default_rng(0)
    long = 2 * size  # so that no force repeats itself
    frequencies = np.fft.rfftfreq(long, step)
    inside = (frequencies >= band[0]) & (frequencies <= band[1]) & (frequencies > 0)
    if not inside.any():
        raise LfnoError(f"the band {band[0]:g}–{band[1]:g} Hz holds no frequency that {size} steps of {step:g} s can show")
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
    """The linear response about the state that a constant input `operating` leads to, by central differences.

    `respond` is asked for level ± amplitude × force, and half the difference over the amplitude is the linear response,
    in which all even powers of the nonlinearity cancel; `amplitude` should be as small as the precision of `respond`
    allows. The level is approached over a quarter of the window and the force begins after the part `settle` of it,
    when the system has settled; with `settle=0` it begins at once, for systems whose state of rest is `operating=0`.
    """
    start = math.floor(settle * size)
    if not (0 < amplitude <= LARGEST and abs(operating) <= LARGEST):
        raise LfnoError(f"an amplitude of {amplitude} about {operating} cannot show modes: give a positive amplitude")
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
