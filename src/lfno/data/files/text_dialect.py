"""Find the delimiter, the decimal mark and the encoding of a text table: try each on the first lines of the file."""

from __future__ import annotations

import csv
import re
from dataclasses import dataclass
from pathlib import Path

from lfno.core.errors import LfnoError
from lfno.data.files.text_header import name_columns
from lfno.data.files.text_time import day_first, is_time, only_clock, only_dates

#: possible delimiters; None stands for one or more blanks. Of two equally good delimiters, the first in this list is used
DELIMITERS: tuple[str | None, ...] = (";", "\t", ",", "|", None)
#: texts of a cell that mean "no value", in lower case
MISSING = frozenset({"", "-", "--", "?", "na", "n/a", "#n/a", "nan", "-nan", "null", "none", "missing", "nat"})
#: a line that begins with one of these marks is a comment
COMMENTS = ("#", "%", "//")
SAMPLE = 2**20  # characters (for the encoding: bytes): only this many at the beginning of a file are examined
SAMPLE_LINES = 200  # lines: at most this many lines at the beginning of a file are examined
_NUMBER = re.compile(r"^[+-]?(\d+\.?\d*|\.\d+)([eEdD][+-]?\d+)?$|^[+-]?inf(inity)?$", re.IGNORECASE)
_COMMA_NUMBER = re.compile(r"^[+-]?\d*,\d+([eE][+-]?\d+)?$")


@dataclass(frozen=True)
class Dialect:
    """The format of a text table.

    encoding: encoding of the text.
    delimiter: character between two cells; None for one or more blanks.
    decimal: decimal mark, "." or ",".
    trailing: whether each line ends with a delimiter.
    names, units: name and unit of each column.
    kinds: kind of each column: "number", "stamp" (a time), or "text".
    day_first: whether dates such as 2/3/2020 begin with the day.
    date: (index of a column of dates, index of the column with the times of day of these dates); None if there is none.
    header: number of lines before the first row of numbers.
    notes: sentences about the format, for the user.
    """

    encoding: str
    delimiter: str | None
    decimal: str
    trailing: bool
    names: tuple[str, ...]
    units: tuple[str, ...]
    kinds: tuple[str, ...]
    header: int
    notes: tuple[str, ...]
    day_first: bool = False
    date: tuple[int, int] | None = None

    def cells(self, line: str) -> list[str]:
        """Return the cells of a line, without the empty cell after a trailing delimiter."""
        cells = cut(line, self.delimiter)
        return cells[:-1] if self.trailing and len(cells) == len(self.names) + 1 and not cells[-1] else cells


def cut(line: str, delimiter: str | None) -> list[str]:
    """Return the cells of a line. A delimiter inside double quotes does not end a cell."""
    line = line.strip("\r\n")
    if delimiter is None:
        return line.split()
    if '"' in line:
        return [cell.strip() for cell in next(csv.reader([line], delimiter=delimiter), [])]
    return [cell.strip() for cell in line.split(delimiter)]


def is_data(line: str) -> bool:
    """Return whether a line is neither blank nor a comment."""
    stripped = line.strip()
    return bool(stripped) and not stripped.startswith(COMMENTS)


def cell_kind(cell: str) -> str:
    """Return "missing", "number", "stamp" (a time stamp) or "text"."""
    if cell.lower() in MISSING:
        return "missing"
    if _NUMBER.match(cell) or _COMMA_NUMBER.match(cell):
        return "number"
    return "stamp" if is_time(cell) else "text"


def sniff(path: Path) -> Dialect:
    """Return the format of a text table, found in the first lines of the file.

    The delimiter is the one with which most cells are numbers and most lines have the same number of columns.

    Raises LfnoError if the file is not a text file or contains no table of numbers.
    """
    encoding, note = _encoding(path)
    with path.open(encoding=encoding, errors="replace") as file:
        text = file.read(SAMPLE)
    if "\0" in text:
        raise LfnoError(
            f"{path.name}: this is not a text file (it contains bytes of value 0); the ending of its name must state its format"
        )
    lines = text.splitlines(keepends=True)
    if len(text) == SAMPLE and len(lines) > 1:
        lines.pop()  # the sample may end in the middle of a line
    lines = lines[:SAMPLE_LINES]
    data = [line for line in lines if is_data(line)]
    if not data:
        raise LfnoError(f"{path.name}: the file has no lines besides blanks and comments")
    tail = data[-max(1, (len(data) + 1) // 2) :]
    shares = {delimiter: _share(tail, delimiter) for delimiter in DELIMITERS}
    delimiter = max(DELIMITERS, key=lambda d: (shares[d], -DELIMITERS.index(d)))
    if shares[delimiter][0] == 0:
        raise LfnoError(
            f"{path.name}: no table of numbers was found (the last examined line is {tail[-1].strip()[:60]!r}); "
            "at least one row of numbers is needed, and each row must have the same number of columns"
        )
    return _describe(path, encoding, note, lines, tail, delimiter)


def _share(tail: list[str], delimiter: str | None) -> tuple[float, bool]:
    """Return (score of a delimiter, whether there is more than one column).

    tail: lines at the end of the examined lines, where a header is unlikely.

    The score is the product of two shares: the share of cells that are numbers, missing values or time stamps, and the share
    of lines with the usual number of cells (± 1). The score is 0 if no cell is a number.
    """
    rows = [cut(line, delimiter) for line in tail]
    if delimiter == ",":
        rows = [[cell.replace(",", "x") for cell in row] for row in rows]
    kinds = [cell_kind(cell) for row in rows for cell in row]
    if "number" not in kinds:
        return 0.0, False
    good = sum(kind != "text" for kind in kinds) / len(kinds)
    counts = [len(row) for row in rows]
    usual = max(set(counts), key=counts.count)
    return good * sum(abs(count - usual) <= 1 for count in counts) / len(counts), usual > 1


def _describe(
    path: Path, encoding: str, note: list[str], lines: list[str], tail: list[str], delimiter: str | None
) -> Dialect:
    """Return the dialect of a file with this delimiter.

    note: notes about the encoding.
    lines: all examined lines.
    tail: the second half of the examined lines, without blank lines and comments.
    """
    rows = [cut(line, delimiter) for line in tail]
    counts = [len(row) for row in rows]
    count = max(set(counts), key=counts.count)
    lead = _usual([cell_kind(row[0]) for row in rows])
    first = next(
        (k for k, line in enumerate(lines) if is_data(line) and _is_row(cut(line, delimiter), count, lead)), len(lines)
    )
    above = [cut(line, delimiter) for line in lines[:first] if is_data(line)]
    if above and len(above[-1]) == count + 1 and above[-1][-1].lower() == "comment":  # LabVIEW names a column without cells
        above[-1].pop()
    ends_empty = count > 1 and delimiter is not None and all(not row[-1] for row in rows if len(row) == count)
    # if all cells of the last column are empty and the column has no name, each line ends with a delimiter
    trailing = ends_empty and not any(len(row) == count and row[-1] for row in above)
    if trailing:
        count -= 1
        above = [row[:-1] if len(row) == count + 1 and not row[-1] else row for row in above]
        note = [*note, f"each line ends with a delimiter ({delimiter!r}); no empty column was added for it"]
    if not any(len(row) == count for row in above):
        comments = [line.strip().lstrip("#%/ ") for line in lines[:first] if line.strip().startswith(COMMENTS)]
        above += [cells for comment in comments[-1:] if len(cells := cut(comment, delimiter)) == count]
    names, units, more = name_columns(above, count)
    columns = [[cell_kind(row[k]) for row in rows if len(row) > k] for k in range(count)]
    kinds = [_usual(column) for column in columns]
    comma = delimiter != "," and any(_COMMA_NUMBER.match(cell) for row in rows for cell in row)
    if comma:
        more.append("commas are the decimal mark in this file")
    unique, renamed = _unique(names)
    times = {k: [cell for row in rows if len(row) > k and is_time(cell := row[k])] for k in range(count) if kinds[k] == "stamp"}
    return Dialect(
        encoding, delimiter, "," if comma else ".", trailing, tuple(unique), tuple(units), tuple(kinds), first,
        (*note, *more, *renamed), any(day_first(cells) for cells in times.values()), _date_and_clock(times),
    )  # fmt: skip


def _date_and_clock(times: dict[int, list[str]]) -> tuple[int, int] | None:
    """Return the columns of the date and of the time of day, if the table has one of each and no other times."""
    dates = [k for k, cells in times.items() if only_dates(cells)]
    clocks = [k for k, cells in times.items() if only_clock(cells)]
    return (dates[0], clocks[0]) if len(dates) == len(clocks) == 1 and len(times) == 2 else None


def _usual(kinds: list[str]) -> str:
    """Return the kind of most cells of a column: "number", "stamp" or "text". Missing cells do not count."""
    return max(("number", "stamp", "text"), key=kinds.count)


def _is_row(cells: list[str], count: int, lead: str) -> bool:
    """Return whether cells are a row of data and not a line of the header, such as `Samples 600 600`.

    lead: the usual kind of the first column.
    """
    kinds = [cell_kind(cell) for cell in cells]
    named = kinds[0] == "text" != lead
    return abs(len(cells) - count) <= 1 and "number" in kinds and kinds.count("text") * 2 <= len(kinds) and not named


def _unique(names: list[str]) -> tuple[list[str], list[str]]:
    """Return (distinct names, notes). A name that appears a second time gets the ending `_2`."""
    seen: dict[str, int] = {}
    unique, notes = [], []
    for name in names:
        seen[name] = seen.get(name, 0) + 1
        unique.append(name if seen[name] == 1 else f"{name}_{seen[name]}")
        if seen[name] > 1:
            notes.append(f"another column has the name {name!r}; it was renamed to {unique[-1]!r}")
    if len(set(unique)) != len(unique):
        raise LfnoError(f"the names of the columns {names} are not distinct; give each column its own name in the header")
    return unique, notes


def _encoding(path: Path) -> tuple[str, list[str]]:
    """Return (encoding, notes) of a text file: UTF-16, UTF-8 or Latin-1."""
    with path.open("rb") as file:
        start = file.read(SAMPLE)
    if start.startswith((b"\xff\xfe", b"\xfe\xff")):
        return "utf-16", []
    try:
        start[: len(start) - 4 if len(start) == SAMPLE else None].decode("utf-8-sig")
    except UnicodeDecodeError:
        return "latin-1", ["the text is not UTF-8 and was read as Latin-1"]
    return "utf-8-sig", []
