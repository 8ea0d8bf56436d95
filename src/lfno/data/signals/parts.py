"""Join files that come in parts: variables `f_train` and `f_test`, or a table with one trajectory below the other."""

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

    Returns (variables, split). The split maps each part to its sample numbers; it is None if the file has no parts. The split
    of the author is kept, because published errors refer to it.
    Raises LfnoError if the parts do not fit together.
    """
    groups: dict[str, dict[str, Variable]] = {}
    for name in variables:
        if match := _PART.match(name):
            groups.setdefault(match["base"], {})[SUFFIXES[match["part"].lower()]] = variables[name]
    groups = {base: parts for base, parts in groups.items() if {"train", "test"} <= set(parts)}
    # vectors such as t_train and t_test are the same coordinate, given once for each part
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
            raise LfnoError(f"the parts of {base!r} and of another variable have {sizes} samples, which must agree")
        if len({variable.shape[1:] for variable in ordered.values()}) > 1:
            shapes = ", ".join(f"{v.name!r} {v.shape}" for v in ordered.values())
            raise LfnoError(f"the parts differ after their first axis, which counts samples: {shapes}")
        counts = mine
    entries = {name: v for name, v in variables.entries.items() if not any(v in p.values() for p in groups.values())}
    entries |= {base: replace(next(iter(groups[base].values())), name=base) for base in vectors}
    entries |= {base: _chain(base, [parts[part] for part in counts]) for base, parts in fields.items()}
    split, start = {}, 0
    for part, count in counts.items():
        split[part] = list(range(start, start + count))
        start += count
    words = ", ".join(f"{count} {part}" for part, count in counts.items())
    notes = [*variables.notes, f"the file comes with its own split, which is kept: {words}"]
    return Variables(variables.source, entries, notes, variables.row), split


def _chain(name: str, parts: list[Variable]) -> Variable:
    def blocks(rows: int) -> Iterator[np.ndarray]:
        for part in parts:
            yield from part.blocks(rows)

    shape = (sum(part.shape[0] for part in parts), *parts[0].shape[1:])
    axes = ("sample", *(parts[0].axes[1:] or [""] * (len(shape) - 1)))
    dtype = np.result_type(*(part.dtype for part in parts))
    return Variable(name, shape, dtype, blocks, parts[0].unit, axes)


def tell_apart(variables: Variables, sample: str | None, time: str | None) -> tuple[Variables, str | None]:
    """Turn a table with one trajectory below the other into arrays (sample, time).

    sample: the column that numbers the trajectories. If None, such a column is searched for if the time goes back, because
        the time of a single record never does.
    time: the time column; searched for if None.
    Returns (variables, name of the column that numbers the trajectories). The name is None if the table has no trajectories.
    """
    time = time or next((name for name in variables if bare_word(name) in TIMES), None)
    sample = sample or _counter(variables, time)
    return (variables if sample is None else fold(variables, sample, time)), sample


def _counter(variables: Variables, time: str | None) -> str | None:
    clock = None if time is None else variables.entries.get(time)
    named = [v for name, v in variables.entries.items() if bare_word(name) in SAMPLES and v.numeric and len(v.shape) == 1]
    if clock is None or clock.mapped is None or len(named) != 1 or named[0].shape != clock.shape:
        return None
    return None if first_not_later(clock.mapped) is None else named[0].name


def one_for_each(name: str, runs: Sequence[np.ndarray]) -> bool:
    """Return whether a column has one constant value in each run, such as a stiffness, and differs between runs.

    A column with the name of an input or an output is always a signal: it may be a step of a different height in each run.

    >>> one_for_each("k", [np.ones(3), 2 * np.ones(4)]), one_for_each("force", [np.ones(3), 2 * np.ones(4)])
    (True, False)
    """
    word = bare_word(name)
    if word in INPUTS | OUTPUTS | EITHER | TIMES or not all((run == run[:1]).all() for run in runs):
        return False
    return len({float(run[0]) for run in runs}) > 1


def fold(variables: Variables, sample: str, time: str | None) -> Variables:
    """Return the columns of a table as arrays with the axes (sample, t). The column `sample` numbers the trajectories.

    Raises LfnoError if the trajectories have different lengths or times.
    """
    notes = list(variables.notes)
    numbers = variables[sample].array(notes)
    if numbers.ndim != 1 or not numbers.size:
        raise LfnoError(f"{sample!r} has shape {numbers.shape}; one number for each row is needed")
    starts = np.concatenate([[0], np.flatnonzero(np.diff(numbers)) + 1])
    lengths = np.diff(np.append(starts, len(numbers)))
    if len(np.unique(numbers[starts])) != len(starts):
        raise LfnoError(f"the rows of one {sample!r} do not follow each other; sort the table first")
    if (lengths != lengths[0]).any():
        odd = int(np.argmax(lengths != lengths[0]))
        raise LfnoError(
            f"trajectory {numbers[starts[odd]]:g} has {lengths[odd]} rows and the first {lengths[0]}; "
            "cut all to one length"
        )
    shape = (len(starts), int(lengths[0]))
    if shape[1] < 2:
        raise LfnoError(f"every row has its own {sample!r}: it does not number trajectories of several rows")
    notes.append(f"{shape[0]} trajectories of {shape[1]} rows were told apart by {sample!r}")
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
        raise LfnoError(f"beside {sample!r} there is nothing; the file has {listing(variables)}")
    return Variables(variables.source, entries, notes)
