"""The record of one trained run: a JSON file with all values that tables and figures need."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from lfno.core.errors import LfnoError
from lfno.core.grid import Grid
from lfno.core.json_text import to_json, with_nan
from lfno.evaluation.metrics import relative_l2, relative_linf
from lfno.evaluation.regimes import regimes

#: time step at which the paper divides the error into a transient and a steady regime. Series of at most 2 SPLIT steps are
#: divided at a quarter of their steps
SPLIT = 500
#: entries of a record that hold only numbers; null in the file is NaN in the record
MEASURED = ("scores", "at", "samples", "regimes", "history", "out_of_family")


@dataclass(frozen=True)
class RunRecord:
    """The record of one run: a model on one data set with one seed.

    task: name of the data set.
    model: "lfno", "lno" or "fno".
    label: name of the row in tables ("LFNO", "FNO", "FNO deep", …).
    preset, seed, fold, study: as in `lfno.paper.matrix.Cell`.
    config: options of the model.
    training: options of the training.
    parameters: number of parameters, with complex numbers counted once and twice.
    train_samples: number of training samples.
    best_epoch: epoch with the smallest validation error, whose weights are kept.
    seconds: training time of this run; runs that were trained together share the time equally.
    stacked: number of runs that were trained together.
    scores: mean test errors {"l2", "linf"}.
    at: milestone (an epoch, see `lfno.paper.matrix.Cell.milestones`) → the scores of the best weights up to this epoch.
    samples: "l2", "linf" and each scalar parameter of the data set → values for all test samples.
    regimes: "split" and, for "transient" and "steady", the mean and variance over time of the error, and its smoothed curve
        (some steps only); see `regime_summary`.
    history: "epoch", "rate" (learning rate), "seconds" (of the whole stack), "train" and "validation" (losses), at some of the
        validations.
    example: one test sample for figures: "index", "input", "truth", "prediction", "transient", "steady" (some time steps only),
        and "poles" of the model. Empty except in the main study with seed 0 and fold 0.
    environment: hardware, and versions of the software.
    out_of_family: errors on kinds of input that no training set has; empty if there is no such data set.
    """

    task: str
    model: str
    label: str
    preset: str
    seed: int
    fold: int
    study: str
    config: dict[str, Any]
    training: dict[str, Any]
    parameters: dict[str, int]
    train_samples: int
    best_epoch: int
    seconds: float
    stacked: int
    scores: dict[str, float]
    at: dict[str, dict[str, float]]
    samples: dict[str, list[float]]
    regimes: dict[str, Any]
    history: dict[str, list[float]]
    example: dict[str, Any]
    environment: dict[str, str] = field(default_factory=dict)
    out_of_family: dict[str, float] = field(default_factory=dict)

    @property
    def key(self) -> str:
        """The path of the file inside the folder of records."""
        return f"{self.study}/{self.preset}/{self.task}/{self.label.replace(' ', '-')}-s{self.seed}-f{self.fold}.json"

    def write(self, folder: Path) -> Path:
        """Write the record into a folder, and return the path of the file."""
        from lfno.core.tensorfile import write_atomically

        path = folder / self.key
        write_atomically(path, (to_json(asdict(self), separators=(",", ":")) + "\n").encode())
        return path


def load_records(folder: Path) -> list[RunRecord]:
    """Return all records in a folder and its subfolders, sorted by path."""
    records = []
    for path in sorted(Path(folder).rglob("*.json")):
        record = read_record(path)
        if record is not None:
            records.append(record)
    return records


def read_record(path: Path) -> RunRecord | None:
    """Return the record in a file, or None if the JSON file holds something else.

    Raises LfnoError if the file cannot be read, is not JSON, or holds a damaged record.
    """
    try:
        tree = json.loads(path.read_text())
        if not isinstance(tree, dict) or "study" not in tree:
            return None
        return RunRecord(**{key: with_nan(value) if key in MEASURED else value for key, value in tree.items()})
    except (OSError, ValueError, TypeError, RecursionError) as error:
        raise LfnoError(f"{path} is not the record of a run: {error}") from error


def scored(prediction: np.ndarray, truth: np.ndarray) -> dict[str, np.ndarray]:
    """Return the relative errors {"l2", "linf"} of each sample."""
    return {"l2": relative_l2(prediction, truth), "linf": relative_linf(prediction, truth)}


def regime_summary(prediction: np.ndarray, truth: np.ndarray, grid: Grid) -> dict[str, Any]:
    """Return the summary of the error over time: {"split": time step, "transient": …, "steady": …}.

    The error over time is the mean of |prediction − truth| over samples, channels and space. Each regime has the mean and the
    variance over time of this error, the variance of the smoothed error, and the smoothed error (at most 128 points).
    prediction, truth: (samples, channels, *space, time).
    """
    steps = grid.shape[-1]
    split = SPLIT if steps > 2 * SPLIT else max(1, steps // 4)
    found = regimes(prediction, truth, split=split, width=min(100, max(1, split // 2)))
    return {
        "split": split,
        **{
            name: {
                "mean": float(regime.mean),
                "variance": float(regime.variance),
                "smooth_variance": float(regime.smooth_variance),
                "curve": rounded(thin(np.asarray(regime.smooth))),
            }
            for name, regime in found.items()
        },
    }


def thin(values: np.ndarray, most: int = 128) -> np.ndarray:
    """Return at most `most` equally spaced entries along the last axis."""
    stride = -(-values.shape[-1] // most)
    return values[..., ::stride]


def rounded(values: np.ndarray, digits: int = 5) -> Any:
    """Return the values as nested lists. Values with `digits` significant digits keep the files small."""
    flat = [float(f"{value:.{digits}g}") for value in np.asarray(values, dtype=float).ravel()]
    return np.array(flat).reshape(np.shape(values)).tolist()
