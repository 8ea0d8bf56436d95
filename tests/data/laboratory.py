"""Simulated records of a system that is known exactly: one resonance."""

from __future__ import annotations

import numpy as np
from scipy.signal import lfilter

from lfno.core.grid import Grid
from lfno.data.signals.record import Record
from lfno.systems.base import Channel

STEP = 0.05  # s: time step of the records


def multisine(period: int, lines: int, rng: np.random.Generator) -> np.ndarray:
    """Return one period of a random-phase multisine with RMS 1, (period,).

    period: length in samples.
    lines: number of sines; they have 1, 2, …, `lines` cycles in a period.
    """
    spectrum = np.zeros(period // 2 + 1, complex)
    spectrum[1 : lines + 1] = np.exp(2j * np.pi * rng.random(lines))
    signal = np.fft.irfft(spectrum, period)
    return np.asarray(signal / signal.std())


def resonance(force: np.ndarray, decay: float = 20, period: float = 25) -> np.ndarray:
    """Return the response (…, time) of one resonance to a force (…, time). The system starts at rest.

    decay: time constant in samples.
    period: period of the oscillation in samples.
    """
    pole = np.exp(-1 / decay + 2j * np.pi / period)
    return np.asarray(lfilter([0.0, 0.1], [1, -2 * pole.real, abs(pole) ** 2], force))


def as_record(force: np.ndarray, motion: np.ndarray, name: str = "record") -> Record:
    """Return two signals (time,) as a record."""
    channels = (Channel("force", "N"),), (Channel("x", "m"),)
    return Record(force[None], motion[None], Grid.line(len(force), STEP), *channels, {"name": name})


def run(size: int, seed: int, moving: bool = False) -> Record:
    """Return a run of `size` samples under random force. It starts at rest, or in motion if `moving`."""
    before = 500 if moving else 0
    force = np.random.default_rng(seed).normal(size=size + before)
    return as_record(force[before:], resonance(force)[before:], f"run {seed}")


def periods(period: int, count: int, seed: int, noise: float = 0.0, input_noise: float = 0.0, rest: bool = True) -> Record:
    """Return a record of a multisine and its response.

    period: length of a period in samples.
    count: number of periods.
    seed: seed of the multisine and of the noise.
    noise, input_noise: standard deviation of the noise of the output and of the input.
    rest: whether the record starts at rest; if not, it starts in the steady state.
    """
    rng = np.random.default_rng(seed)
    force = np.tile(multisine(period, period // 8, rng), count + 3)
    motion = resonance(force)
    if rest:
        force, motion = force[: count * period], motion[: count * period]
    else:
        force, motion = force[3 * period :], motion[3 * period :]
    motion = motion + noise * rng.normal(size=motion.shape)
    return as_record(force + input_noise * rng.normal(size=force.shape), motion, f"realisation {seed}")
