"""Your own signals, made ready for training: from a file, a record or arrays to samples with a split."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from lfno.core.errors import LfnoError, Option
from lfno.data import partition, stretches
from lfno.data import split as splits
from lfno.data.dataset import Dataset, joined
from lfno.data.files import READERS
from lfno.data.gaps import after_gaps
from lfno.data.records import choose_windows
from lfno.data.signals import load
from lfno.data.signals.record import Record
from lfno.data.split import Split
from lfno.data.stretches import PARTS, Span, Stretch
from lfno.data.variation import check_variation
from lfno.data.windows import as_samples

#: options of `lfno.data.signals.load` that are passed on
READING = ("input", "output", "time", "sample", "axes", "dt", "resample")
#: options of `prepare` itself
CUTTING = ("window", "warmup", "test", "from_rest")

FEWEST_RUNS = 3  # one to learn from, one to choose by, one to test with

Source = str | Path | Record | Dataset | Mapping[str, np.ndarray]


@dataclass(frozen=True)
class Prepared:
    """Samples and their split; for one long record also the record, and the stretch (or other record) of the test.

    spans: which samples of which record belong to each part; record 0 is `record`, record 1 is another one for the test.
    """

    dataset: Dataset
    split: Split
    notes: list[str]
    warmup: int = 0
    record: Record | None = None
    test: Record | None = None
    stretch: tuple[int, int] | None = None
    spans: tuple[Span, ...] = ()

    def stretches(self, part: str) -> list[Stretch]:
        """Return the uninterrupted pieces of measurement in one part of the split: "train", "validation" or "test".

        Pieces of training and validation never overlap with those of the test. Raises LfnoError for another word.

        >>> from lfno.core.grid import Grid
        >>> values = np.random.default_rng(0).normal(size=(10, 1, 50))
        >>> prepared = prepare(Dataset(values, values.cumsum(-1), Grid.line(50, 0.1)))
        >>> prepared.stretches("test")[0]
        Stretch(trajectory 6: 1 input, 1 output, 50 samples, start rest)
        """
        if part not in PARTS:
            raise LfnoError(f"the split has no part {part!r}; its parts are {', '.join(PARTS)}")
        if self.record is None or not self.spans:
            return stretches.of_samples(self.dataset, getattr(self.split, part))
        assert self.test is not None
        return stretches.of_records((self.record, self.test), self.spans, part)


def is_own(data: Any) -> bool:
    """Whether `data` are signals to be prepared rather than the name of a data set or a Dataset."""
    if isinstance(data, (str, Path)):
        return Path(data).suffix.lower() in READERS or Path(data).exists()
    return isinstance(data, (Record, Mapping))


def prepare(
    source: Source,
    *,
    window: int | None = None,
    warmup: int | None = None,
    test: str | Path | Record | Dataset | None = None,
    from_rest: bool = False,
    fold: int = 0,
    **reading: Any,
) -> Prepared:
    """Read `source`; cut one long record into windows; split, unless the file comes with a split of its own.

    `test` is another file (or Record, Dataset), or a range "start:stop" of the record in its unit of time (of sample
    numbers for trajectories). `from_rest` says that a record begins with the system at rest.
    """
    data = load(source, **reading) if isinstance(source, (str, Path, Mapping)) else source
    told = check_variation(data)
    bounds = _range(test) if isinstance(test, str) else None
    other: Record | Dataset | None = None
    if test is not None and bounds is None:
        if isinstance(source, (str, Path)) and isinstance(test, (str, Path)) and Path(test).resolve() == Path(source).resolve():
            raise LfnoError(f"{test} is the file of training: name another one for the test, or a range START:STOP of it")
        other = load(test, **reading) if isinstance(test, (str, Path)) else test
        _same_kind(data, other)
    if isinstance(data, Dataset):
        for name, given in (("window", window is not None), ("warmup", warmup is not None), ("from_rest", from_rest)):
            if given:
                said = f" is for one long record, and the data are {len(data)} trajectories; leave it out"
                raise LfnoError(Option(name), said)
        return _trajectories(after_gaps(data), other, bounds, fold, told)
    window, warmup, why = choose_windows(data, window, warmup)
    data = after_gaps(data, warmup)
    other = after_gaps(other, warmup) if isinstance(other, Record) else other
    stretch = None if bounds is None else _samples(data, bounds)
    if isinstance(other, Record):
        spans = partition.with_test(len(data), len(other), window, from_rest)
        tested, stretch = other, None
    else:
        stretch = stretch or (splits.borders(len(data))[1], len(data))
        spans = partition.in_time(len(data), window, stretch, from_rest)
        tested = data.part(*stretch)
    dataset, split = as_samples((data, tested), spans, window, warmup)
    notes = [*dataset.provenance.get("notes", []), *told, why]
    dataset = _described(dataset, split, warmup, from_rest)
    return Prepared(dataset, split, notes, warmup, data, tested, stretch, tuple(spans))


def _trajectories(
    data: Dataset, other: Any, bounds: tuple[float, float] | None, fold: int, told: list[str]
) -> Prepared:
    notes = [*data.provenance.get("notes", []), *told]
    count = len(data)
    if other is None and bounds is None and "split" not in data.provenance and count < splits.FOLDS:
        if count < FEWEST_RUNS:
            raise LfnoError(
                f"the data are {count} runs, too few to train, choose and test: at least {FEWEST_RUNS} are needed. One long "
                "run is cut into windows if its file has no column of run numbers"
            )
        bounds = count - 1, count
        notes.append(f"of {count} runs the last one is for the test (the option “test” chooses others)")
    if isinstance(other, Dataset):
        data = joined(data, after_gaps(other))
        own = splits.random(count, 0.1, 1 / max(count, 2))
        train = np.sort(np.concatenate([own.train, own.test]))
        split = Split(train, own.validation, np.arange(count, len(data)))
    elif bounds is not None:
        low, high = (int(value) for value in bounds)
        if not 0 <= low < high <= count or high - low > count - 2:
            raise LfnoError(f"the test range {low}:{high} is not a part of {count} trajectories that leaves two to train")
        rest = np.concatenate([np.arange(low), np.arange(high, count)])
        chosen = rest[splits.permutation(len(rest), 0)[: max(1, len(rest) // 10)]]
        split = Split(np.setdiff1d(rest, chosen), np.sort(chosen), np.arange(low, high))
    else:
        split = splits.of(data) if "split" in data.provenance else splits.standard(count, fold)
        if not len(split.validation):
            chosen = splits.permutation(len(split.train), 0)[: max(1, len(split.train) // 10)]
            split = Split(np.delete(split.train, chosen), split.train[np.sort(chosen)], split.test)
            notes.append(f"{len(chosen)} of the training samples were set aside to choose the best epoch")
    return Prepared(_described(data, split, 0), split, notes)


def _described(dataset: Dataset, split: Split, warmup: int, from_rest: bool = False) -> Dataset:
    """The data set with what a model file must remember: channels, units, warm-up, and whether a start from rest was seen."""
    signals = {
        "inputs": [[channel.name, channel.unit] for channel in dataset.input_channels],
        "outputs": [[channel.name, channel.unit] for channel in dataset.output_channels],
        "warmup": warmup,
        "record": "length" in dataset.provenance,
        "from_rest": from_rest,
    }
    return replace(dataset, provenance={**dataset.provenance, "split": split.to_dict(), "signals": signals})


def _range(text: str) -> tuple[float, float] | None:
    low, colon, high = text.partition(":")
    try:
        bounds = (float(low), float(high)) if colon else None
    except ValueError:
        return None
    if bounds is not None and not all(abs(bound) < 1e100 for bound in bounds):
        raise LfnoError(f"the test range {text} has no beginning or no end")
    return bounds


def _samples(record: Record, bounds: tuple[float, float]) -> tuple[int, int]:
    axis = record.grid.axes[-1]
    start, stop = (round((moment - axis.origin) / axis.step) for moment in bounds)
    if not 0 <= start < stop <= len(record):
        raise LfnoError(
            f"the test range {bounds[0]:g}:{bounds[1]:g} is not inside the record, which goes from {axis.origin:g} to "
            f"{axis.origin + axis.length:g} {axis.unit}"
        )
    return start, stop


def _same_kind(data: Record | Dataset, other: Record | Dataset) -> None:
    one, two = (f"{'one record' if isinstance(d, Record) else 'many trajectories'}" for d in (data, other))
    if one != two:
        raise LfnoError(f"the training file holds {one} and the test file {two}; both must be of one kind")
    first, second = data.grid, other.grid
    if isinstance(data, Dataset) and first.shape != second.shape:
        raise LfnoError(f"the test file has the grid {second.shape} and the training file {first.shape}; they must agree")
    if abs(first.steps[-1] / second.steps[-1] - 1) > 1e-6:
        raise LfnoError(
            f"the test file has a time step of {second.steps[-1]:g} and the training file of {first.steps[-1]:g}; "
            "bring them to one rate first"
        )
    for role in ("input_channels", "output_channels"):
        if len(getattr(data, role)) != len(getattr(other, role)):
            raise LfnoError(f"the test file has {len(getattr(other, role))} {role.replace('_', ' ')}, the training file "
                            f"{len(getattr(data, role))}; they must agree")  # fmt: skip
