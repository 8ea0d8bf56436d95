"""Separate the runs of one file.

The runs are arrays with names such as `uEst` and `uVal`, arrays with an axis of realisations, cells or structure arrays of
MATLAB, groups of HDF5, sheets of Excel, or rows of a table with a column of run numbers or with a time that starts again.
"""

from __future__ import annotations

import re
from dataclasses import replace
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from lfno.data.files.variables import Variable, Variables
from lfno.data.signals.experiments import by_part, levels, runs_of
from lfno.data.signals.parts import one_for_each
from lfno.data.signals.vocabulary import COORDINATES, SAMPLES, TIMES, bare_word

# patterns for the name of a variable that belongs to one run: `head` and `run` identify the run, `field` names the variable
#: names such as u{2}
_CELL = re.compile(r"^(?P<field>.+)\{(?P<run>\d+)\}$")
#: names such as run(2).u
_STRUCTURE = re.compile(r"^(?P<head>.+)\((?P<run>\d+)\)\.(?P<field>.+)$")
#: names such as run2/u
_GROUP = re.compile(r"^(?P<head>[^/]*?)(?P<run>\d+)/(?P<field>.+)$")

LEAST_ROWS = 8  # rows: if the time goes back after fewer rows, the logger made a mistake and no new run starts


class Separated(NamedTuple):
    """The variables of each run of a file.

    runs: the variables of each run.
    period: length of a period in time samples, if the arrays have an axis of periods; else None.
    parts: "train", "validation" or "test" for each run, if the names of the arrays contain this information; else empty.
    """

    runs: list[Variables]
    period: int | None = None
    parts: tuple[str, ...] = ()


def separate(variables: Variables, sample: str | None, time: str | None) -> Separated | None:
    """Return the variables of each run of a file; None if the file holds one run, or arrays (sample, …) of all runs.

    The result is also None for a table of runs of equal length with a column of run numbers; see `lfno.data.signals.parts`.

    sample: the column of a table with the number of the run; searched for if None.
    time: the time column of a table; searched for if None.
    """
    if (parts := by_part(variables)) is not None:
        return _of_parts(parts, sample, time)
    if (arrays := _realisations(variables)) is not None:
        return arrays
    if sample is None:
        for pattern in (_CELL, _STRUCTURE, _GROUP):
            if (found := _named(variables, pattern)) is not None:
                return Separated(found)
    rows = _rows(variables, sample, time)
    return None if rows is None else Separated(rows)


def _of_parts(parts: dict[str, Variables], sample: str | None, time: str | None) -> Separated:
    """Return the runs of all parts of the split. The first run gets a note with the number of runs in each part."""
    runs: list[Variables] = []
    names: list[str] = []
    periods = set()
    for part, own in parts.items():
        inner = separate(own, sample, time)
        mine = [replace(own, source=f"{own.source}, {part}")] if inner is None else inner.runs
        runs += mine
        names += [part] * len(mine)
        periods.add(None if inner is None else inner.period)
    words = ", ".join(f"{names.count(part)} {part}" for part in parts)
    runs[0].notes.append(f"the split of the file is kept: {words}")
    return Separated(runs, periods.pop() if len(periods) == 1 else None, tuple(names))


def _named(variables: Variables, pattern: re.Pattern[str]) -> list[Variables] | None:
    """Return the variables of each run, separated by their names. A variable without a run number belongs to every run.

    Returns None if there are fewer than two runs, or if the runs do not have the same variables.
    """
    runs: dict[tuple[str, int], dict[str, Variable]] = {}
    shared: dict[str, Variable] = {}
    for name, variable in variables.entries.items():
        match = pattern.match(name)
        if match is None:
            shared[name] = variable
            continue
        parts = match.groupdict()
        runs.setdefault((parts.get("head", ""), int(parts["run"])), {})[parts["field"]] = replace(variable, name=parts["field"])
    if len(runs) < 2 or len({tuple(sorted(entries)) for entries in runs.values()}) > 1:
        return None
    found = []
    for place, key in enumerate(sorted(runs)):
        own = {name: _of_run(variable, place, len(runs)) for name, variable in shared.items()}
        found.append(_one(variables, place, own | runs[key]))
    return found


def _of_run(variable: Variable, place: int, count: int) -> Variable:
    """Return the part of a variable that belongs to one run.

    place: index of the run.
    count: number of runs.
    If the variable has one number for each run, the result is the number of this run. Otherwise it is the whole variable.
    """
    if variable.numeric and variable.size == count > 1 and max(variable.shape) == count:
        return Variable.of(variable.name, np.ravel(variable.array([]))[place : place + 1], variable.unit)
    return variable


def _realisations(variables: Variables) -> Separated | None:
    """Separate arrays (samples, channels, realisations, periods) into one run for each realisation.

    Responses to multisine inputs are stored in this form. If the arrays have levels, `u_100mV` and `u_200mV`, every level gives
    its own runs. The axis of periods may also be the second or third; `runs_of` finds it. A time vector has the samples of one
    period and is continued over all periods. A single number, such as the sampling rate, belongs to every run. Returns None if
    the file has no such arrays.
    """
    arrays = {n: v for n, v in variables.entries.items() if len(v.shape) == 4 and not any(v.axes) and v.numeric}
    others = {name: variable for name, variable in variables.entries.items() if name not in arrays}
    space = any(name.lower() in COORDINATES and variable.size > 1 for name, variable in others.items())
    if len(arrays) < 2 or space:  # coordinates of space mean that the arrays are fields
        return None
    found: list[Variables] = []
    sizes = set()
    for group in levels(arrays):
        shapes = {(v.shape[0], *v.shape[2:]) for v in group.values()}
        size = next(iter(group.values())).shape[0]
        if len(shapes) != 1 or any(max(v.shape[1:]) >= size for v in group.values()):
            return None
        runs, period, periods = runs_of({name: variable.array([]) for name, variable in group.items()})
        if periods < 2:
            return None
        sizes.add((period, periods))
        shared = {n: v for n, v in others.items() if v.size == 1} | _continued(others, period, periods)
        for run in runs:
            own = {name: Variable.of(name, array, group[name].unit, ("t", "channel")) for name, array in run.items()}
            found.append(_one(variables, len(found), shared | own))
    if len(sizes) > 1:
        return None
    period, periods = sizes.pop()
    found[0].notes.append(f"arrays of {len(found)} realisations with {periods} periods of {period} samples each")
    return Separated(found, period)


def _continued(variables: dict[str, Variable], period: int, periods: int) -> dict[str, Variable]:
    """Return the time vectors of one period, continued over all periods."""
    found = {}
    for name, variable in variables.items():
        if variable.numeric and bare_word(name) in TIMES and variable.size == period:
            stamps = np.ravel(variable.array([], keep_double=True))
            more = np.arange(periods)[:, None] * (stamps[-1] - stamps[0]) * period / (period - 1)
            found[name] = Variable.of(name, np.ravel(more + stamps), variable.unit)
    return found


def _rows(variables: Variables, sample: str | None, time: str | None) -> list[Variables] | None:
    """Return the variables of each run of a table with one run below the other; None if the table has no such runs.

    The result is also None for runs of equal length with a column of run numbers: `lfno.data.signals.parts` separates them.
    """
    clock = time or next((name for name in variables if bare_word(name) in TIMES), None)
    stamps = variables.entries.get(clock) if clock is not None else None
    named = [n for n, v in variables.entries.items() if bare_word(n) in SAMPLES and v.numeric and len(v.shape) == 1]
    back = None if stamps is None or len(stamps.shape) != 1 else _restarts(np.ravel(stamps.array([], keep_double=True)))
    if sample is None and len(named) == 1 and back is not None and variables[named[0]].shape == variables[str(clock)].shape:
        sample = named[0]
    if sample is not None:
        if sample not in variables or not variables[sample].numeric or len(variables[sample].shape) != 1:
            return None
        numbers = variables[sample].array([])
        if not numbers.size:
            return None
        starts = np.concatenate([[0], np.flatnonzero(np.diff(numbers)) + 1])
        if len(np.unique(numbers[starts])) != len(starts):
            return None
    elif back is not None:
        starts = back
    else:
        return None
    size = variables[sample or str(clock)].shape[0]
    borders = [*starts.tolist(), size]
    lengths = np.diff(borders)
    if len(lengths) < 2 or (sample is not None and (lengths == lengths[0]).all()):
        return None
    columns = {n: v for n, v in variables.entries.items() if n != sample and v.numeric and v.shape == (size,)}
    values = {name: column.array([], keep_double=name == clock) for name, column in columns.items()}
    single = {n for n, array in values.items() if one_for_each(n, [array[a:b] for a, b in pairwise(borders)])}
    found = []
    for place, (start, stop) in enumerate(pairwise(borders)):
        own = {
            n: Variable.of(n, array[start : start + 1 if n in single else stop], columns[n].unit) for n, array in values.items()
        }
        found.append(_one(variables, place, own, start))
    return found


def _restarts(stamps: np.ndarray) -> np.ndarray | None:
    """Return the indices of the rows at which a run starts, including row 0; None if the time never starts again.

    stamps: (rows,) the time of each row. The first stamp of each run must be within two median steps of the first stamp of the
        table. Each run must have at least LEAST_ROWS rows.

    >>> _restarts(np.tile(np.arange(10.0), 2))
    array([ 0, 10])
    """
    starts = np.concatenate([[0], np.flatnonzero(np.diff(stamps) <= 0) + 1])
    if len(starts) < 2 or not np.isfinite(stamps).all():
        return None
    lengths = np.diff([*starts, len(stamps)])
    step = float(np.median(np.diff(stamps)))
    if lengths.min() < LEAST_ROWS:
        return None
    near = np.abs(stamps[starts] - stamps[0]) <= 2 * step
    # if a single stamp is wrong, no run starts there: the next stamp is right again, more than two steps later
    near &= stamps[starts + 1] - stamps[starts] <= 2 * step
    return starts if near.all() else None


def _one(variables: Variables, place: int, entries: dict[str, Variable], first: int = 0) -> Variables:
    """Return the variables of one run.

    place: index of the run.
    entries: its variables.
    first: row of the file at which the run begins.
    """

    def row(index: int) -> str:
        return variables.row(first + index)

    return Variables(f"{variables.source}, run {place + 1}", entries, list(variables.notes) if place == 0 else [], row)
