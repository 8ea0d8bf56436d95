"""Fit modes with feedback and linear models to new systems. No constant of the search was chosen with these systems.

    python benchmarks/feedback_untuned.py [CASE …] [--seconds 54] [--out results/benchmarks/feedback_untuned.json]

Each system has 12 records for training, 4 for validation and 6 for the test. The outputs for training and validation have
0.5 % noise, or are quantised. Test outputs have no noise. `error` is the L2 norm of the test error divided by the norm of
the test outputs without their mean. `linear` is the validation error of the last linear model of the search. `growth` is the
largest prediction at three times the amplitude, divided by the largest output of the test: a large value means that the model
diverges outside the training range.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from feedback import Rate, random_force, solved

from lfno.core.grid import Grid
from lfno.core.json_text import to_json
from lfno.core.tensorfile import write_atomically
from lfno.data.stretches import Stretch
from lfno.identification.feedback import fit_feedback

NOISE = 0.005  # standard deviation of the noise, divided by that of the output


@dataclass(frozen=True)
class Case:
    """A system x′ = rate(x, u) from the state `start`.

    The input u is `bias` plus a random force of the rms `size`. With a bias, negative values of u are replaced by zero.

    seen: index of the observed state.
    step: sampling step in s.
    top: highest frequency of the random force in Hz.
    quantum: step of the quantised output; 0 for an output with noise.
    """

    rate: Rate
    start: tuple[float, ...]
    size: float
    seen: int = 0
    bias: float = 0.0
    step: float = 0.1
    top: float = 0.5
    quantum: float = 0.0

    def motions(self, samples: int, seed: int, factor: float = 1.0) -> tuple[np.ndarray, np.ndarray]:
        """Return inputs (samples, time) and outputs (samples, 1, time). `factor` multiplies the rms of the random force."""
        force = self.bias + factor * random_force(800, self.step, 0.02, self.top)(self.size, samples, seed)
        force = np.maximum(force, 0) if self.bias else force
        states = solved(self.rate, np.tile(self.start, (samples, 1)), force, self.step, round(self.step / 0.0125))
        return force, states[:, self.seen : self.seen + 1]

    def stretches(self, samples: int, seed: int) -> list[Stretch]:
        """Return records with noisy or quantised outputs."""
        force, motion = self.motions(samples, seed)
        noise = NOISE * motion.std() * np.random.default_rng(50 + seed).normal(size=motion.shape)
        seen = np.round(motion / self.quantum) * self.quantum if self.quantum else motion + noise
        return [Stretch(u[None], y, start="rest") for u, y in zip(force, seen, strict=True)]


def oscillator(force: Callable[[np.ndarray, np.ndarray], np.ndarray]) -> Rate:
    """ÿ = u − force(y, ẏ)."""
    return lambda x, u: np.stack([x[:, 1], u - force(x[:, 0], x[:, 1])], axis=1)


def chain(x: np.ndarray, u: np.ndarray) -> np.ndarray:
    """Three masses in a chain. A cubic spring connects the second mass to ground.

    The force acts on the first mass, whose position is measured.
    """
    a, b, c, fast, middle, slow = x.T
    first, second = b - a + 0.03 * (middle - fast), c - b + 0.03 * (slow - middle)
    return np.stack([fast, middle, slow, u - a - 0.05 * fast + first, second - first - 2 * b**3, -second], axis=1)


def tanks(x: np.ndarray, u: np.ndarray) -> np.ndarray:
    """Two tanks in a cascade. The outflow of a tank is the square root of its level. At u = 1 both levels settle at 1."""
    upper, lower = np.sqrt(np.maximum(x, 1e-9)).T
    return np.stack([u - upper, upper - lower], axis=1)


def cascade(x: np.ndarray, u: np.ndarray) -> np.ndarray:
    """A Wiener–Hammerstein system: a low-pass filter, a saturation, and an oscillator in series."""
    a, b, rate = x.T
    return np.stack([2 * (u - a), rate, 4 * (np.tanh(1.5 * a) - b) - 0.6 * rate], axis=1)


def gap(y: np.ndarray) -> np.ndarray:
    """The part of y beyond a dead zone of ±0.5."""
    return y - np.clip(y, -0.5, 0.5)


REST = (0.0, 0.0)
CASES: dict[str, Case] = {
    "quadratic and cubic spring": Case(oscillator(lambda y, v: 0.2 * v + y + 0.8 * y**2 + 0.6 * y**3), REST, 0.8),
    "smoothed dry friction": Case(oscillator(lambda y, v: 0.1 * v + y + 0.3 * np.tanh(20 * v)), REST, 1.0),
    "quadratic damping": Case(oscillator(lambda y, v: 0.1 * v + 0.5 * v * abs(v) + y), REST, 1.5),
    "van der Pol": Case(oscillator(lambda y, v: 0.4 * (y**2 - 1) * v + y), REST, 1.0),
    "saturating spring": Case(oscillator(lambda y, v: 0.3 * v + 1.5 * np.tanh(y)), REST, 0.7),
    "dead zone": Case(oscillator(lambda y, v: 0.3 * v + 0.3 * y + 3 * gap(y)), REST, 1.0),
    "cascaded tanks": Case(tanks, (1.0, 1.0), 0.3, seen=1, bias=1.0),
    "chain, cubic spring elsewhere": Case(chain, 3 * REST, 0.6),
    "Wiener–Hammerstein": Case(cascade, (0.0, 0.0, 0.0), 1.0, seen=1),
    "cubic spring and cubic damper": Case(oscillator(lambda y, v: 0.1 * v + 0.3 * v**3 + y + y**3), REST, 1.2),
    "coarsely quantised": Case(oscillator(lambda y, v: 0.2 * v + y + y**3), REST, 1.0, quantum=1 / 60),
    "six points a period": Case(oscillator(lambda y, v: 0.1 * v + y + 0.5 * y**3), REST, 0.6, step=1.0, top=0.12),
}


def row(name: str, seconds: float) -> dict[str, float | str]:
    """Fit one case and measure the model on new data."""
    case, lines, began = CASES[name], [""], time.perf_counter()
    parts = case.stretches(12, 0), case.stretches(4, 1)
    model = fit_feedback(*parts, Grid.line(800, case.step), seconds=seconds, report=lines.append)
    taken = time.perf_counter() - began
    force, motion = case.motions(6, 2)
    size = float(np.linalg.norm(motion - motion.mean()))
    error = float(np.linalg.norm(model.predict(force[:, None]) - motion)) / size
    linear = [line for line in lines if line.startswith("linear")][-1].split("error ")[1].split(",")[0]
    far = np.abs(model.predict(case.motions(2, 3, 3.0)[0][:, None])).max() / np.abs(motion).max()
    return {"case": name, "error": error, "linear": float(linear), "growth": float(far), "seconds": taken, "choice": lines[-1]}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("cases", nargs="*", metavar="CASE", help=f"some of: {'; '.join(CASES)}")
    parser.add_argument("--seconds", type=float, default=54.0, help="time for each fit")
    parser.add_argument("--out", type=Path, help="JSON file for the table")
    given = parser.parse_args()
    rows = []
    for name in given.cases or CASES:
        rows.append(row(name, given.seconds))
        told = (f"{key} {value:.3g}" if isinstance(value, float) else str(value) for key, value in rows[-1].items())
        print(", ".join(told), flush=True)
    if given.out:
        write_atomically(given.out, (to_json(rows, indent=1) + "\n").encode())


if __name__ == "__main__":
    main()
