"""The result of every reader: named arrays with units. An array has names of axes if the file states them."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice

import numpy as np

from lfno.core.errors import LfnoError
from lfno.core.memory import BLOCK, allocate
from lfno.core.short import Short
from lfno.data.files.text_header import split_unit


def plain_row(index: int) -> str:
    """Return "row 1" for index 0."""
    return f"row {index + 1}"


@dataclass(frozen=True, eq=False, repr=False)
class Variable(Short):
    """One named array. Its values are read only when they are needed.

    name: name of the variable.
    shape, dtype: shape and type of the array.
    blocks: `blocks(rows)` yields consecutive pieces of at most `rows` entries along the first axis. The array may therefore be
        larger than memory.
    unit: unit of the values; "" if unknown.
    axes: names of the axes; empty if unknown.
    mapped: the array itself, if it is in memory or in a memory map; else None.
    labels: name of an axis -> names of its points, if the file names the points. Each point of such an axis is a channel.
    """

    name: str
    shape: tuple[int, ...]
    dtype: np.dtype
    blocks: Callable[[int], Iterator[np.ndarray]]
    unit: str = ""
    axes: tuple[str, ...] = ()
    mapped: np.ndarray | None = None
    labels: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    @classmethod
    def of(cls, name: str, array: np.ndarray, unit: str = "", axes: tuple[str, ...] = ()) -> Variable:
        """Return a variable with the values of an array in memory."""
        array = np.atleast_1d(array)

        def blocks(rows: int) -> Iterator[np.ndarray]:
            for start in range(0, array.shape[0], rows):
                yield array[start : start + rows]

        return cls(name, array.shape, array.dtype, blocks, unit, axes, array)

    @property
    def size(self) -> int:
        return math.prod(self.shape)

    @property
    def numeric(self) -> bool:
        return self.dtype.kind in "fiub"

    def stream(self) -> Iterator[np.ndarray]:
        """Return an iterator over the whole array in pieces of about 32 MB."""
        row = math.prod(self.shape[1:]) * self.dtype.itemsize
        return self.blocks(max(1, BLOCK // max(row, 1)))

    def array(self, notes: list[str], keep_double: bool = False) -> np.ndarray:
        """Return the values as native floats. Integers, booleans and other byte orders are converted, with a note.

        A float array in memory or in a memory map is returned without a copy, so do not write to it. A large array may become
        float32 or a file on disk; see `lfno.core.memory.allocate`.

        notes: receives a sentence for each conversion.
        keep_double: whether the values must be float64, as time stamps must.
        Raises LfnoError if the values are not real numbers, or if the file is damaged.
        """
        self.refuse_other_than_real()
        if self.dtype.kind != "f" or not self.dtype.isnative:
            notes.append(f"{self.name!r} was converted from {kind(self.dtype)} to floating point")
        elif self.mapped is not None and self.dtype.itemsize in ((8,) if keep_double else (4, 8)):
            return self.mapped
        values = allocate(self.shape, notes, repr(self.name), keep_double)
        filled = 0
        for block in self.stream():
            values[filled : filled + len(block)] = block
            filled += len(block)
        if filled != self.shape[0]:
            raise LfnoError(f"{self.name!r} ends after {filled} of {self.shape[0]} rows: the file is damaged")
        return values

    def refuse_other_than_real(self) -> None:
        """Raise LfnoError if the values are not real numbers."""
        if self.dtype.kind == "c":
            raise LfnoError(
                f"{self.name!r} holds complex values; store its real and imaginary parts as two real variables"
            )
        if not self.numeric:
            raise LfnoError(f"{self.name!r} holds {kind(self.dtype)}, not numbers; choose another variable")

    def summary(self) -> tuple[float, float, int]:
        """Return (smallest value, largest value, number of values that are NaN or infinite), in one pass over the file.

        The smallest value is ∞ and the largest is −∞ if no value is finite.
        """
        low, high, missing = math.inf, -math.inf, 0
        for block in self.stream():
            finite = block[np.isfinite(block)] if block.dtype.kind == "f" else block.ravel()
            missing += block.size - finite.size
            if finite.size:
                low, high = min(low, float(finite.min())), max(high, float(finite.max()))
        return low, high, missing


@dataclass(repr=False)
class Variables(Short):
    """The content of one file.

    source: name of the file, for messages.
    entries: the variables by name.
    notes: one sentence for each change to the data.
    row: `row(k)` says where row k is in the file ("line 13"), for messages.

    `variables["name:k"]` is column k (from 0) of the two-dimensional array `name`. If a point of an axis has the label `left`,
    `variables["left"]` or `variables["name.left"]` contains the values at that point.

    >>> Variables.of({"t": np.arange(3.0), "f": np.ones(3)})["f"].shape
    (3,)
    """

    source: str
    entries: dict[str, Variable]
    notes: list[str] = field(default_factory=list)
    row: Callable[[int], str] = plain_row

    @classmethod
    def of(cls, arrays: Mapping[str, np.ndarray], source: str = "the arrays") -> Variables:
        """Return the variables of a mapping from names to arrays."""
        return cls(source, {name: Variable.of(name, np.asarray(array)) for name, array in arrays.items()})

    def __getitem__(self, name: str) -> Variable:
        if name in self.entries:
            return self.entries[name]
        base, _, column = name.rpartition(":")
        if base in self.entries and column.isdecimal():
            return self._column(self.entries[base], int(column))
        for variable in self.entries.values():
            if name in (own := self.parts(variable.name)):
                return _point(variable, *own[name], name)
        labels = [part for one in self.entries for part in self.parts(one)]
        raise LfnoError(f"{self.source}: there is no variable {name!r}; the file has {listing([*self.entries, *labels])}")

    def parts(self, name: str) -> dict[str, tuple[str, int]]:
        """Return the channels of a variable with a labelled axis: name -> (axis, index); {} for a variable without labels.

        The name of a channel is its label, such as `left`. If another variable or label has this name too, the name of the
        channel is `variable.left`.
        """
        variable = self.entries[name]
        others = {*self.entries, *(split_unit(label)[0] for one in self.entries.values() if one is not variable
                                   for labels in one.labels.values() for label in labels)}  # fmt: skip
        own = {split_unit(label)[0]: (axis, k) for axis, labels in variable.labels.items() for k, label in enumerate(labels)}
        return {f"{name}.{label}" if label in others else label: place for label, place in own.items()}

    def _column(self, table: Variable, index: int) -> Variable:
        """Return column `index` of a two-dimensional array. Raises LfnoError if there is no such column."""
        if len(table.shape) != 2 or index >= table.shape[1]:
            raise LfnoError(f"{self.source}: {table.name!r} of shape {table.shape} has no column {index} (from 0)")
        return replace(
            table,
            name=f"{table.name}:{index}",
            shape=table.shape[:1],
            axes=table.axes[:1],
            blocks=lambda rows: (block[:, index] for block in table.blocks(rows)),
            mapped=None if table.mapped is None else table.mapped[:, index],
        )

    def __contains__(self, name: object) -> bool:
        return name in self.entries

    def __iter__(self) -> Iterator[str]:
        return iter(self.entries)

    def __len__(self) -> int:
        return len(self.entries)

    def values(self) -> list[Variable]:
        return list(self.entries.values())


def _point(variable: Variable, axis: str, index: int, name: str) -> Variable:
    """Return the values of a variable at one point of a labelled axis. The result lacks that axis."""
    place = variable.axes.index(axis)

    def blocks(rows: int) -> Iterator[np.ndarray]:
        if place:
            yield from (block.take(index, axis=place) for block in variable.blocks(rows))
        else:
            yield from Variable.of(name, next(islice(variable.blocks(1), index, None))[0]).blocks(rows)

    return replace(
        variable,
        name=name,
        shape=(*variable.shape[:place], *variable.shape[place + 1 :]),
        axes=(*variable.axes[:place], *variable.axes[place + 1 :]),
        blocks=blocks,
        unit=split_unit(variable.labels[axis][index])[1] or variable.unit,
        mapped=None if variable.mapped is None else variable.mapped.take(index, axis=place),
        labels={other: labels for other, labels in variable.labels.items() if other != axis},
    )


def labelled(entries: dict[str, Variable], labels: Mapping[str, Sequence[str]]) -> dict[str, Variable]:
    """Return the variables with the labels of their axes. The labels of an axis are ignored if they are empty or not distinct.

    labels: name of an axis -> names of its points, such as "left" or "left [m]".
    """

    def distinct(names: Sequence[str]) -> bool:
        bare = {split_unit(name)[0] for name in names}
        return all(bare) and len(bare) == len(names)

    def own(variable: Variable) -> dict[str, tuple[str, ...]]:
        sizes = dict(zip(variable.axes, variable.shape, strict=True)) if variable.axes else {}
        return {axis: names for axis, names in kept.items() if sizes.get(axis) == len(names)}

    kept = {axis: tuple(names) for axis, names in labels.items() if distinct(names)}
    return {name: replace(variable, labels=own(variable)) for name, variable in entries.items()}


def listing(names: Iterable[str]) -> str:
    """Return the names, at most twenty, as words for a sentence: `'t', 'f' and 'u'`."""
    quoted = [repr(name) for name in names]
    if len(quoted) > 20:
        quoted = [*quoted[:19], f"{len(quoted) - 19} more"]
    return " and ".join([", ".join(quoted[:-1]), quoted[-1]]) if len(quoted) > 1 else "".join(quoted) or "no variables"


def counted(number: int, noun: str) -> str:
    """Return a number with its noun: "1 row", "2 rows"."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def first_stamp(stamps: np.ndarray) -> np.datetime64:
    """Return the first date that is not missing (NaT); NaT if all dates are missing.

    >>> first_stamp(np.array(["NaT", "2024-05-01"], "M8[s]"))
    np.datetime64('2024-05-01T00:00:00')
    """
    known = stamps[~np.isnat(stamps)]
    return known[0] if known.size else np.datetime64("NaT")


def reason(error: Exception) -> str:
    """Return the first line of an error message, or the name of the error class if the message is empty."""
    return next(iter(str(error).splitlines()), "") or type(error).__name__


def kind(dtype: np.dtype) -> str:
    """Return a dtype in words, such as "text" or "big-endian float32"."""
    words = {"U": "text", "S": "text", "O": "text or objects", "V": "records", "b": "true/false", "c": "complex values"}
    order = "" if dtype.isnative else "big-endian " if dtype.byteorder == ">" else "little-endian "
    return words.get(dtype.kind, order + dtype.newbyteorder("=").name)
