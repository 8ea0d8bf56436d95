"""Select records: which run belongs to which row of a table, and its error after a number of epochs."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from lfno.evaluation.metrics import Summary, summary
from lfno.paper.record import RunRecord
from lfno.paper.studies import STUDIES

#: suffix of a task for errors on kinds of input that the models were not trained on
OUTSIDE = "-out"
PRESETS = ("paper", "default")
LABELS = ("FNO", "FNO deep", "FNO long", "LNO", "LNO free", "LFNO")


@dataclass(frozen=True)
class Figure:
    """A value of a table: mean and standard deviation over runs, and the epochs of these runs."""

    value: Summary
    epochs: tuple[int, ...]

    @property
    def mean(self) -> float:
        """The mean over the runs."""
        return self.value.mean


class Runs:
    """The records of a folder, with methods that select them for tables and claims."""

    def __init__(self, records: Iterable[RunRecord]) -> None:
        self.all = list(records)

    def __len__(self) -> int:
        return len(self.all)

    def where(self, **fields: object) -> Runs:
        """Return the records whose attributes have these values: `runs.where(task="beam", label="FNO")`."""
        return Runs(r for r in self.all if all(getattr(r, name) == value for name, value in fields.items()))

    @property
    def main(self) -> Runs:
        """The records of the main study."""
        return Runs(r for r in self.all if r.study == "main" or r.study not in STUDIES)

    @property
    def outside(self) -> Runs:
        """Return the same runs with their out-of-family errors. The name of each task gets the suffix `-out`."""
        found = (r for r in self.all if r.out_of_family)
        return Runs(replace(r, task=f"{r.task}{OUTSIDE}", scores=r.out_of_family, at={}, samples={}) for r in found)

    def study(self, name: str) -> Runs:
        """Return the records of a study."""
        return self.where(study=name)

    def of(self, model: str) -> Runs:
        """Return the records of a kind of model, with any label."""
        return Runs(r for r in self.all if r.model.upper() == model)

    @property
    def models(self) -> list[str]:
        """The kinds of models in the records."""
        return ordered((r.model.upper() for r in self.all), ("FNO", "LNO", "LFNO"))

    @property
    def tasks(self) -> list[str]:
        """The data sets in the records."""
        return list(dict.fromkeys(r.task for r in self.all))

    @property
    def presets(self) -> list[str]:
        """The presets in the records."""
        return ordered((r.preset for r in self.all), PRESETS)

    @property
    def labels(self) -> list[str]:
        """The row labels in the records."""
        return ordered((r.label for r in self.all), LABELS)

    def error(self, metric: str, epochs: int | None = None) -> Figure | None:
        """Return the mean error of all these records; None if no record has a score.

        epochs: use the best weights up to this epoch, if a record has them. Otherwise use the end of training.
        """
        found = [pair for r in self.all if (pair := score(r, metric, epochs)) is not None]
        if not found:
            return None
        return Figure(summary(value for value, _ in found), tuple(sorted({count for _, count in found})))


def score(record: RunRecord, metric: str, epochs: int | None = None) -> tuple[float, int] | None:
    """Return (error, epochs) of one record; None if it has no score."""
    early = record.at.get(str(epochs), {}) if epochs is not None else {}
    if epochs is not None and metric in early:
        return float(early[metric]), epochs
    if metric not in record.scores:
        return None
    return float(record.scores[metric]), epochs_of(record)


def epochs_of(record: RunRecord) -> int:
    """Return the number of epochs that a record was trained for: the end of its history, else the number in its options."""
    if not record.training.get("patience") and record.training.get("epochs"):
        return int(record.training["epochs"])  # such a run never ends early, and its history may be thinned
    seen = record.history.get("epoch") or [record.training.get("epochs", 0)]
    return int(seen[-1])


def ordered(values: Iterable[str], first: Sequence[str]) -> list[str]:
    """Return the distinct values: those in `first` in that order, then the others by name."""
    found = set(values)
    return [value for value in first if value in found] + sorted(found - set(first))


def lowest(figures: dict[str, Figure | None]) -> set[str]:
    """Return the keys with the smallest mean; none if fewer than two can be compared."""
    means = {key: figure.mean for key, figure in figures.items() if figure is not None and math.isfinite(figure.mean)}
    if len(means) < 2:
        return set()
    least = min(means.values())
    return {key for key, mean in means.items() if mean == least}
