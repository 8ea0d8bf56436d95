"""Choosing among records: which run belongs to which row, and its error after so many epochs."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from lfno.evaluation.metrics import Summary, summary
from lfno.paper.record import RunRecord
from lfno.paper.studies import STUDIES

#: what stands after the name of a task for its models' errors on inputs of kinds they were not trained on
OUTSIDE = "-out"
PRESETS = ("paper", "default")
LABELS = ("FNO", "FNO deep", "FNO long", "LNO", "LNO free", "LFNO")


@dataclass(frozen=True)
class Figure:
    """A number of a table: mean and spread over runs, and the epochs these runs had."""

    value: Summary
    epochs: tuple[int, ...]

    @property
    def mean(self) -> float:
        return self.value.mean


class Runs:
    """The records of a folder with the questions that tables and claims ask."""

    def __init__(self, records: Iterable[RunRecord]) -> None:
        self.all = list(records)

    def __len__(self) -> int:
        return len(self.all)

    def where(self, **fields: object) -> Runs:
        """Records whose attributes have these values: `runs.where(task="beam", label="FNO")`."""
        return Runs(r for r in self.all if all(getattr(r, name) == value for name, value in fields.items()))

    @property
    def main(self) -> Runs:
        return Runs(r for r in self.all if r.study == "main" or r.study not in STUDIES)

    @property
    def outside(self) -> Runs:
        """The same runs with their errors out of family, under the name of their task with `-out`."""
        found = (r for r in self.all if r.out_of_family)
        return Runs(replace(r, task=f"{r.task}{OUTSIDE}", scores=r.out_of_family, at={}, samples={}) for r in found)

    def study(self, name: str) -> Runs:
        return self.where(study=name)

    def of(self, model: str) -> Runs:
        """Records of a kind of model, whatever their label."""
        return Runs(r for r in self.all if r.model.upper() == model)

    @property
    def models(self) -> list[str]:
        return ordered((r.model.upper() for r in self.all), ("FNO", "LNO", "LFNO"))

    @property
    def tasks(self) -> list[str]:
        return list(dict.fromkeys(r.task for r in self.all))

    @property
    def presets(self) -> list[str]:
        return ordered((r.preset for r in self.all), PRESETS)

    @property
    def labels(self) -> list[str]:
        return ordered((r.label for r in self.all), LABELS)

    def error(self, metric: str, epochs: int | None = None) -> Figure | None:
        """Mean error of all these records, with their weights up to `epochs` where a record kept that; else at its end.

        None when there is no record with a score.
        """
        found = [pair for r in self.all if (pair := score(r, metric, epochs)) is not None]
        if not found:
            return None
        return Figure(summary(value for value, _ in found), tuple(sorted({count for _, count in found})))


def score(record: RunRecord, metric: str, epochs: int | None = None) -> tuple[float, int] | None:
    """(error, epochs it had) of one record."""
    early = record.at.get(str(epochs), {}) if epochs is not None else {}
    if epochs is not None and metric in early:
        return float(early[metric]), epochs
    if metric not in record.scores:
        return None
    return float(record.scores[metric]), epochs_of(record)


def epochs_of(record: RunRecord) -> int:
    """Epochs a record was trained for: as far as its history goes, else as far as it was asked to."""
    if not record.training.get("patience") and record.training.get("epochs"):
        return int(record.training["epochs"])  # nothing ends such a run early; the history may be thinned
    seen = record.history.get("epoch") or [record.training.get("epochs", 0)]
    return int(seen[-1])


def ordered(values: Iterable[str], first: Sequence[str]) -> list[str]:
    """Different values, those named in `first` in that order and then the others by name."""
    found = set(values)
    return [value for value in first if value in found] + sorted(found - set(first))


def lowest(figures: dict[str, Figure | None]) -> set[str]:
    """The keys with the smallest mean; none where fewer than two can be compared."""
    means = {key: figure.mean for key, figure in figures.items() if figure is not None and math.isfinite(figure.mean)}
    if len(means) < 2:
        return set()
    least = min(means.values())
    return {key for key, mean in means.items() if mean == least}
