"""The inputs that a user can choose for an oscillator: a signal with a formula, or a curve drawn by hand."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from lfno.app.values import Query, number, whole, word
from lfno.core.errors import LfnoError

DURATION = 20.48  # s; duration of the inputs of all oscillators
DECAY = 0.05  # 1/s; decay rate of the paper's decaying sine
TONES = 12  # largest number of sines in a multisine; below 0.59 Hz, there are fewer multiples of 1/DURATION than this
MOST_DRAWN = 512  # largest number of points of a curve drawn by hand
LARGEST = 40.0  # largest amplitude, in the unit of the input
FASTEST = 4.0  # Hz; highest frequency

#: kind -> (formula, whether the kind has a frequency, whether the kind has a seed)
KINDS = {
    "decaying sine": ("A e^(−0.05 t) sin 2πft", True, False),
    "sine": ("A sin 2πft", True, False),
    "multisine": ("A √(1/K) Σₖ sin(2πfₖt + φₖ), K ≤ 12 tones fₖ up to f", True, True),
    "chirp": ("A sin 2π(0.02 t + (f − 0.02) t²/2T), T = 20.48 s", True, False),
    "step": ("A for t ≥ 1 s, 0 before", False, False),
    "pulse": ("A for 1 s ≤ t < 1 s + 1/(2f), 0 otherwise", True, False),
    "random": ("A Σₖ aₖ sin(2πkt/T + φₖ), k/T ≤ f, aₖ and φₖ at random, Σₖ aₖ² = 1", True, True),
    "drawn by hand": ("straight lines between the points that were drawn", False, False),
}


@dataclass(frozen=True)
class Input:
    """An input f(t), a function of any time t.

    kind: one of KINDS.
    amplitude: the number A in the formula.
    frequency: the number f in the formula, in Hz.
    seed: seed of random phases and amplitudes.
    points: values of a curve drawn by hand, at equal distances over DURATION.

    Multisine and random signals have the power of a sine of the same amplitude. Their period is DURATION, so their frequencies
    are multiples of 1/DURATION. The lowest frequency is 1/DURATION, also if f is lower.

    >>> Input("sine", 2.0, 0.25)(np.array([0.0, 1.0])).round(6).tolist()
    [0.0, 2.0]
    """

    kind: str
    amplitude: float = 1.0
    frequency: float = 0.5
    seed: int = 0
    points: tuple[float, ...] = field(default=(), repr=False)

    @classmethod
    def of(cls, query: Query) -> Input:
        """Return the input that a query of the page describes."""
        kind = word(query, "kind", tuple(KINDS))
        amplitude = number(query, "amplitude", -LARGEST, LARGEST, 1.0)
        frequency = number(query, "frequency", 0.005, FASTEST, 0.5)
        points = _points(query.get("points")) if kind == "drawn by hand" else ()
        return cls(kind, amplitude, frequency, whole(query, "seed", 10**6), points)

    @property
    def formula(self) -> str:
        return f"f(t) = {KINDS[self.kind][0]}"

    def __call__(self, t: Any) -> np.ndarray:
        """Return the values at the times `t`, a number or an array."""
        a, f = self.amplitude, self.frequency
        if self.kind == "drawn by hand":
            return np.interp(t, *self._drawn)
        if self.kind in ("multisine", "random"):
            weights, frequencies, phases = self._tones
            return np.sin(np.multiply.outer(t, frequencies) + phases) @ weights
        if self.kind == "step":
            return a * np.greater_equal(t, 1.0)
        if self.kind == "pulse":
            return a * (np.greater_equal(t, 1.0) & np.less(t, 1.0 + 0.5 / f))
        if self.kind == "chirp":
            return a * np.sin(2 * np.pi * (0.02 * t + (f - 0.02) * t * t / (2 * DURATION)))
        decay = np.exp(-DECAY * t) if self.kind == "decaying sine" else 1.0
        return a * decay * np.sin(2 * np.pi * f * t)

    @cached_property
    def _tones(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return weights, angular frequencies (rad/s) and phases (rad) of the sines, each (tones,)."""
        draw = np.random.default_rng(self.seed)
        highest = max(1, int(self.frequency * DURATION))
        if self.kind == "multisine":
            lines = np.unique(np.linspace(1, highest, min(TONES, highest)).round())
            weights = np.full(len(lines), self.amplitude / np.sqrt(len(lines)))
        else:
            lines = np.arange(1.0, highest + 1)
            drawn = draw.standard_normal(highest)
            weights = self.amplitude * drawn / np.linalg.norm(drawn)
        return weights, 2 * np.pi * lines / DURATION, draw.uniform(0, 2 * np.pi, len(lines))

    @cached_property
    def _drawn(self) -> tuple[np.ndarray, np.ndarray]:
        """Return times and values of the points drawn by hand, each (points,)."""
        return np.linspace(0, DURATION, len(self.points)), np.array(self.points)


def _points(values: Any) -> tuple[float, ...]:
    """Return the checked values of a curve drawn by hand."""
    if not isinstance(values, Sequence) or isinstance(values, str) or not 2 <= len(values) <= MOST_DRAWN:
        raise LfnoError(f"a drawn input must have 2 to {MOST_DRAWN} points")
    return tuple(number({"point": value}, "point", -LARGEST, LARGEST) for value in values)
