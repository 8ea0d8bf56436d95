"""Read Excel workbooks (.xlsx) with openpyxl: one table per sheet. Formulas are not computed: the stored results are read."""

from __future__ import annotations

import datetime
import zipfile
from pathlib import Path
from typing import Any

import numpy as np

from lfno.core.errors import LfnoError
from lfno.core.memory import refuse_bomb
from lfno.data.files.text_header import name_columns
from lfno.data.files.variables import Variable, Variables, reason

Row = tuple[Any, ...]


def read_excel(path: Path) -> Variables:
    """Return the columns of numbers and times. Times become seconds after the first time; empty cells become NaN.

    If several sheets hold numbers, the name of a column begins with its sheet: `Sheet1/force`, `Sheet2/force`. Sheets with such
    numbered names are later read as runs (`lfno.data.signals.separate`).
    """
    try:
        import openpyxl
    except ImportError as error:
        raise LfnoError(f"{path.name}: Excel files need openpyxl; install it with `pip install lfno[files]`") from error
    try:
        with zipfile.ZipFile(path) as archive:
            refuse_bomb(path.name, path.stat().st_size, sum(member.file_size for member in archive.infolist()))
        book = openpyxl.load_workbook(path, read_only=True, data_only=True, keep_links=False)
        sheets = {sheet.title: _table(list(sheet.iter_rows(values_only=True))) for sheet in book.worksheets}
        book.close()
    except LfnoError:
        raise
    except Exception as error:  # damaged files make openpyxl raise errors of many kinds
        raise LfnoError(f"{path.name}: this is not a readable Excel file ({reason(error)}); save it again as .xlsx") from error
    filled = {title: table for title, table in sheets.items() if table is not None}
    notes: list[str] = [f"the sheet {title!r} holds no table and was left out" for title in sheets if title not in filled]
    entries: dict[str, Variable] = {}
    rows = {title: first for title, (_, first) in filled.items()}
    for title, ((head, body), first) in filled.items():
        prefix = f"{title}/" if len(filled) > 1 else ""
        names, units, told = name_columns([[_text(cell) for cell in row] for row in head], len(body[0]))
        notes += told
        for column, (name, unit) in enumerate(zip(names, units, strict=True)):
            where = f"{path.name}: " + (f"sheet {title!r}, " if prefix else "")
            values, stamped = _numbers([row[column] for row in body], first, name, where)
            if stamped:
                notes.append(f"the time stamps of {prefix + name!r} were turned into seconds from the first")
            entries[prefix + name] = Variable.of(prefix + name, values, "s" if stamped else unit)
    begin = next(iter(rows.values()), 1)
    return Variables(path.name, entries, notes, lambda index: f"row {begin + index}")


def _table(rows: list[Row]) -> tuple[tuple[list[Row], list[Row]], int] | None:
    """Return ((rows above the numbers, rows of numbers), row number in Excel of the first row of numbers).

    Returns None if the sheet holds no numbers.
    """
    numeric = (any(_number(cell) for cell in row) and not any(isinstance(cell, str) for cell in row) for row in rows)
    first = next((k for k, found in enumerate(numeric) if found), None)
    if first is None:
        return None
    last = next(k for k in reversed(range(len(rows))) if any(cell is not None for cell in rows[k])) + 1
    width = max(column + 1 for row in rows[:last] for column, cell in enumerate(row) if cell is not None)
    head = [row[:width] for row in rows[:first] if any(cell is not None for cell in row)]
    empty: Row = (None,) * width
    return (head, [(*row, *empty)[:width] for row in rows[first:last]]), first + 1


def _number(cell: Any) -> bool:
    return isinstance(cell, (int, float, datetime.datetime, datetime.time, datetime.timedelta))


def _text(cell: Any) -> str:
    return "" if cell is None else str(cell)


def _numbers(cells: list[Any], first: int, name: str, where: str) -> tuple[np.ndarray, bool]:
    """Return (the column as floating point, whether its cells are times).

    first: row number in Excel of the first cell.
    name, where: the column and the file, for error messages.
    """
    stamped = any(isinstance(cell, (datetime.datetime, datetime.time, datetime.timedelta)) for cell in cells)
    values = np.full(len(cells), np.nan)
    for k, cell in enumerate(cells):
        if cell is None:
            continue
        if not _number(cell) or (stamped and isinstance(cell, (int, float))):
            raise LfnoError(f"{where}row {first + k}, column {name!r} holds {cell!r}, which is not a number; correct it")
        values[k] = _seconds(cell) if stamped else float(cell)
    return (values - values[np.isfinite(values)][0] if stamped else values), stamped


def _seconds(cell: Any) -> float:
    """Return a date in seconds since 1900, or a time of day or duration in seconds. Only differences of dates are used."""
    if isinstance(cell, datetime.datetime):
        return (cell - datetime.datetime(1900, 1, 1, tzinfo=cell.tzinfo)).total_seconds()
    if isinstance(cell, datetime.time):
        return cell.hour * 3600 + cell.minute * 60 + cell.second + cell.microsecond * 1e-6
    return float(cell.total_seconds())
