"""`Runs`: select the records for a row of a table, and average their errors."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from lfno.evaluation.metrics import Summary, summary
from lfno.paper.record import RunRecord
from lfno.paper.studies import STUDIES

OUTSIDE = "-out"  # ending of the name of a data set with kinds of input that no training set has
PRESETS = ("paper", "default")  # in the order of the tables
LABELS = ("FNO", "FNO deep", "FNO long", "LNO", "LNO free", "LFNO")  # in the order of the rows of a table


@dataclass(frozen=True)
class Figure:
    """An error for a table, averaged over runs.

    value: mean and standard deviation over the runs.
    epochs: the different numbers of epochs of the runs.
    """

    value: Summary
    epochs: tuple[int, ...]

    @property
    def mean(self) -> float:
        """The mean over the runs."""
        return self.value.mean


class Runs:
    """A list of records (`all`), with methods that return a part of the records."""

    def __init__(self, records: Iterable[RunRecord]) -> None:
        self.all = list(records)

    def __len__(self) -> int:
        return len(self.all)

    def where(self, **fields: object) -> Runs:
        """Return the records whose attributes have the given values, as in `runs.where(task="beam", label="FNO")`."""
        return Runs(r for r in self.all if all(getattr(r, name) == value for name, value in fields.items()))

    @property
    def main(self) -> Runs:
        """The records of the main study. Studies that are not in `STUDIES` belong to it, too."""
        return Runs(r for r in self.all if r.study == "main" or r.study not in STUDIES)

    @property
    def outside(self) -> Runs:
        """The records with errors on kinds of input that no training set has.

        These errors replace the test errors (`scores`). The names of the data sets get the ending `-out`.
        """
        found = (r for r in self.all if r.out_of_family)
        return Runs(replace(r, task=f"{r.task}{OUTSIDE}", scores=r.out_of_family, at={}, samples={}) for r in found)

    def study(self, name: str) -> Runs:
        """Return the records of a study."""
        return self.where(study=name)

    def of(self, model: str) -> Runs:
        """Return the records of a kind of model (“LFNO”, “LNO” or “FNO”), with any label."""
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
        """Return the mean error of the records, or None if no record has an error.

        epochs: take the error of the best weights up to this epoch, if the record has this error. Otherwise take the error at
            the end of training.
        """
        found = [pair for r in self.all if (pair := score(r, metric, epochs)) is not None]
        if not found:
            return None
        return Figure(summary(value for value, _ in found), tuple(sorted({count for _, count in found})))


def score(record: RunRecord, metric: str, epochs: int | None = None) -> tuple[float, int] | None:
    """Return (error, number of epochs) of one record, or None if the record has no error. See `Runs.error` for `epochs`."""
    early = record.at.get(str(epochs), {}) if epochs is not None else {}
    if epochs is not None and metric in early:
        return float(early[metric]), epochs
    if metric not in record.scores:
        return None
    return float(record.scores[metric]), epochs_of(record)


def epochs_of(record: RunRecord) -> int:
    """Return the number of epochs that a run was trained for."""
    if not record.training.get("patience") and record.training.get("epochs"):
        return int(record.training["epochs"])  # without `patience` a run never ends early
    seen = record.history.get("epoch") or [record.training.get("epochs", 0)]
    return int(seen[-1])


def ordered(values: Iterable[str], first: Sequence[str]) -> list[str]:
    """Return the values without repetition: first those of `first`, in this order, then the others in alphabetical order."""
    found = set(values)
    return [value for value in first if value in found] + sorted(found - set(first))


def lowest(figures: dict[str, Figure | None]) -> set[str]:
    """Return the names with the smallest mean error. Returns an empty set if there are fewer than two finite errors."""
    means = {key: figure.mean for key, figure in figures.items() if figure is not None and math.isfinite(figure.mean)}
    if len(means) < 2:
        return set()
    least = min(means.values())
    return {key for key, mean in means.items() if mean == least}
