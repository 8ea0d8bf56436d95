"""Draw random records like those of laboratories, with many lengths, gaps, initial states, periods, labels and file formats."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from scipy.io import savemat

from tests.data.laboratory import multisine, resonance

STEP = 0.05  # s; sampling step of all runs
#: names of force and motion
LABELS = (("force", "x"), ("u", "y"), ("input", "output"), ("excitation", "response"), ("drive", "a1"), ("a", "b"))
#: forms of the file or the arrays, in this order: one record; arrays (run, time); arrays (time, run); a table with run numbers;
#: a table without run numbers, in which the time starts again; a list of records; cells of MATLAB; structures of MATLAB; arrays
#: with the four axes (time, channel, run, period)
KINDS = ("one", "stacked", "turned", "numbered table", "restarting table", "several", "cells", "structures", "four axes")


@dataclass
class Situation:
    """Measured signals in the form in which a laboratory has them.

    kind: one of KINDS.
    runs: (force, motion) of each run, each (time,).
    source: the file or the arrays with these runs.
    options: options of `prepare`.
    measured: all measured values of the motion.
    """

    kind: str
    runs: list[tuple[np.ndarray, np.ndarray]]
    source: Any
    options: dict[str, Any] = field(default_factory=dict)
    measured: set[float] = field(default_factory=set)


def draw(seed: int, folder: Path) -> Situation:
    """Draw one situation; the same seed gives the same situation."""
    rng = np.random.default_rng(seed)
    kind = str(rng.choice(KINDS))
    equal = kind in ("stacked", "turned", "four axes") or rng.random() < 0.3
    count = 1 if kind == "one" else int(rng.integers(2, 9))
    size = int(rng.choice([5, 17, 40, 120, 300, 800]))
    period = int(rng.choice([0, 0, 16, 40, 100])) or None
    if kind == "four axes":
        period, size = 64, 192
    runs = []
    for _ in range(count):
        own = size if equal else max(3, int(size * rng.uniform(0.3, 2)))
        before = 0 if rng.random() < 0.6 else 200
        force = rng.normal(size=own + before)
        if period:
            force = np.tile(multisine(period, max(2, period // 8), rng), (own + before) // period + 1)[: own + before]
        motion = resonance(force)[before:] + (0.01 * rng.normal(size=own) if rng.random() < 0.5 else 0.0)
        force = force[before:]
        if rng.random() < 0.3 and kind != "four axes":
            _gap(rng, motion)
        if rng.random() < 0.1 and kind != "four axes":
            _gap(rng, force)
        runs.append((force, motion))
    names = LABELS[int(rng.integers(len(LABELS)))]
    source = _stored(kind, runs, names, rng, folder / f"{seed}")
    options: dict[str, Any] = {}
    if names == ("a", "b") and rng.random() < 0.8:
        options |= {"input": "a", "output": "b"}
    choices = {
        "window": int(rng.choice([16, 64, 5000])),
        "warmup": int(rng.choice([0, 10, 100])),
        "from_rest": True,
        "periodic": str(rng.choice(["no", "auto", "2.0", "1e9", "x"])),
        "test": str(rng.choice(["0:1", "1:2", "3:99"])),
    }
    options |= {name: value for name, value in choices.items() if rng.random() < 0.15}
    finite = {float(value) for _, motion in runs for value in motion if np.isfinite(value)}
    return Situation(kind, runs, source, options, finite)


def _gap(rng: np.random.Generator, values: np.ndarray) -> None:
    """Replace up to 29 successive values by NaN."""
    start = int(rng.integers(len(values)))
    values[start : start + int(rng.integers(1, 30))] = np.nan


def _stored(
    kind: str, runs: list[tuple[np.ndarray, np.ndarray]], names: tuple[str, str], rng: np.random.Generator, stem: Path
) -> Any:
    """Return the runs in the form `kind`: as arrays, or as the path of a file.

    stem: the path of the file without its ending.
    """
    times = [STEP * np.arange(len(force)) for force, _ in runs]
    if kind == "one":
        return {"t": times[0], names[0]: runs[0][0], names[1]: runs[0][1]}
    if kind in ("stacked", "turned"):
        arrays = {name: np.stack([run[k] for run in runs]) for k, name in enumerate(names)}
        return {"t": times[0]} | {name: values.T if kind == "turned" else values for name, values in arrays.items()}
    if kind == "several":
        return [{"time": t, names[0]: force, names[1]: motion} for t, (force, motion) in zip(times, runs, strict=True)]
    if kind in ("numbered table", "restarting table"):
        table = {"t": np.concatenate(times)} | {name: np.concatenate([run[k] for run in runs]) for k, name in enumerate(names)}
        if kind == "numbered table":
            table["run"] = np.repeat(np.arange(len(runs)) + 1.0, [len(t) for t in times])
        if rng.random() < 0.5:
            return table
        path = stem.with_suffix(".csv")
        rows = np.stack(list(table.values()), 1)
        np.savetxt(path, rows, delimiter=",", header=",".join(table), comments="", fmt="%.17g")
        return path
    if kind == "four axes":
        shaped = {name: np.stack([run[k].reshape(3, 64).T for run in runs], 1)[:, None] for k, name in enumerate(names)}
        return shaped | {"fs": np.array([1 / STEP])}
    path = stem.with_suffix(".mat")
    if kind == "cells":
        content: dict[str, Any] = {"Ts": STEP}
        for k, name in enumerate(names):
            content[name] = np.empty((1, len(runs)), object)
            for place, run in enumerate(runs):
                content[name][0, place] = run[k][:, None]
    else:
        dtype = [(names[0], object), (names[1], object), ("Ts", object)]
        content = {"data": np.array([[(force, motion, STEP) for force, motion in runs]], dtype=dtype)}
    savemat(path, content)
    return path
