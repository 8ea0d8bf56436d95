"""Compare small-signal modes with the eigenvalues of the linearised equations.

    python benchmarks/modes.py [masses] [NAME …] [--feedback] [--seconds S] [--out FILE.json]

`masses` is a simulated record of 50,000 samples of two masses with a cubic spring and 1 % noise (see masses.py). The program
fits two models to this record: a linear model, and a model with feedback. A model with feedback has linear modes and a
nonlinear force that acts back on them. NAME is a data set with random inputs, for example duffing-c05-rich. The program takes
the shipped model of this name. With --feedback, it also fits a linear model and a model with feedback to this data set.

The table lists every mode that contributes at least 5 % to the response, with the nearest true pole λ and the relative error
|Δλ|/|λ|, which should be at most 2 %.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path
from typing import Any

import masses
import numpy as np

import lfno
from lfno.core.errors import LfnoError
from lfno.core.grid import Grid
from lfno.core.json_text import to_json
from lfno.core.tensorfile import write_atomically
from lfno.data.prepare import Prepared, prepare
from lfno.data.signals.record import Record
from lfno.data.split import standard
from lfno.evaluation.truth import true_poles
from lfno.identification.feedback import fit_feedback
from lfno.identification.modal import ModalModel, identify_signals
from lfno.identification.mode import Mode, mode_list
from lfno.systems.base import Channel

RICH = ("duffing-c05-rich", "pendulum-c05-rich", "lorenz-rho5-rich")
LEAST = 0.05  # smallest contribution of a mode in the table: its share of the response
MOST = 0.02  # largest promised error |Δλ|/|λ| of a pole λ


def row(what: str, model: str, modes: list[Mode], truth: np.ndarray, seconds: float) -> list[dict[str, Any]]:
    """Print and return one line for each mode whose contribution is at least LEAST.

    what, model: the system and the kind of the model, for the table.
    truth: the true poles.
    seconds: the time that the model needed.
    """
    lines = []
    for mode in modes:
        if mode.contribution < LEAST:
            continue
        nearest = truth[np.abs(truth - mode.pole).argmin()]
        error = float(abs(mode.pole - nearest) / abs(nearest))
        lines.append({"system": what, "model": model, "frequency": mode.frequency, "damping": mode.damping_ratio,
                      "contribution": mode.contribution, "true": [nearest.real, nearest.imag], "error": error,
                      "seconds": seconds})  # fmt: skip
        print(f"{what:20s}{model:>10s}{mode.frequency:10.4f}{mode.damping_ratio:10.4f}{mode.contribution:8.2f}"
              f"{nearest.imag / (2 * np.pi):10.4f}{-nearest.real / abs(nearest):10.4f}{100 * error:9.3f}"
              f"{'' if error <= MOST else '  above the promise'}", flush=True)  # fmt: skip
    return lines


def feedback_rows(what: str, prepared: Prepared, truth: np.ndarray, seconds: float | None) -> list[dict[str, Any]]:
    """Fit the linear and the feedback model to prepared data and return the lines of their modes."""
    begin = time.perf_counter()
    linear: ModalModel = identify_signals(prepared)
    found = row(what, "linear", mode_list(linear.modes), truth, time.perf_counter() - begin)
    begin = time.perf_counter()
    model = fit_feedback(
        prepared.stretches("train"), prepared.stretches("validation"), prepared.dataset.grid, start=linear,
        seconds=seconds, report=lambda text: print(f"  {text}", flush=True),
    )  # fmt: skip
    modes = mode_list(model.small_signal_modes())
    return found + row(what, "feedback", modes, truth, time.perf_counter() - begin)


def two_masses(seconds: float | None) -> list[dict[str, Any]]:
    """Return the lines for the record of two masses."""
    made = masses.record()
    channels = (Channel("force", "N"),), (Channel("x", "m"), Channel("y", "m"))
    grid = Grid.line(len(made.force), masses.STEP)
    prepared = prepare(Record(made.force[None], made.motion, grid, *channels, {"name": "masses"}))
    return feedback_rows("two masses", prepared, masses.small_poles(), seconds)


def shipped(name: str, feedback: bool, seconds: float | None) -> list[dict[str, Any]]:
    """Return the lines for the shipped model `name`; with `feedback`, also for models that are fitted to this data set."""
    truth = true_poles({"data": {"name": name}})
    assert truth is not None
    try:
        model = lfno.load(name)
    except LfnoError:
        print(f"{name:20s}  no model of this name is shipped")
        found = []
    else:
        begin = time.perf_counter()
        found = row(name, model.kind, model.modes(), truth, time.perf_counter() - begin)
    if feedback:
        data = lfno.dataset(name)
        found += feedback_rows(name, Prepared(data, standard(len(data)), []), truth, seconds)
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"masses, {', '.join(RICH)}; all if not given")
    parser.add_argument("--feedback", action="store_true", help="fit a model with feedback to the data sets NAME, too")
    parser.add_argument("--seconds", type=float, help="time budget for each fit of a model with feedback, in s")
    parser.add_argument("--out", type=Path, help="JSON file for the table")
    given = parser.parse_args()
    headings = (("Hz", 10), ("damping", 10), ("share", 8), ("true Hz", 10), ("damping", 10), ("error %", 9))
    print(f"{'system':20s}{'model':>10s}" + "".join(f"{word:>{width}s}" for word, width in headings))
    rows = []
    for name in given.names or ("masses", *RICH):
        rows += two_masses(given.seconds) if name == "masses" else shipped(name, given.feedback, given.seconds)
    print(f"promised: an error of at most {100 * MOST:g} % for modes with at least {100 * LEAST:g} % of the response")
    if given.out:
        write_atomically(given.out, to_json(rows, indent=1).encode())


if __name__ == "__main__":
    main()
