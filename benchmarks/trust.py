"""Test the range of validity of inputs, and the prediction intervals of linear models of five systems.

    python benchmarks/trust.py [--splits 50]

The first lines are about inputs. Inputs of twice and five times the amplitude, and of another band, must be flagged: their
distance from the training inputs must be above 1. The program prints the share of flagged inputs in each group. The program
also prints the AUROC (area under the receiver operating characteristic) of the distance. The AUROC compares a group with new
inputs that are similar to the training inputs: at 1, the distance separates the group from these inputs.

The other lines are about intervals. A linear model is identified from forced responses of each system. Its 90 % intervals are
calibrated on 200 responses that were not used in the fit, and tested on 300 other responses, over many random splits. The
coverage, the share of the test responses inside the intervals, should be 90 %.
"""

from __future__ import annotations

import argparse

import numpy as np
from scipy.signal import lsim

from lfno.core.grid import Grid
from lfno.evaluation.conformal import Calibration
from lfno.evaluation.coverage import Coverage
from lfno.identification.identify import identify
from lfno.systems.duffing import Duffing
from lfno.systems.lorenz import Lorenz
from lfno.systems.pendulum import Pendulum

GRID = Grid.line(512, dt=0.05)
T = GRID.axes[0].points
TRAIN = 100  # responses for the fit
CALIBRATION = 200  # responses for the calibration of the intervals
NEW = 300  # number of responses for the test of the intervals, and number of inputs in each group
RANGED = 300  # inputs that define the range of validity


def forces(
    count: int, seed: int, scale: float = 1.0, band: tuple[float, float] = (0.05, 1.0), least: float = 0.5
) -> np.ndarray:
    """Return multisines of 16 tones, (count, 1, time), zero at t = 0.

    The tones of one multisine have the amplitude scale × a / 4. The random number a lies between `least` and 1. Every multisine
    has its own a.

    band: lowest and highest frequency of the tones in Hz.
    """
    rng = np.random.default_rng(seed)
    tones, phases = rng.uniform(*band, (count, 16, 1)), rng.uniform(0, 2 * np.pi, (count, 16, 1))
    size = scale * rng.uniform(least, 1.0, (count, 1)) / 4
    return (size * np.sin(2 * np.pi * tones * T + phases).sum(1) * (1 - np.exp(-T)))[:, None]


def linear(numerator: list[float], denominator: list[float]):
    """Return a function that gives the response of a linear system, from the coefficients of its transfer function."""
    return lambda force: np.stack([lsim((numerator, denominator), one[0], T)[1] for one in force])[:, None]


def solved(system):
    """Return a function that gives the first output of a system of the library."""
    return lambda force: np.asarray(system.solve(force[:, 0], GRID))[:, :1]


SYSTEMS = {
    "oscillator": linear([4.0], [1.0, 0.6, 4.0]),
    "two modes": linear([1.0, 0.5, 20.0], list(np.polymul([1.0, 0.3, 4.0], [1.0, 0.6, 25.0]))),
    "Duffing": solved(Duffing(c=0.5)),
    "pendulum": solved(Pendulum(c=0.5)),
    "Lorenz": solved(Lorenz(rho=5.0)),
}


def auroc(inside: np.ndarray, outside: np.ndarray) -> float:
    """Return the probability that an input out of range has a larger distance than an input in range; ties count as a half."""
    return float((outside[:, None] > inside).mean() + 0.5 * (outside[:, None] == inside).mean())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--splits", type=int, default=50, help="number of random splits into calibration and test")
    splits = parser.parse_args().splits
    train = forces(TRAIN, 0)
    for least in (0.8, 0.5):
        ranged = Coverage.of(forces(RANGED, 3, least=least), GRID)
        known = ranged.distances(forces(NEW, 1, least=least), GRID)
        others = {"2×": (2.0, (0.05, 1.0)), "5×": (5.0, (0.05, 1.0)), "other band": (1.0, (2.0, 4.0))}
        print(f"amplitudes from {least} to 1: {100 * (known > 1).mean():.1f} % of the inputs in range are flagged")
        for seed, (name, (scale, band)) in enumerate(others.items(), start=4):
            outside = ranged.distances(forces(NEW, seed, scale, band, least), GRID)
            print(f"    {name:12s} AUROC {auroc(known, outside):.3f}, flagged {100 * (outside > 1).mean():.1f} %", flush=True)
    for name, respond in SYSTEMS.items():
        noise = np.random.default_rng(7)
        responses = respond(train)
        model = identify(train, responses + 0.01 * responses.std() * noise.normal(size=responses.shape), GRID, max_poles=4)
        held = forces(CALIBRATION + NEW, 8)
        truth = respond(held)
        truth = truth + 0.01 * truth.std() * noise.normal(size=truth.shape)
        answer = model.simulate(held, GRID.steps[0])
        kept: dict[bool, list[float]] = {True: [], False: []}
        for split in range(splits):
            order = np.random.default_rng(split).permutation(len(held))
            first, rest = order[:CALIBRATION], order[CALIBRATION:]
            calibration = Calibration.of(answer[first], truth[first], seed=split)
            missed = np.abs(answer[rest] - truth[rest])[:, 0]
            for everywhere in (True, False):
                inside_bounds = missed <= calibration.half_width(0.9, everywhere)[0]
                kept[everywhere].append(float((inside_bounds.all(-1) if everywhere else inside_bounds).mean()))
        error = np.linalg.norm(answer - truth) / np.linalg.norm(truth)
        print(f"{name:12s} error {error:7.3f}   coverage of trajectories {100 * np.mean(kept[True]):5.1f} %, of points "
              f"{100 * np.mean(kept[False]):5.1f} %", flush=True)  # fmt: skip


if __name__ == "__main__":
    main()
