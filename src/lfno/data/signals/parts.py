"""Join variables such as `f_train` and `f_test`, and turn a table of many trajectories into arrays (sample, time)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from lfno.core.errors import LfnoError
from lfno.data.files.variables import Variable, Variables, listing
from lfno.data.signals.sampling import first_not_later
from lfno.data.signals.vocabulary import EITHER, INPUTS, OUTPUTS, SAMPLES, TIMES, bare_word

#: suffix of a name -> part of the split
SUFFIXES = {
    "train": "train", "training": "train", "vali": "validation", "valid": "validation", "val": "validation",
    "validation": "validation", "test": "test", "testing": "test",
}  # fmt: skip
_PART = re.compile(rf"^(?P<base>.+)_(?P<part>{'|'.join(SUFFIXES)})$", re.IGNORECASE)


def join(variables: Variables) -> tuple[Variables, dict[str, list[int]] | None]:
    """Join the variables `f_train`, `f_vali` and `f_test` to one variable `f`.

    Returns (variables, split). The split maps each part ("train", …) to the indices of its samples. It is None if the file has
    no such variables. The split of the file is kept, because published errors refer to it.
    Raises LfnoError if the parts of two variables have different numbers of samples, or if their shapes differ.
    """
    groups: dict[str, dict[str, Variable]] = {}
    for name in variables:
        if match := _PART.match(name):
            groups.setdefault(match["base"], {})[SUFFIXES[match["part"].lower()]] = variables[name]
    groups = {base: parts for base, parts in groups.items() if {"train", "test"} <= set(parts)}
    # vectors such as t_train and t_test are one coordinate that is stored once for each part
    vectors = {b for b, parts in groups.items() if all(sum(n > 1 for n in v.shape) == 1 for v in parts.values())}
    fields = {base: parts for base, parts in groups.items() if base not in vectors}
    if not fields:
        return variables, None
    counts: dict[str, int] = {}
    order = ("train", "validation", "test")
    for base, parts in fields.items():
        ordered = {part: parts[part] for part in order if part in parts}
        mine: dict[str, int] = {part: variable.shape[0] for part, variable in ordered.items()}
        if counts and mine != counts:
            sizes = " and ".join("/".join(map(str, each.values())) for each in (mine, counts))
            raise LfnoError(f"the parts of {base!r} and of another variable have {sizes} samples; the numbers must agree")
        if len({variable.shape[1:] for variable in ordered.values()}) > 1:
            shapes = ", ".join(f"{v.name!r} {v.shape}" for v in ordered.values())
            raise LfnoError(f"the parts must have the same shape except along the first axis (samples): {shapes}")
        counts = mine
    entries = {name: v for name, v in variables.entries.items() if not any(v in p.values() for p in groups.values())}
    entries |= {base: replace(next(iter(groups[base].values())), name=base) for base in vectors}
    entries |= {base: _chain(base, [parts[part] for part in counts]) for base, parts in fields.items()}
    split, start = {}, 0
    for part, count in counts.items():
        split[part] = list(range(start, start + count))
        start += count
    words = ", ".join(f"{count} {part}" for part, count in counts.items())
    notes = [*variables.notes, f"the split of the file is kept: {words}"]
    return Variables(variables.source, entries, notes, variables.row), split


def _chain(name: str, parts: list[Variable]) -> Variable:
    """Return the parts joined along their first axis, the samples."""
    def blocks(rows: int) -> Iterator[np.ndarray]:
        for part in parts:
            yield from part.blocks(rows)

    shape = (sum(part.shape[0] for part in parts), *parts[0].shape[1:])
    axes = ("sample", *(parts[0].axes[1:] or [""] * (len(shape) - 1)))
    dtype = np.result_type(*(part.dtype for part in parts))
    return Variable(name, shape, dtype, blocks, parts[0].unit, axes)


def tell_apart(variables: Variables, sample: str | None, time: str | None) -> tuple[Variables, str | None]:
    """Turn a table of many trajectories, one below the other, into arrays (sample, time).

    sample: the column with the number of the trajectory. If None, such a column is searched for, but only in a table whose time
        goes back: the time of a single record never goes back.
    time: the time column; searched for if None.
    Returns (variables, name of the column with the number of the trajectory). For other tables, the variables are unchanged
    and the name is None.
    """
    time = time or next((name for name in variables if bare_word(name) in TIMES), None)
    sample = sample or _counter(variables, time)
    return (variables if sample is None else fold(variables, sample, time)), sample


def _counter(variables: Variables, time: str | None) -> str | None:
    """Return the column with the number of the trajectory if the time goes back; else None."""
    clock = None if time is None else variables.entries.get(time)
    named = [v for name, v in variables.entries.items() if bare_word(name) in SAMPLES and v.numeric and len(v.shape) == 1]
    if clock is None or clock.mapped is None or len(named) != 1 or named[0].shape != clock.shape:
        return None
    return None if first_not_later(clock.mapped) is None else named[0].name


def one_for_each(name: str, runs: Sequence[np.ndarray]) -> bool:
    """Return whether a column is constant in each run and differs between runs, such as a stiffness.

    runs: the values of the column in each run.

    A column with the usual name of an input or output is a signal, even if it is constant in each run, as a step force is.

    >>> one_for_each("k", [np.ones(3), 2 * np.ones(4)]), one_for_each("force", [np.ones(3), 2 * np.ones(4)])
    (True, False)
    """
    word = bare_word(name)
    if word in INPUTS | OUTPUTS | EITHER | TIMES or not all((run == run[:1]).all() for run in runs):
        return False
    return len({float(run[0]) for run in runs}) > 1


def fold(variables: Variables, sample: str, time: str | None) -> Variables:
    """Return the columns of a table as arrays with the axes (sample, t).

    sample: the column with the number of the trajectory.
    time: the time column, or None.
    A column with one number for each trajectory becomes a vector (sample,).
    Raises LfnoError if the trajectories have different lengths or times, or if the rows of a trajectory are not together.
    """
    notes = list(variables.notes)
    numbers = variables[sample].array(notes)
    if numbers.ndim != 1 or not numbers.size:
        raise LfnoError(f"{sample!r} has shape {numbers.shape}; one number for each row is needed")
    starts = np.concatenate([[0], np.flatnonzero(np.diff(numbers)) + 1])
    lengths = np.diff(np.append(starts, len(numbers)))
    if len(np.unique(numbers[starts])) != len(starts):
        raise LfnoError(f"the rows with the same {sample!r} do not follow each other; sort the table by {sample!r}")
    if (lengths != lengths[0]).any():
        odd = int(np.argmax(lengths != lengths[0]))
        raise LfnoError(
            f"trajectory {numbers[starts[odd]]:g} has {lengths[odd]} rows and the first trajectory has {lengths[0]}; "
            "cut all trajectories to one length"
        )
    shape = (len(starts), int(lengths[0]))
    if shape[1] < 2:
        raise LfnoError(f"{sample!r} has another value in every row: it cannot be the number of a trajectory of several rows")
    notes.append(f"the table was separated by {sample!r} into {shape[0]} trajectories of {shape[1]} rows")
    entries = {}
    for name, variable in variables.entries.items():
        if name == sample or not variable.numeric or variable.shape != numbers.shape:
            continue
        values = variable.array(notes, keep_double=name == time).reshape(shape)
        if name == time:
            own = values - values[:, :1]
            if np.abs(own - own[0]).max() > 1e-3 * np.abs(np.diff(own[0])).max():
                raise LfnoError(f"the trajectories have different times in {time!r}; resample them first")
            entries[name] = Variable.of(name, own[0], variable.unit)
        elif one_for_each(name, list(values)):
            entries[name] = Variable.of(name, values[:, 0], variable.unit)
        else:
            entries[name] = Variable.of(name, values, variable.unit, ("sample", "t"))
    if not entries:
        raise LfnoError(f"the table has no columns of numbers except {sample!r}; the file has {listing(variables)}")
    return Variables(variables.source, entries, notes)
