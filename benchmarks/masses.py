"""Simulated records of two masses with a cubic spring: the true modes are known.

The masses form a chain: ground, 10 kg, 6 kg. The springs have 14 and 9 kN/m, the dampers 30 and 12 N s/m. The spring to ground
also has a cubic part of 10⁸ N/m³. The force acts on the 10 kg mass. The force is random in a band of 0.5 to 15 Hz and linear
between samples. Its amplitude gives a chosen value of rms(cubic spring force) / rms(linear spring force).
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

MASS = (10.0, 6.0)  # kg
STIFFNESS = (14e3, 9e3)  # N/m
DAMPING = (30.0, 12.0)  # N s/m
CUBIC = 1e8  # N/m³
BAND = (0.5, 15.0)  # Hz
STEP = 0.01  # s
SUBSTEPS = 4  # Runge–Kutta steps per sample: relative error about 1e-5


@dataclass(frozen=True)
class Record:
    """A record: `force` (time,) in N, `motion` (displacements with noise, (2, time) in m), `clean` (without noise)."""

    force: np.ndarray
    motion: np.ndarray
    clean: np.ndarray


def small_poles() -> np.ndarray:
    """Return the two poles in 1/s with Im > 0 for small motions, slowest first.

    Frequency and damping ratio: 4.12 Hz, 2.46 % and 8.90 Hz, 4.40 %.
    """
    (m1, m2), (k1, k2), (c1, c2) = MASS, STIFFNESS, DAMPING
    below = [[-(k1 + k2) / m1, k2 / m1, -(c1 + c2) / m1, c2 / m1], [k2 / m2, -k2 / m2, c2 / m2, -c2 / m2]]
    values = np.linalg.eigvals(np.vstack([[0, 0, 1, 0], [0, 0, 0, 1], *below]))
    values = values[values.imag > 0]
    return values[np.argsort(values.imag)]


def simulate(force: np.ndarray, cubic: float = CUBIC) -> np.ndarray:
    """Return the displacements (2, time) from rest, by Runge–Kutta steps of fourth order."""
    (m1, m2), (k1, k2), (c1, c2) = MASS, STIFFNESS, DAMPING

    def rate(x: float, y: float, v: float, w: float, f: float) -> tuple[float, float, float, float]:
        between = k2 * (x - y) + c2 * (v - w)
        return v, w, (f - k1 * x - cubic * x * x * x - c1 * v - between) / m1, between / m2

    h = STEP / SUBSTEPS
    state, path = (0.0, 0.0, 0.0, 0.0), [(0.0, 0.0)]
    values = force.tolist()
    for now, then in pairwise(values):
        slope = (then - now) / SUBSTEPS
        for k in range(SUBSTEPS):
            f0 = now + k * slope
            half, f1 = f0 + slope / 2, f0 + slope
            a = rate(*state, f0)
            b = rate(*(s + h / 2 * d for s, d in zip(state, a, strict=True)), half)
            c = rate(*(s + h / 2 * d for s, d in zip(state, b, strict=True)), half)
            e = rate(*(s + h * d for s, d in zip(state, c, strict=True)), f1)
            state = tuple(s + h / 6 * (p + 2 * q + 2 * r + t) for s, p, q, r, t in zip(state, a, b, c, e, strict=True))
        path.append(state[:2])
    return np.array(path).T


def random_force(size: int, seed: int) -> np.ndarray:
    """Return a random force of rms 1 with a flat spectrum in the band."""
    draw = np.random.default_rng(seed)
    frequencies = np.fft.rfftfreq(size, STEP)
    inside = (frequencies >= BAND[0]) & (frequencies <= BAND[1])
    spectrum = inside * (draw.normal(size=(len(frequencies), 2)) @ np.array([1, 1j]))
    values = np.fft.irfft(spectrum, size)
    return values / values.std()


def level(force: np.ndarray, share: float) -> float:
    """Return the factor of a force for which rms(cubic force)/rms(linear force) of the spring to ground is `share`.

    The ratio grows about with the square of the factor, so each trial gives the next factor. The first trials use only a part
    of the force, to save time.
    """
    factor = 10.0
    for samples in (4000, 4000, 4000, len(force), len(force)):
        x = simulate(factor * force[:samples])[0]
        factor *= np.sqrt(share * STIFFNESS[0] * np.sqrt((x**2).mean()) / (CUBIC * np.sqrt((x**6).mean())))
    return float(factor)


def record(size: int = 50_000, seed: int = 1, share: float = 0.1, noise: float = 0.01) -> Record:
    """Return a simulated record.

    size: number of samples.
    seed: seed of the force and of the noise.
    share: rms(cubic force)/rms(linear force) of the spring to ground.
    noise: standard deviation of the white noise, divided by the standard deviation of each displacement.
    """
    force = random_force(size, seed)
    force = level(force, share) * force
    clean = simulate(force)
    draw = np.random.default_rng(1000 + seed)
    return Record(force, clean + noise * clean.std(axis=1, keepdims=True) * draw.normal(size=clean.shape), clean)
