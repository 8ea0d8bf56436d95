"""Nonlinear systems with known parameters. Their solver has fine Runge–Kutta steps and shares no code with the library."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from lfno.data.stretches import Stretch

Rate = Callable[[np.ndarray, np.ndarray], np.ndarray]


def solved(rate: Rate, start: np.ndarray, force: np.ndarray, step: float, substeps: int = 8) -> np.ndarray:
    """Return the states (samples, n, time) of x′ = rate(x, u).

    rate: a function from states (samples, n) and inputs (samples,) to rates (samples, n).
    start: initial states (samples, n).
    force: (samples, time), linear between samples.
    """
    h, x = step / substeps, np.array(start, dtype=float)
    found = np.empty((*x.shape, force.shape[-1]))
    found[..., 0] = x
    for k in range(force.shape[-1] - 1):
        now, change = force[:, k], (force[:, k + 1] - force[:, k]) / substeps
        for j in range(substeps):
            left, middle, right = now + change * j, now + change * (j + 0.5), now + change * (j + 1)
            a = rate(x, left)
            b = rate(x + h / 2 * a, middle)
            c = rate(x + h / 2 * b, middle)
            d = rate(x + h * c, right)
            x = x + h / 6 * (a + 2 * b + 2 * c + d)
        found[..., k + 1] = x
    return found


def duffing(x: np.ndarray, u: np.ndarray) -> np.ndarray:
    """Return the rate of (x, ẋ) for ẍ + 0.5 ẋ + x + x³ = u."""
    return np.stack([x[:, 1], u - 0.5 * x[:, 1] - x[:, 0] - x[:, 0] ** 3], axis=1)


def multisines(samples: int, size: int, step: float, top: float, seed: int) -> np.ndarray:
    """Return sums of 20 sines with frequencies up to `top` rad/s and RMS 1, shape (samples, time)."""
    draw = np.random.default_rng(seed)
    frequency, phase = draw.uniform(0.1, top, (samples, 20, 1)), draw.uniform(0, 2 * np.pi, (samples, 20, 1))
    return np.sin(frequency * step * np.arange(size) + phase).sum(1) / np.sqrt(10)


def stretches(force: np.ndarray, motion: np.ndarray, noise: float = 0.0, seed: int = 0) -> list[Stretch]:
    """Return one stretch from rest for each sample of `force` (samples, time) and `motion` (samples, outputs, time).

    noise: standard deviation of the noise that is added, relative to the standard deviation of each output.
    """
    draw = np.random.default_rng(seed)
    level = noise * motion.std((0, 2))[:, None]
    noisy = motion + level * draw.normal(size=motion.shape)
    return [Stretch(u[None], y, start="rest") for u, y in zip(force, noisy, strict=True)]
