"""Read CSV, TSV and other text tables: one variable per column, parsed in pieces."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from pathlib import Path

import numpy as np

from lfno.core.errors import LfnoError
from lfno.core.memory import allocate
from lfno.data.files.text_dialect import MISSING, Dialect, is_data, sniff
from lfno.data.files.text_time import microseconds, unwrapped
from lfno.data.files.variables import Variable, Variables

LINES = 100_000  # lines: pieces of this size are parsed, because a file may be larger than memory


def read_text(path: Path) -> Variables:
    """Return the columns of a table.

    The first pass counts the rows. The second pass parses the file in pieces, so that a file may be larger than memory.
    Columns of dates, times of day and durations become seconds from the first value. Columns of text are listed, but not read.
    """
    dialect = sniff(path)
    rows = sum(1 for _ in _lines(path, dialect))
    notes = list(dialect.notes)
    if not rows:
        raise LfnoError(f"{path.name}: the file has a header and no rows of numbers")
    wanted = [k for k, kind in enumerate(dialect.kinds) if kind != "text"]
    table = allocate((len(wanted), rows), notes, f"the table of {path.name}", keep_double=True)
    lines, filled = _lines(path, dialect), 0
    while piece := list(islice(lines, LINES)):
        table[:, filled : filled + len(piece)] = _parse(path, dialect, wanted, piece)
        filled += len(piece)
    entries = {}
    for k, (name, unit, kind) in enumerate(zip(dialect.names, dialect.units, dialect.kinds, strict=True)):
        if kind == "text":
            entries[name] = Variable(name, (rows,), np.dtype(str), lambda rows: iter(()), unit)
            continue
        column = table[wanted.index(k)]
        if dialect.date is not None and k == dialect.date[0]:
            continue
        if kind == "stamp":
            if dialect.date is not None and k == dialect.date[1]:
                column += table[wanted.index(dialect.date[0])]
                notes.append(f"{dialect.names[dialect.date[0]]!r} and {name!r} are the date and the time of day of one time")
            valid = column[np.isfinite(column)]
            column -= valid[0] if valid.size else 0.0
            column /= 1e6
            column[:] = unwrapped(column)
            unit = "s"
            notes.append(f"the times of {name!r} were turned into seconds from the first")
        entries[name] = Variable.of(name, column, unit)
    return Variables(path.name, entries, notes, lambda row: f"line {_line_number(path, dialect, row)}")


def _lines(path: Path, dialect: Dialect) -> Iterator[tuple[int, str]]:
    """Yield (line number, line) of each row of data. Line numbers begin at 1."""
    with path.open(encoding=dialect.encoding, errors="replace") as file:
        for number, line in enumerate(file, 1):
            if number > dialect.header and is_data(line):
                yield number, line


def _line_number(path: Path, dialect: Dialect, row: int) -> int:
    """Return the line number of a row of data. Rows are counted from 0."""
    return next(islice((number for number, _ in _lines(path, dialect)), row, None))


def _parse(path: Path, dialect: Dialect, wanted: list[int], piece: list[tuple[int, str]]) -> np.ndarray:
    """Return the numbers of some lines, (columns, rows).

    wanted: indices of the columns that hold numbers or time stamps.
    piece: (line number, line) of each row.

    NumPy parses the lines if every cell is a number. If a cell is not a number, `_row` parses the lines one by one.
    """
    if all(kind == "number" for kind in dialect.kinds) and '"' not in piece[0][1]:
        end = dialect.delimiter if dialect.trailing else None
        lines = [line.strip() if end is None else line.strip().removesuffix(end) for _, line in piece]
        if dialect.decimal == ",":
            lines = [line.replace(",", ".") for line in lines]
        try:
            table = np.loadtxt(lines, delimiter=dialect.delimiter, ndmin=2, comments=None)
            if table.shape == (len(piece), len(dialect.names)):
                return table.T
        except ValueError:
            pass  # a cell is missing or not a number; `_row` names its line and column
    rows = [_row(path, dialect, wanted, number, line) for number, line in piece]
    return np.array(rows, dtype=np.float64).reshape(len(rows), len(wanted)).T


def _row(path: Path, dialect: Dialect, wanted: list[int], number: int, line: str) -> list[float]:
    """Return the numbers of one line."""
    cells = dialect.cells(line)
    if len(cells) != len(dialect.names):
        raise LfnoError(
            f"{path.name}: line {number} has {len(cells)} values and the other lines have {len(dialect.names)}; "
            "correct or remove that line"
        )
    return [_value(path, dialect, number, k, cells[k]) for k in wanted]


def _value(path: Path, dialect: Dialect, number: int, column: int, cell: str) -> float:
    """Return the number in a cell, or a time in microseconds (see `text_time.microseconds`); NaN for a cell without a value."""
    if cell.lower() in MISSING:
        return float("nan")
    try:
        if dialect.kinds[column] == "stamp":
            return microseconds(cell, dialect.day_first)
        cell = cell.replace(",", ".") if dialect.decimal == "," else cell
        if "_" not in cell:
            # Fortran writes 1.0D+03 for 1000
            return float(cell.replace("D", "e").replace("d", "e"))
    except ValueError:
        pass
    raise LfnoError(
        f"{path.name}: line {number}, column {dialect.names[column]!r} holds {cell[:40]!r}, which is not a number; "
        "correct the cell or leave it empty"
    )
