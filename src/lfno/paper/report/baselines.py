"""The errors of the baselines, computed once for each data set and stored beside the records."""

from __future__ import annotations

import json
import math
import subprocess
import sys
import time
from collections.abc import Iterable
from pathlib import Path

from lfno.paper.report.selection import OUTSIDE

#: baseline -> {"l2", "linf"}
Scores = dict[str, dict[str, float]]

NAMES = {
    "mean": "mean of the training outputs",
    "persistence": "persistence: the first state for ever",
    "interpolation": "interpolation in the sample parameter",
    "linear": "best linear model",
}


def compute(task: str) -> Scores:
    """Fit every baseline that the data allow on the training part of the standard split, and score it on the test part.

    For NAME-out, the baselines are fitted to NAME and scored on the inputs of NAME-out.
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
    scores: Scores = {}
    for name, predict in models.items():
        prediction = predict(test.inputs, places[1])
        scores[name] = {
            "l2": float(relative_l2(prediction, test.outputs).mean()),
            "linf": float(relative_linf(prediction, test.outputs).mean()),
        }
    return scores


def gather(tasks: Iterable[str], results: Path, seconds: float) -> dict[str, Scores]:
    """Return the baselines of these tasks: the stored ones in `results/baselines`, and as many others as the time allows.

    New results are stored there. If the baselines of a task take too long, its row shows a dash.
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
    """Return the scores in a file; None if there is no readable file."""
    try:
        tree = json.loads(path.read_text())
        return {
            name: {metric: float(row[metric]) for metric in ("l2", "linf") if math.isfinite(float(row[metric]))}
            for name, row in tree.items()
            if name in NAMES
        }
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return None


def _compute_within(task: str, path: Path, seconds: float) -> bool:
    """Compute the baselines of a task in a separate process, which can be stopped after `seconds`. Returns whether it
    finished.
    """
    command = [sys.executable, "-m", "lfno.paper.report.baselines", task, str(path)]
    try:
        return subprocess.run(command, capture_output=True, timeout=seconds).returncode == 0
    except subprocess.TimeoutExpired:
        return False


def main(task: str, path: str) -> None:
    """Compute the baselines of a task and write them to a file."""
    from lfno.core.tensorfile import write_atomically

    write_atomically(Path(path), (json.dumps(compute(task), indent=1) + "\n").encode())


if __name__ == "__main__":
    main(*sys.argv[1:])
