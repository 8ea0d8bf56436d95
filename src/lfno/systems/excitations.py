"""Random signals in time: multisines, chirps, steps and pulses for training; sawtooth and noise for testing only.

All signals except the noise are smooth functions of t, so that solvers keep their order of accuracy. The noise is a cubic
spline, whose third derivative jumps. Amplitudes and frequencies are random, so that no sample can be interpolated from other
samples.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.interpolate import CubicSpline

from lfno.systems.families import Draws, Family, Mixture

Range = tuple[float, float]


@dataclass(frozen=True)
class Excitation(Family):
    """A family of random signals.

    amplitude: the range of amplitudes.
    band: the range of angular frequencies in rad/s.
    duration: the length of the window in s. The window begins at t = 0.
    """

    amplitude: Range
    band: Range
    duration: float


class Multisine(Excitation):
    """`a √(1/K) Σₖ sin(ωₖ t + φₖ)` with K = 24 sines.

    The frequencies lie between the lower end of the band and a random upper end. The power is the power of one sine with the
    amplitude a.
    """

    tones = 24

    def draw(self, count: int, generator: np.random.Generator) -> Draws:
        low, high = self.band
        top = np.exp(generator.uniform(np.log(np.sqrt(low * high)), np.log(high), (count, 1)))
        return {
            "amplitude": generator.uniform(*self.amplitude, count),
            "frequency": low + (top - low) * generator.random((count, self.tones)),
            "phase": generator.uniform(0, 2 * np.pi, (count, self.tones)),
        }

    def evaluate(self, draws: Draws, *coordinates: np.ndarray) -> np.ndarray:
        (t,) = coordinates
        return draws["amplitude"][:, None] / np.sqrt(self.tones) * sum_of_sines(draws["frequency"], draws["phase"], t)


def sum_of_sines(frequency: np.ndarray, phase: np.ndarray, t: np.ndarray) -> np.ndarray:
    """Return `Σₖ sin(ωₖ t + φₖ)`, (sample, time), at increasing times, for ω and φ of shape (sample, tone).

    For equally spaced times, we use sin(a + b) = sin a cos b + cos a sin b. a belongs to every n-th time, and b to the n times
    after it. The sum is then a product of small matrices, five times faster than one sine for each tone and time.
    """
    n = int(np.sqrt(len(t)))
    if n < 8 or np.ptp(np.diff(t)) > 1e-9 * (t[-1] - t[0]) / len(t):
        return np.sin(frequency[:, :, None] * t + phase[:, :, None]).sum(axis=1)
    starts = frequency[:, None, :] * t[::n, None] + phase[:, None, :]
    steps = frequency[:, :, None] * (t[:n] - t[0])
    left = np.concatenate([np.sin(starts), np.cos(starts)], axis=2)
    right = np.concatenate([np.cos(steps), np.sin(steps)], axis=1)
    return (left @ right).reshape(len(frequency), -1)[:, : len(t)]


class Chirp(Excitation):
    """`a sin(ω₀ t + (ω₁ − ω₀) t²/2T + φ)`: the frequency changes from ω₀ to ω₁ over the window."""

    def draw(self, count: int, generator: np.random.Generator) -> Draws:
        ends = generator.uniform(*self.band, (2, count))
        return {
            "amplitude": generator.uniform(*self.amplitude, count),
            "start": ends[0],
            "end": ends[1],
            "phase": generator.uniform(0, 2 * np.pi, count),
        }

    def evaluate(self, draws: Draws, *coordinates: np.ndarray) -> np.ndarray:
        (t,) = coordinates
        amplitude, start, end, phase = (draws[k][:, None] for k in ("amplitude", "start", "end", "phase"))
        return amplitude * np.sin(start * t + (end - start) * t**2 / (2 * self.duration) + phase)


class Steps(Excitation):
    """Eight steps, the first from zero to a random level in [−a, a], the others to the next random level.

    Each step is `½(1 + tanh((t − tₖ)/τ))` times its height, with τ = 2/ω_high. tₖ is a random time and ω_high the upper end of
    the band.
    """

    levels = 8

    def draw(self, count: int, generator: np.random.Generator) -> Draws:
        amplitude = generator.uniform(*self.amplitude, count)
        return {
            "level": amplitude[:, None] * generator.uniform(-1, 1, (count, self.levels)),
            "time": np.sort(generator.uniform(0, self.duration, (count, self.levels)), axis=1),
        }

    def evaluate(self, draws: Draws, *coordinates: np.ndarray) -> np.ndarray:
        (t,) = coordinates
        rise = 2 / self.band[1]
        total = np.zeros((len(draws["level"]), len(t)))
        for jump, time in zip(np.diff(draws["level"], axis=1, prepend=0.0).T, draws["time"].T, strict=True):
            total += jump[:, None] * 0.5 * (1 + np.tanh((t - time[:, None]) / rise))
        return total


class Pulses(Excitation):
    """Six Gaussian pulses at random times, with random heights in [−2a, 2a].

    Widths lie between 1/ω_high and 4/ω_high, where ω_high is the upper end of the band.
    """

    pulses = 6

    def draw(self, count: int, generator: np.random.Generator) -> Draws:
        amplitude = generator.uniform(*self.amplitude, count)
        return {
            "height": 2 * amplitude[:, None] * generator.uniform(-1, 1, (count, self.pulses)),
            "time": generator.uniform(0, self.duration, (count, self.pulses)),
            "width": generator.uniform(1, 4, (count, self.pulses)) / self.band[1],
        }

    def evaluate(self, draws: Draws, *coordinates: np.ndarray) -> np.ndarray:
        (t,) = coordinates
        total = np.zeros((len(draws["height"]), len(t)))
        for height, time, width in zip(draws["height"].T, draws["time"].T, draws["width"].T, strict=True):
            total += height[:, None] * np.exp(-0.5 * ((t - time[:, None]) / width[:, None]) ** 2)
        return total


class Sawtooth(Excitation):
    """A sawtooth with smooth edges: `a arctan(r sin θ/(1 − r cos θ)) = a Σ rᵏ sin(kθ)/k`, θ = ω t + φ, r = 0.9."""

    sharpness = 0.9

    def draw(self, count: int, generator: np.random.Generator) -> Draws:
        low, high = self.band
        return {
            "amplitude": generator.uniform(*self.amplitude, count),
            "frequency": np.exp(generator.uniform(np.log(low), np.log(np.sqrt(low * high)), count)),
            "phase": generator.uniform(0, 2 * np.pi, count),
        }

    def evaluate(self, draws: Draws, *coordinates: np.ndarray) -> np.ndarray:
        (t,) = coordinates
        amplitude, frequency, phase = (draws[k][:, None] for k in ("amplitude", "frequency", "phase"))
        angle = frequency * t + phase
        return amplitude * np.arctan2(self.sharpness * np.sin(angle), 1 - self.sharpness * np.cos(angle))


class Noise(Excitation):
    """Gaussian noise with the standard deviation a/√2: independent values at times π/ω_high apart, joined by a cubic spline."""

    def draw(self, count: int, generator: np.random.Generator) -> Draws:
        knots = int(np.ceil(self.duration * self.band[1] / np.pi)) + 1
        amplitude = generator.uniform(*self.amplitude, count)
        return {"value": amplitude[:, None] / np.sqrt(2) * generator.standard_normal((count, knots))}

    def evaluate(self, draws: Draws, *coordinates: np.ndarray) -> np.ndarray:
        (t,) = coordinates
        knots = np.pi / self.band[1] * np.arange(draws["value"].shape[1])
        return CubicSpline(knots, draws["value"], axis=1, bc_type="natural")(t)


def rich(amplitude: Range, band: Range, duration: float) -> Mixture:
    """Return the family of inputs for training: multisines, chirps, steps and pulses in equal numbers."""
    where = (amplitude, band, duration)
    return Mixture(multisine=Multisine(*where), chirp=Chirp(*where), steps=Steps(*where), pulses=Pulses(*where))


def unseen(amplitude: Range, band: Range, duration: float) -> Mixture:
    """Return the family of inputs for testing only: signals of other kinds than in `rich`, with equal bands and amplitudes."""
    return Mixture(sawtooth=Sawtooth(amplitude, band, duration), noise=Noise(amplitude, band, duration))
