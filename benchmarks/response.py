"""Compare the nonlinear frequency response of shipped models with the solver: errors and times.

    python benchmarks/response.py [NAME …] [--frequencies 50] [--amplitudes 20] [--out FILE.json]

NAME is a data set with random inputs and a shipped model of the same name. The sine inputs cover the frequencies and amplitudes
of the chirps in the training inputs. A point is one frequency and one amplitude. The error at a point is the rms of the
difference between the steady responses of model and solver (harmonics 0 to 5), divided by the rms of the response of the
solver. The table gives the mean and the median over the points whose true steady state does not depend on the initial state
("unique"). The mean should be at most twice the error of the prediction on the test samples.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path
from typing import Any

import numpy as np

import lfno
from lfno.core.json_text import to_json
from lfno.core.tensorfile import write_atomically
from lfno.evaluation.response import Response, system_response
from lfno.evaluation.truth import trained_entry, true_system
from lfno.systems.excitations import Chirp
from lfno.systems.families import Mixture
from lfno.systems.ode import ForcedODE
from lfno.systems.tones import tone_response, without_turns

NAMES = ("duffing-c05-rich", "pendulum-c05-rich")
MOST = 2.0  # largest promised ratio of the error of the response to the error of the prediction


def point_errors(found: Response, truth: Response, turn: float) -> np.ndarray:
    """Relative L2 error over a cycle, (amplitudes, frequencies), by Parseval's identity; NaN where the truth is not unique.

    turn: 2π if the output is an angle, else 0. Two mean angles that differ by a multiple of 2π count as equal.
    """
    weight = np.where(np.arange(found.harmonics.shape[-1]) == 0, 1.0, 0.5)

    def size(harmonics: np.ndarray) -> np.ndarray:
        return np.sqrt((weight * np.abs(harmonics) ** 2).sum((-2, -1)))

    assert truth.unique is not None
    return np.where(truth.unique, size(without_turns(found.harmonics - truth.harmonics, turn)) / size(truth.harmonics), np.nan)


def tones(name: str, frequencies: int, amplitudes: int) -> tuple[np.ndarray, np.ndarray]:
    """Return frequencies in Hz and amplitudes that cover the chirps in the training inputs of a data set.

    Raises AssertionError if the inputs of the data set contain no chirps.
    """
    entry = trained_entry({"data": name})
    assert entry is not None
    assert isinstance(entry.family, Mixture)
    chirp = entry.family.members["chirp"]
    assert isinstance(chirp, Chirp)
    low, high = (omega / (2 * np.pi) for omega in chirp.band)
    return np.geomspace(low, high, frequencies), np.linspace(*chirp.amplitude, amplitudes)


def row(name: str, frequencies: int, amplitudes: int) -> dict[str, Any]:
    """Return the row of the table for one data set."""
    model, system = lfno.load(name), true_system({"data": name})
    assert isinstance(system, ForcedODE)
    where = tones(name, frequencies, amplitudes)
    model.response(where[0][:2], where[1], warn=False)  # the first call prepares matrices
    begin = time.perf_counter()
    found = model.response(*where, warn=False)
    own = time.perf_counter() - begin
    begin = time.perf_counter()
    each = np.meshgrid(*where)
    tone_response(system, each[0].ravel(), each[1].ravel(), elsewhere=())  # without the test of uniqueness
    solver = time.perf_counter() - begin
    truth = system_response(system, *where)
    errors = point_errors(found, truth, system.turn)
    accuracy = model.accuracy
    return {"name": name, "points": errors.size, "unique": int(np.isfinite(errors).sum()), "error": float(np.nanmean(errors)),
            "median": float(np.nanmedian(errors)), "prediction": accuracy, "ratio": float(np.nanmean(errors)) / accuracy,
            "seconds": own, "solver_seconds": solver, "times": solver / own}  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", default=NAMES, metavar="NAME")
    parser.add_argument("--frequencies", type=int, default=50)
    parser.add_argument("--amplitudes", type=int, default=20)
    parser.add_argument("--out", type=Path, help="JSON file for the table")
    given = parser.parse_args()
    headings = ("points", "unique", "error %", "median %", "prediction %", "ratio", "model s", "solver s", "times faster")
    print(f"{'data set':20s}" + "".join(f"{word:>14s}" for word in headings))
    rows = []
    for name in given.names:
        rows.append(one := row(name, given.frequencies, given.amplitudes))
        cells = [f"{one['points']}", f"{one['unique']}"]
        cells += [f"{100 * one[key]:.2f}" for key in ("error", "median", "prediction")]
        cells += [f"{one[key]:.2f}" for key in ("ratio", "seconds", "solver_seconds")] + [f"{one['times']:.0f}"]
        print(f"{name:20s}" + "".join(f"{cell:>14s}" for cell in cells), flush=True)
    print(f"promised: an error of at most {MOST:g} times the error of the prediction")
    if given.out:
        write_atomically(given.out, to_json(rows, indent=1).encode())


if __name__ == "__main__":
    main()
