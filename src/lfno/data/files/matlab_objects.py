"""Decode objects in MATLAB files, such as `timetable`, `table`, `timeseries` and `iddata`, with the package mat-io.

Only objects are decoded here. The modules `matlab` and `matlab5` read numeric arrays, structures and cells.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from lfno.data.files.variables import Variable, first_stamp

#: class of an object -> MATLAB lines that save its arrays as plain variables; {0} stands for the name of the object
PLAIN = {
    "timetable": 's = table2struct(timetable2table({0}), "ToScalar", true); s.Time = seconds(s.Time - s.Time(1)); '
    'save("rig.mat", "-struct", "s")',
    "table": 's = table2struct({0}, "ToScalar", true); save("rig.mat", "-struct", "s")',
    "timeseries": 't = {0}.Time; x = squeeze({0}.Data); save("rig.mat", "t", "x")',
    "iddata": 'u = {0}.InputData; y = {0}.OutputData; Ts = {0}.Ts; save("rig.mat", "u", "y", "Ts")',
}
DEPTH = 8  # levels: objects that are nested more deeply are left out


def decoded(path: Path, objects: dict[str, str], notes: list[str]) -> Iterator[Variable]:
    """Yield the numeric arrays inside the objects of a file.

    objects: name of the variable that is or contains an object -> class of the object.
    notes: receives a sentence for each object that cannot be decoded, with the MATLAB lines that write its arrays.

    A column of a table is called `table.column`, a property `object.property`, and an element of a cell `object.property{1}`.
    Times and durations are in seconds.
    """
    try:
        from matio import load_from_mat
    except ImportError:
        for name, kind in objects.items():
            notes.append(f"{_left_out(name, kind)}; `pip install lfno[files]` reads it, or save its arrays: "
                         f"{plain_lines(name, kind)}")  # fmt: skip
        return
    for name, kind in objects.items():
        found: list[Variable] = []
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                value = load_from_mat(str(path), variable_names=[name], add_table_attrs=True).get(name)
            found = list(_arrays(name, value, notes, DEPTH))
        except Exception as error:  # damaged objects make mat-io raise errors of many kinds
            notes.append(f"{_left_out(name, kind)}, which cannot be decoded ({type(error).__name__}); save its arrays: "
                         f"{plain_lines(name, kind)}")  # fmt: skip
        else:
            if not found:
                notes.append(f"{_left_out(name, kind)} without arrays of numbers; save its arrays: {plain_lines(name, kind)}")
        yield from found


def plain_lines(name: str, kind: str) -> str:
    """Return the MATLAB lines that save the arrays of an object as plain variables."""
    lines = PLAIN.get(kind, 'x = {0}.PROPERTY; save("rig.mat", "x")')
    return f"`{lines.format(name)}`"


def _left_out(name: str, kind: str) -> str:
    return f"{name!r} was left out: it is a MATLAB object ({kind})"


def _arrays(name: str, value: Any, notes: list[str], depth: int) -> Iterator[Variable]:
    """Yield the numeric arrays inside the value that mat-io returns for an object, at most `depth` levels deep."""
    properties = getattr(value, "properties", None)
    if not depth:
        return
    if hasattr(value, "columns"):
        yield from _table(name, value, notes)
    elif isinstance(value, dict) or isinstance(properties, dict):
        for field, inner in (properties if isinstance(properties, dict) else value).items():
            # some classes store the property `Data` under the private name `Data_`
            yield from _arrays(f"{name}.{str(field).rstrip('_')}", inner, notes, depth - 1)
    elif not isinstance(value, np.ndarray) or not value.size:
        return
    elif value.dtype.kind in "fiubcmM":
        yield _numbers(name, value)
    elif value.dtype.names:
        several = value.size > 1
        for k, element in enumerate(value.ravel(order="F"), 1):
            for field in value.dtype.names:
                yield from _arrays(f"{name}({k}).{field}" if several else f"{name}.{field}", element[field], notes, depth - 1)
    elif value.dtype.kind == "O":
        for k, element in enumerate(value.ravel(order="F"), 1):
            yield from _arrays(f"{name}{{{k}}}" if value.size > 1 else name, element, notes, depth - 1)


def _table(name: str, table: Any, notes: list[str]) -> Iterator[Variable]:
    """Yield the columns of a table with their units, and the times of a timetable."""
    units = table.attrs.get("varUnits") or table.attrs.get("VariableUnits") or []
    index = table.index.to_numpy()
    if index.dtype.kind in "mM":
        yield _numbers(f"{name}.{table.index.name or 'Time'}", index)
    # mat-io splits a column of several signals into several columns, and then we cannot tell which unit belongs to which column
    units = list(units) if len(units) == len(table.columns) else [""] * len(table.columns)
    for column, unit in zip(table.columns, units, strict=True):
        values = table[column].to_numpy()
        if values.dtype.kind in "fiubcmM":
            yield _numbers(f"{name}.{column}", values, str(unit))
        else:
            notes.append(f"{f'{name}.{column}'!r} was left out: it does not hold numbers")


def _numbers(name: str, values: np.ndarray, unit: str = "") -> Variable:
    """Return a variable. Durations become seconds, and dates become seconds after the first date."""
    if values.dtype.kind not in "mM":
        return Variable.of(name, values, unit)
    first = values.dtype.type(0, "ns") if values.dtype.kind == "m" else first_stamp(values)
    seconds = (values - first) / np.timedelta64(1, "s")
    return Variable.of(name, np.where(np.isnat(values), np.nan, seconds), "s")
