"""The errors of the baselines. They are computed once for each data set and stored beside the records."""

from __future__ import annotations

import json
import math
import subprocess
import sys
import time
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from lfno.core.errors import LfnoError
from lfno.core.json_text import to_json, with_nan
from lfno.paper.report.selection import OUTSIDE

if TYPE_CHECKING:
    from lfno.surrogate import Surrogate

#: baseline -> {"l2", "linf"}, its mean relative errors on the test samples
Scores = dict[str, dict[str, float]]

#: baseline -> its name in tables
NAMES = {
    "mean": "mean of the training outputs",
    "persistence": "persistence: the initial state for ever",
    "interpolation": "interpolation between training samples",
    "linear": "linear baseline",
    "identified": "identified equations: modes with feedback, or the equation of a field",
}
#: kinds of shipped models that are identified equations
IDENTIFIED = ("feedback", "equation")


def compute(task: str) -> Scores:
    """Return the test errors of all baselines that are possible for a data set. They are fitted to its training samples.

    If the shipped model of the data set is an identified equation, this model counts as a baseline.

    For a name that ends with `-out`, the baselines are fitted to the data set without this ending, and tested on the samples
    with other kinds of input.
    """
    import lfno
    from lfno.data.split import of
    from lfno.evaluation.baselines import fit_baselines
    from lfno.evaluation.metrics import relative_l2, relative_linf
    from lfno.paper.matrix import Cell

    name = task.removesuffix(OUTSIDE)
    data = lfno.dataset(name)
    split = of(data)
    train, test = data[split.train], data[split.test]
    singles = [values for values in data.parameters.values() if values.ndim == 1]
    single = singles[0] if len(data.parameters) == len(singles) == 1 else None
    other = Cell(name, "lfno").out_of_family
    if name != task and other is not None:
        test, single = lfno.dataset(other), None
    places = (None, None) if single is None else (single[split.train], single[split.test])
    models = fit_baselines(train.inputs, train.outputs, places[0], data.grid)
    if task == name and (known := _identified(task)) is not None:
        models["identified"] = lambda inputs, place: known.predict(inputs)
    scores: Scores = {}
    for name, predict in models.items():
        prediction = predict(test.inputs, places[1])
        scores[name] = {
            "l2": float(relative_l2(prediction, test.outputs).mean()),
            "linf": float(relative_linf(prediction, test.outputs).mean()),
        }
    return scores


def _identified(task: str) -> Surrogate | None:
    """Return the shipped model of a data set if it is an identified equation, else None."""
    import lfno

    try:
        model = lfno.load(task)
    except LfnoError:
        return None
    return model if model.kind in IDENTIFIED else None


def gather(tasks: Iterable[str], results: Path, seconds: float) -> dict[str, Scores]:
    """Return the errors of the baselines of these data sets.

    Errors in `results/baselines` are read. Missing errors are computed and stored, as many as possible in the given number of
    seconds. A data set without errors is left out.
    """
    from lfno.systems import REGISTRY

    end = time.monotonic() + seconds
    found: dict[str, Scores] = {}
    for task in (task for task in dict.fromkeys(tasks) if task.removesuffix(OUTSIDE) in REGISTRY):
        path = results / "baselines" / f"{task}.json"
        scores = read(path)
        if scores is None and time.monotonic() < end and _compute_within(task, path, end - time.monotonic()):
            scores = read(path)
        if scores is not None:
            found[task] = scores
    return found


def read(path: Path) -> Scores | None:
    """Return the errors in a file, or None if the file cannot be read. Errors that are not finite are left out."""
    try:
        tree = json.loads(path.read_text())
        return {
            name: {metric: float(row[metric]) for metric in ("l2", "linf") if math.isfinite(float(row[metric]))}
            for name, row in with_nan(tree).items()
            if name in NAMES
        }
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return None


def _compute_within(task: str, path: Path, seconds: float) -> bool:
    """Compute the baselines of a data set in another process, which is stopped after `seconds`. Returns True if it finished."""
    command = [sys.executable, "-m", "lfno.paper.report.baselines", task, str(path)]
    try:
        return subprocess.run(command, capture_output=True, timeout=seconds).returncode == 0
    except subprocess.TimeoutExpired:
        return False


def main(task: str, path: str) -> None:
    """Compute the errors of the baselines of a data set and write them to a file."""
    from lfno.core.tensorfile import write_atomically

    write_atomically(Path(path), (to_json(compute(task), indent=1) + "\n").encode())


if __name__ == "__main__":
    main(*sys.argv[1:])
