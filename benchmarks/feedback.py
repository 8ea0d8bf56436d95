"""Fit modes with feedback to systems with known equations, and measure errors on new data, modes, and time.

    python benchmarks/feedback.py [CASE …] [--seconds 60] [--auto MINUTES] [--out results/benchmarks/feedback.json]

With --auto, `lfno.fit` compares a linear model, modes with feedback and LFNO within the given time, and the table describes the
chosen model.

| column             | meaning                                                                              |
|--------------------|--------------------------------------------------------------------------------------|
| parameters         | number of parameters of the fitted model                                             |
| seconds            | time of the fit                                                                      |
| error              | relative L2 error on new data without noise                                          |
| outside            | the same error for "larger inputs" of 1.5 times the training amplitude               |
| flagged            | `out_of_range` of the model for the larger inputs; above 1 the model extrapolates    |
| kind               | kind of the chosen model (with --auto)                                               |
| input              | factor by which the larger inputs exceed the range of the training inputs (--auto)   |
| terms              | functions in the nonlinear feedback                                                  |
| noise floor        | L2 norm of the noise of noisy new data, divided by the norm of these data            |
| against noise      | relative L2 error on these noisy data                                                |
| frequency, damping | largest relative deviation of a mode for small motions from the linearised equation  |
| characteristic     | largest error of the restoring force, divided by the largest restoring force         |

The last two rows need a known restoring force, and the two rows about noise need a case with noise.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import lfno
from lfno.core.grid import Grid
from lfno.core.json_text import to_json
from lfno.core.tensorfile import write_atomically
from lfno.data.stretches import Stretch
from lfno.identification.feedback import FeedbackModel, fit_feedback
from lfno.surrogate import Surrogate
from lfno.systems.ode import ForcedODE
from lfno.systems.registry import find

Rate = Callable[[np.ndarray, np.ndarray], np.ndarray]


@dataclass(frozen=True)
class Case:
    """A system x′ = rate(x, u) from the state `start`.

    seen: indices of the observed states.
    step: sampling step in s.
    substeps: Runge–Kutta steps per sample.
    force: a function (rms, number of samples, seed) → forces (samples, time).
    still: the static restoring force as a function of the first observed state; None if the force depends on other states too.
    noise: standard deviation of the measurement noise, divided by that of the output.
    train: number of training samples.
    """

    rate: Rate
    start: tuple[float, ...]
    seen: tuple[int, ...]
    step: float
    substeps: int
    force: Callable[[float, int, int], np.ndarray]
    still: Callable[[np.ndarray], np.ndarray] | None = None
    noise: float = 0.0
    train: int = 40

    def motions(self, size: float, samples: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
        """Return forces (samples, time) with the rms `size`, and the observed states (samples, outputs, time)."""
        force = self.force(size, samples, seed)
        return force, solved(self.rate, np.tile(self.start, (samples, 1)), force, self.step, self.substeps)[:, list(self.seen)]

    def poles(self) -> np.ndarray:
        """Return the eigenvalues with Im ≥ 0 of the equation linearised about x = 0."""
        n, nudge = len(self.start), 1e-6
        ends = [self.rate(sign * nudge * np.eye(n), np.zeros(n)) for sign in (1, -1)]
        values = np.linalg.eigvals(((ends[0] - ends[1]) / (2 * nudge)).T)
        return values[values.imag >= 0]


def solved(rate: Rate, start: np.ndarray, force: np.ndarray, step: float, substeps: int) -> np.ndarray:
    """Return states (samples, n, time) by fourth-order Runge–Kutta steps. The force is linear between samples."""
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
            x = x + h / 6 * (a + 2 * b + 2 * c + rate(x + h * c, right))
        found[..., k + 1] = x
    return found


def random_force(size: int, step: float, low: float, high: float) -> Callable[[float, int, int], np.ndarray]:
    """Return a function (rms, number of samples, seed) → multisines (samples, time) with random phases.

    size: number of time points.
    step: sampling step in s.
    low, high: the lowest and the highest frequency in Hz.
    """

    def force(amplitude: float, samples: int, seed: int) -> np.ndarray:
        frequency = np.fft.rfftfreq(size, step)
        phase = np.random.default_rng(seed).uniform(0, 2 * np.pi, (samples, len(frequency)))
        values = np.fft.irfft(np.where((frequency >= low) & (frequency <= high), np.exp(1j * phase), 0), size)
        return amplitude * values / values.std(axis=1, keepdims=True)

    return force


def two_masses(x: np.ndarray, u: np.ndarray) -> np.ndarray:
    """Two masses in a chain to ground: 10 and 6 kg, 14 and 9 kN/m, 30 and 12 N s/m. The force acts on the 10 kg mass.

    The first spring also has a cubic part of 10⁸ N/m³.
    """
    one, two, fast, slow = x.T
    link = 9e3 * (one - two) + 12 * (fast - slow)
    return np.stack([fast, slow, (u - 14e3 * one - 1e8 * one**3 - 30 * fast - link) / 10, link / 6], axis=1)


def hysteresis(x: np.ndarray, u: np.ndarray) -> np.ndarray:
    """A Duffing oscillator (position y, velocity v) with a Bouc–Wen hysteresis force ξ: ξ′ = v − 0.8 |v| ξ − 0.4 v |ξ|."""
    place, v, memory = x.T
    fade = v - 0.8 * np.abs(v) * memory - 0.4 * v * np.abs(memory)
    return np.stack([v, u - 0.2 * v - place - 0.3 * place**3 - memory, fade], axis=1)


def oscillator(name: str) -> Rate:
    """Return the right-hand side of a system of the registry."""
    entry = find(name)
    system = entry.system(**entry.parameters)
    assert isinstance(system, ForcedODE)
    return lambda x, u: np.stack(system.rate(x.T, u), axis=1)


CHAIN = random_force(10_000, 0.01, 0.5, 15.0)
SLOW = random_force(1000, 0.05, 0.05, 1.2)
#: name → (case, rms of the training forces)
CASES: dict[str, tuple[Case, float]] = {
    "duffing": (Case(oscillator("duffing-c05"), (0, 0), (0,), 0.05, 8, SLOW, lambda z: z + z**3), 2.0),
    "duffing, 1 % noise": (Case(oscillator("duffing-c05"), (0, 0), (0,), 0.05, 8, SLOW, lambda z: z + z**3, 0.01), 2.0),
    "pendulum": (Case(oscillator("pendulum-c05"), (0, 0), (0,), 0.05, 8, SLOW, np.sin), 0.6),
    "pendulum, 1 % noise": (Case(oscillator("pendulum-c05"), (0, 0), (0,), 0.05, 8, SLOW, np.sin, 0.01), 0.6),
    "two masses, mild, 1 % noise": (
        Case(two_masses, (0, 0, 0, 0), (0, 1), 0.01, 8, CHAIN, lambda z: 14e3 * z + 1e8 * z**3, 0.01, 4), 13.3),
    "two masses, strong, 1 % noise": (
        Case(two_masses, (0, 0, 0, 0), (0, 1), 0.01, 8, CHAIN, lambda z: 14e3 * z + 1e8 * z**3, 0.01, 4), 37.0),
    "hysteresis": (Case(hysteresis, (0, 0, 0), (0,), 0.1, 32, random_force(800, 0.1, 0.02, 0.5), train=12), 1.5),
    "lorenz": (Case(oscillator("lorenz-rho5"), (1, 0, 0), (0,), 0.02, 8, random_force(1000, 0.02, 0.03, 1.3)), 2.5),
}  # fmt: skip


def fitted(case: Case, size: float, seconds: float) -> FeedbackModel:
    """Return modes with feedback, fitted to forces of the rms `size`."""
    rest = [stretches(case, *case.motions(size, count, seed), seed) for count, seed in ((case.train, 0), (4, 1))]
    grid = Grid.line(len(rest[0][0]), case.step)
    return fit_feedback(*rest, grid, seconds=seconds, report=lambda text: print(f"    {text}", flush=True))


def chosen(case: Case, size: float, minutes: float) -> Surrogate:
    """Return the choice of `lfno.fit` between all candidates. A fifth of the samples is its test part."""
    data = stretches(case, *case.motions(size, case.train + 4, 0), 0)
    inputs, outputs = (np.stack([getattr(one, name) for one in data]) for name in ("inputs", "outputs"))
    return lfno.fit((inputs, outputs), dt=case.step, minutes=minutes)


def row(name: str, seconds: float, minutes: float | None) -> dict[str, float | str]:
    """Fit one case and return its row of the table."""
    case, size = CASES[name]
    began = time.perf_counter()
    model: Any = fitted(case, size, seconds) if minutes is None else chosen(case, size, minutes)
    found: dict[str, float | str] = {"case": name, "seconds": time.perf_counter() - began}

    def predicted(force: np.ndarray) -> np.ndarray:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the larger forces are out of range on purpose
            return np.asarray(model.predict(force[:, None]))

    def error(amplitude: float) -> float:
        force, motion = case.motions(amplitude, 4, 2)
        return float(np.linalg.norm(predicted(force) - motion) / np.linalg.norm(motion))

    found |= {"error": error(size), "outside": error(1.5 * size)}
    if case.noise:
        force, motion = case.motions(size, 4, 2)
        noisy = np.stack([stretch.outputs for stretch in stretches(case, force, motion, 3)])
        found["noise floor"] = float(np.linalg.norm(noisy - motion) / np.linalg.norm(noisy))
        found["against noise"] = float(np.linalg.norm(predicted(force) - noisy) / np.linalg.norm(noisy))
    beyond = case.motions(1.5 * size, 4, 2)[0][:, None]
    if isinstance(model, Surrogate):
        outside = model.coverage.excesses(beyond, model.grid) if model.coverage else []
        found |= {"kind": model.kind, "input": max((excess.times for excess in outside), default=0.0)}
        if model.kind != "feedback":
            return found
        model = model.members[0]
    found |= {"parameters": model.parameters, "terms": ", ".join(model.law.terms.names)}
    found["flagged"] = float(model.out_of_range(beyond).max())
    if case.still is not None:
        poles = model.small_signal_modes().poles
        nearest = [poles[np.abs(poles - pole).argmin()] for pole in case.poles()]
        pairs = list(zip(nearest, case.poles(), strict=True))
        found["frequency"] = max(abs(pole.imag / true.imag - 1) for pole, true in pairs)
        found["damping"] = max(abs((pole.real / abs(pole)) / (true.real / abs(true)) - 1) for pole, true in pairs)
    if case.still is not None and model.law.terms.count:
        z, curve, *_ = model.characteristic()
        found["characteristic"] = float(np.abs(curve - case.still(z)).max() / np.abs(case.still(z)).max())
    return found


def stretches(case: Case, force: np.ndarray, motion: np.ndarray, seed: int) -> list[Stretch]:
    """Return one stretch from rest for each sample, with the noise of the case."""
    level = case.noise * motion.std((0, 2))[:, None]
    noisy = motion + level * np.random.default_rng(100 + seed).normal(size=motion.shape)
    return [Stretch(u[None], y, start="rest") for u, y in zip(force, noisy, strict=True)]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("cases", nargs="*", metavar="CASE", help=f"some of: {'; '.join(CASES)}".replace("%", "%%"))
    parser.add_argument("--seconds", type=float, default=60.0, help="time for each fit")
    parser.add_argument("--auto", type=float, metavar="MINUTES", help="let lfno.fit choose a model within this time")
    parser.add_argument("--out", type=Path, help="JSON file for the table")
    given = parser.parse_args()
    rows = []
    for name in given.cases or CASES:
        print(name, flush=True)
        rows.append(row(name, given.seconds, given.auto))
        print("    " + ", ".join(f"{key} {value:.3g}" if isinstance(value, float) else f"{key} {value}"
                                 for key, value in rows[-1].items() if key != "case"), flush=True)  # fmt: skip
    if given.out:
        write_atomically(given.out, (to_json(rows, indent=1) + "\n").encode())


if __name__ == "__main__":
    main()
