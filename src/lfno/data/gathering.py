"""Read signals from one file, or from several files of one experiment."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import reduce
from os.path import abspath
from pathlib import Path
from typing import Any

import numpy as np

from lfno.core.errors import LfnoError
from lfno.data.dataset import INPUT_GAPS, Dataset, joined
from lfno.data.files import READERS
from lfno.data.files.xarray_objects import is_xarray
from lfno.data.signals import read_signals
from lfno.data.signals.record import Record
from lfno.data.signals.runs import Runs, check_alike, of_trajectories

One = str | Path | Record | Dataset | Runs | Mapping[str, np.ndarray]
Source = One | Sequence[One]
Signals = Record | Dataset | Runs


def is_own(data: Any) -> bool:
    """Return whether `data` are signals of the user that must be prepared.

    True for a file (it exists, or its ending has a reader), a Record, Runs, a mapping, an xarray object, and a list of these.
    False for the name of a built-in data set, and for a `Dataset`.
    """
    if isinstance(data, (str, Path)):
        return Path(data).suffix.lower() in READERS or Path(data).exists()
    return isinstance(data, (Record, Runs, Mapping)) or is_xarray(data) or (isinstance(data, list) and all(map(is_own, data)))


def as_list(source: Any) -> list[Any]:
    """Return the sources in a sequence, or a single source, as a list."""
    return list(source) if isinstance(source, Sequence) and not isinstance(source, (str, bytes)) else [source]


def gather(source: Source, reading: Mapping[str, Any]) -> Signals:
    """Read one source of signals, or several sources of one experiment.

    source: a file, Record, Dataset, Runs, xarray object or mapping from names to arrays; or a sequence of these.
    reading: the options of `lfno.data.signals.read_signals`.
    Returns one Record, trajectories of one length (Dataset), or Runs.
    Raises LfnoError if there is no source, if a file is named twice, or if the sources differ in the number of channels, the
    points in space or the time step.
    """
    sources = as_list(source)
    if not sources:
        raise LfnoError("no file was given; name at least one")
    files = [Path(abspath(one)) for one in sources if isinstance(one, (str, Path))]
    if len(set(files)) < len(files):
        twice = next(file for file in files if files.count(file) > 1)
        raise LfnoError(f"{twice.name} is named twice; name each file once")
    found = [one if isinstance(one, (Record, Dataset, Runs)) else read_signals(one, **reading) for one in sources]
    return found[0] if len(found) == 1 else combined(found)


def combined(found: Sequence[Signals]) -> Signals:
    """Join the signals of several sources: at least two Records, Datasets or Runs.

    If all signals are Datasets with the same grid shape, the result is one Dataset. Otherwise the result is Runs.
    Raises LfnoError if the sources differ in the number of channels, the points in space or the time step.
    """
    names = [str(one.provenance.get("source") or one.provenance.get("name") or f"run {k + 1}") for k, one in enumerate(found)]
    for name, one in zip(names[1:], found[1:], strict=True):
        check_alike(found[0], one, (names[0], name))
    notes = [note for one in found for note in one.provenance.get("notes", [])]
    told = {**found[0].provenance, "notes": list(dict.fromkeys(notes))}
    for key in ("split", INPUT_GAPS):  # their sample numbers are valid for the first source only
        told.pop(key, None)
    sets = [one for one in found if isinstance(one, Dataset)]
    if len(sets) == len(found) and len({one.grid.shape for one in sets}) == 1:
        whole = reduce(joined, sets)
        gaps = {key: value for key, value in whole.provenance.items() if key == INPUT_GAPS}
        return replace(whole, provenance=told | gaps)
    records: list[Record] = []
    for one in found:
        records += [one] if isinstance(one, Record) else as_runs(one).records
    return Runs(tuple(records), told)


def as_runs(data: Signals) -> Runs:
    """Return signals of any form as runs."""
    if isinstance(data, Record):
        return Runs((data,), data.provenance)
    return of_trajectories(data) if isinstance(data, Dataset) else data
