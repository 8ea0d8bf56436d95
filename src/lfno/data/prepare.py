"""Prepare your own signals for training: turn files, records or arrays into samples with a split."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from os.path import abspath
from pathlib import Path
from typing import Any

import numpy as np

from lfno.core.errors import LfnoError, Option
from lfno.data import partition
from lfno.data.dataset import Dataset
from lfno.data.gaps import after_gaps
from lfno.data.gathering import Signals, Source, as_list, as_runs, gather, is_own
from lfno.data.prepared import Prepared
from lfno.data.realisations import AUTO, NO, Realisations, period_of, realisations, too_short
from lfno.data.signals.record import PERIOD, Record
from lfno.data.signals.runs import Runs, check_alike, extended
from lfno.data.split import FOLDS, Split, borders
from lfno.data.starts import starts
from lfno.data.stretches import PARTS, REST, UNKNOWN
from lfno.data.trajectories import FEWEST_RUNS, note_motion, run_numbers, split_trajectories
from lfno.data.variation import check_variation, with_outputs, without_constant_outputs
from lfno.data.window_length import choose_windows
from lfno.data.windows import as_samples

#: options that `prepare` passes on to `lfno.data.signals.read_signals`
READING = ("input", "output", "time", "sample", "axes", "dt", "resample")
#: options of `prepare` itself
CUTTING = ("window", "warmup", "test", "from_rest", "periodic")

WHOLE = 4096  # time steps: runs from rest are whole samples if the longest has at most this many, else cut into windows


def prepare(
    source: Source,
    *,
    window: int | None = None,
    warmup: int | None = None,
    test: Source | None = None,
    from_rest: bool = False,
    periodic: str | float = AUTO,
    fold: int = 0,
    **reading: Any,
) -> Prepared:
    """Read signals, cut long records into windows, and split them into training, validation and test.

    source: a file, Record, Dataset, Runs, xarray object or mapping from names to arrays; or a list of these with the runs of
        one experiment.
    window: length of a window in time steps; by default chosen from the data.
    warmup: length of the warm-up in time steps: the model receives these first steps of a window, but their outputs are not
        scored. By default chosen from the data.
    test: the data for the test: another source, or a range "start:stop" of `source`. The range of one record is in the unit
        of time. The range of several runs or trajectories counts them from 0. `stop` is not in the test.
    from_rest: whether every record begins with the system at rest. If False, the outputs of each run decide; a single record
        counts as one that does not begin at rest.
    periodic: "auto" to take the period that the file states, or to search for a period of the inputs if it states none; "no" to
        treat the inputs as not periodic; or the period in the unit of time.
    fold: the test fold of the standard split of trajectories.
    reading: the options of `lfno.data.signals.read_signals`.
    Raises LfnoError for data that cannot be used, or options that do not fit the data.
    """
    data = gather(source, reading)
    named = reading.get("output") is not None
    data, left_out = (data, []) if named else without_constant_outputs(data)
    told = [*left_out, *check_variation(data)]
    bounds = _range(test) if isinstance(test, str) else None
    other: Signals | None = None
    if test is not None and bounds is None:
        _refuse_same_file(source, test)
        other = gather(test, reading)
        other = with_outputs(other, [channel.name for channel in data.output_channels]) if left_out else other
        check_alike(data, other, ("the training file", "the test file"))
    cutting = window is not None or warmup is not None
    if isinstance(data, Dataset) and data.grid.ndim == 1:
        repeats = PERIOD in data.provenance or periodic not in (AUTO, NO)
        data = as_runs(data) if repeats or (len(data) < FEWEST_RUNS and other is None) else data
    if not cutting and not isinstance(data, Record) and not isinstance(other, Record):
        whole = _whole(data, from_rest, periodic), None if other is None else _whole(other, from_rest, periodic)
        if isinstance(whole[0], Dataset) and not isinstance(whole[1], Runs):
            return _trajectories(whole[0], whole[1], bounds, fold, told)
    known, tests = as_runs(data), () if other is None else as_runs(other).records
    notes = [*known.provenance.get("notes", []), *told]
    return _windows(known, tests, bounds, (window, warmup), from_rest, periodic, notes)


def _whole(data: Dataset | Runs, from_rest: bool, periodic: str | float) -> Dataset | Runs:
    """Return runs as trajectories of one length if a model can compute each run from its beginning to its end.

    For this, there must be at least FOLDS runs, every run must have at most WHOLE time steps and start at rest, and the inputs
    must not be periodic. Other runs, and a data set, are returned unchanged.
    """
    if isinstance(data, Dataset):
        return data
    short = data.grid.shape[-1] <= WHOLE and len(data) >= FOLDS
    rest = short and (from_rest or set(starts(data.records)) == {REST})
    return data.padded() if rest and period_of(data.records, periodic, data.provenance.get(PERIOD)) is None else data


def _trajectories(
    data: Dataset, other: Dataset | None, bounds: tuple[float, float] | None, fold: int, told: list[str]
) -> Prepared:
    """Return trajectories of one length with their split. The arguments are those of `split_trajectories`; told: notes."""
    if other is not None and other.grid.shape != data.grid.shape:
        raise LfnoError(
            f"the grid of the test file has shape {other.grid.shape} and the grid of the training file {data.grid.shape}; "
            "they must be equal"
        )
    data, split, more = split_trajectories(after_gaps(data), other, bounds, fold)
    found, note = note_motion(data)
    notes = [*data.provenance.get("notes", []), *told, *more, *note]
    return Prepared(_described(replace(data, provenance=data.provenance | found), split, 0), split, notes)


def _windows(
    known: Runs, tests: Sequence[Record], bounds: tuple[float, float] | None, sizes: tuple[int | None, int | None],
    from_rest: bool, periodic: str | float, notes: list[str],
) -> Prepared:  # fmt: skip
    """Return windows of runs, or whole periods if the inputs are periodic and `Realisations.answered_whole` allows it.

    A single record is split in time. Of several runs, each run belongs to one part of the split, except that validation samples
    may come from the end of a training run.

    known, tests: the runs of `source` and of `test`.
    bounds: (start, stop) of the test, if the user gives a range.
    sizes: window and warm-up in time steps; None for a length that the user does not give.
    from_rest, periodic: as in `prepare`.
    notes: sentences for the user; further notes are added.
    """
    records = [*known.records, *tests]
    single = len(records) == 1
    states = [REST] * len(records) if from_rest else [UNKNOWN] if single else starts(records)
    parts = _parts(known, tests, bounds)
    period = period_of(records, periodic, known.provenance.get(PERIOD))
    found = None if period is None else realisations(records, states, period)
    if found is not None and single and too_short(len(found.records[0])):
        notes.append(
            f"the input repeats every {period} samples, and there is only one record: the test has the same input as the "
            "training, so the test error says nothing about other inputs"
        )
        found = None
    elif period is not None and found is None:
        notes.append(f"the input repeats every {period} samples, but the outputs do not: the periods are not averaged")
    if found is not None:
        notes += found.notes
        if single:
            notes.append("only one periodic input was measured: a part of its period is the test; for a better test, measure "
                         "the response to another input")  # fmt: skip
            records, states = [found.records[0]], [UNKNOWN]
            if sizes == (None, None) and bounds is None and found.answered_whole(PARTS):
                return _periods(found.in_phases(), [*PARTS], known, notes)
    if found is not None and not single and sizes == (None, None) and found.answered_whole(parts):
        return _periods(found, parts, known, notes)
    window, warmup, memory, why = choose_windows(records if found is None or single else found.records, *sizes)
    notes.append(why)
    if found is not None and not single:
        records, spans = found.spans(parts, window, warmup)
    elif single:
        test = _samples(records[0], bounds) if bounds is not None else (borders(len(records[0]))[1], len(records[0]))
        mask = after_gaps(records[0], warmup).mask
        scored = None if mask is None else np.any(mask, axis=tuple(range(mask.ndim - 1)))
        spans = partition.in_time(len(records[0]), window, test, states[0] == REST, scored, warmup)
    else:
        records = [extended(record, window) for record in records]
        spans = partition.of_runs([len(record) for record in records], states, parts, window)
        if any(state == UNKNOWN for state in states):
            notes.append(f"{states.count(UNKNOWN)} of {len(states)} runs do not start at rest: every window has a warm-up")
    records = [after_gaps(record, warmup) for record in records]
    dataset, split = as_samples(records, spans, window, warmup)
    dataset = replace(dataset, provenance={**known.provenance, **dataset.provenance})
    notes += [note for note in dataset.provenance.get("notes", []) if note not in notes]
    noise = None if found is None else found.noise
    described = _described(dataset, split, warmup, from_rest)
    return Prepared(described, split, notes, warmup, tuple(records), tuple(spans), noise, memory)


def _periods(found: Realisations, parts: list[str], known: Runs, notes: list[str]) -> Prepared:
    """Return data whose samples are whole periods. A model computes the steady state of each period, so it needs no warm-up."""
    records, spans, dataset, split = found.whole(parts)
    _, warmup, memory, _ = choose_windows(found.records)
    notes.append("every sample is a whole period; models compute its steady state, so no warm-up is needed")
    dataset = replace(dataset, provenance={**known.provenance, **dataset.provenance})
    described = _described(dataset, split, warmup)
    return Prepared(described, split, notes, 0, tuple(records), tuple(spans), found.noise, memory)


def _parts(known: Runs, tests: Sequence[Record], bounds: tuple[float, float] | None) -> list[str]:
    """Return the part of each run: first the runs of `known`, then the runs of `tests`."""
    sizes = [len(record) for record in (*known.records, *tests)]
    if len(sizes) == 1:
        return ["train"]
    if tests:
        return partition.whole_runs(sizes, range(len(known), len(sizes)))
    if bounds is None:
        own = known.provenance.get("split")
        if own is None or not own.get("validation"):
            return partition.whole_runs(sizes, None if own is None else own["test"])
        return [next(part for part, runs in own.items() if k in runs) for k in range(len(sizes))]
    low, high = run_numbers(bounds)
    if not 0 <= low < high <= len(sizes):
        raise LfnoError(f"the test range {low}:{high} does not fit {len(sizes)} runs, which are counted from 0")
    return partition.whole_runs(sizes, range(low, high))


def _described(dataset: Dataset, split: Split, warmup: int, from_rest: bool = False) -> Dataset:
    """Return the data set with provenance for the model file: split, names and units of the channels, and three options.

    The options are `warmup`, `from_rest` and `record` (whether the samples are windows of records).
    """
    signals = {
        "inputs": [[channel.name, channel.unit] for channel in dataset.input_channels],
        "outputs": [[channel.name, channel.unit] for channel in dataset.output_channels],
        "warmup": warmup,
        "record": "length" in dataset.provenance,
        "from_rest": from_rest,
    }
    return replace(dataset, provenance={**dataset.provenance, "split": split.to_dict(), "signals": signals})


def _range(text: str) -> tuple[float, float] | None:
    """Return (start, stop) of a text "start:stop"; None for another text, such as the name of a file."""
    low, colon, high = text.partition(":")
    try:
        bounds = (float(low), float(high)) if colon else None
    except ValueError:
        return None
    if bounds is not None and not all(abs(bound) < 1e100 for bound in bounds):
        raise LfnoError(f"the test range {text} must have a finite start and stop")
    return bounds


def _samples(record: Record, bounds: tuple[float, float]) -> tuple[int, int]:
    """Return (start, stop) in samples of a range in the unit of time. Raises LfnoError if it is outside the record."""
    axis = record.grid.axes[-1]
    start, stop = (round((moment - axis.origin) / axis.step) for moment in bounds)
    if not 0 <= start < stop <= len(record):
        raise LfnoError(
            f"the test range {bounds[0]:g}:{bounds[1]:g} is not inside the record, which goes from {axis.origin:g} to "
            f"{axis.origin + axis.length:g} {axis.unit}"
        )
    return start, stop


def _refuse_same_file(source: Any, test: Any) -> None:
    """Raise LfnoError if a file is used for training and for the test."""
    known, tested = (
        {abspath(one): one for one in as_list(data) if isinstance(one, (str, Path))} for data in (source, test)
    )
    for path in known.keys() & tested.keys():
        said = f"{tested[path]} is used for training: name another file for the test, or a range: "
        raise LfnoError(said, Option("test", "START:STOP"))


__all__ = ["CUTTING", "READING", "Prepared", "Source", "is_own", "prepare"]
