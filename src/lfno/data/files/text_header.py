"""Names and units of the columns, from the rows at the top of a table."""

from __future__ import annotations

import re

#: a name with a unit in brackets: `force [N]` or `time (s)`
_UNIT = re.compile(r"^(?P<name>.*?\S)\s*(?:\[(?P<a>[^\[\]]*)\]|\((?P<b>[^()]*)\))$")
#: a unit alone, with or without brackets: `N` or `[N]`
_BARE_UNIT = re.compile(r"^[\[(]?(?P<unit>[A-Za-zµμ°%Ω/^*·²³\-0-9. ]{0,12})[\])]?$")

MOST_LINES = 3  # lines: up to this many unused lines above a table get a note each; more lines get one note together


def split_unit(title: str) -> tuple[str, str]:
    """Return (name, unit) of a column title.

    >>> split_unit("force [N]"), split_unit("time (s)"), split_unit("u")
    (('force', 'N'), ('time', 's'), ('u', ''))
    """
    title = title.strip().strip("\"'").strip()
    match = _UNIT.match(title)
    if match is None:
        return title, ""
    return match["name"], (match["a"] if match["a"] is not None else match["b"]).strip()


def units_row(cells: list[str]) -> list[str] | None:
    """Return the units in a row such as `s;N;m` or `[s],[N],[m]`; None if the row does not hold units."""
    units = []
    for cell in cells:
        match = _BARE_UNIT.match(cell.strip().strip('"').strip())
        if match is None:
            return None
        units.append(match["unit"].strip())
    return units


def name_columns(rows: list[list[str]], count: int) -> tuple[list[str], list[str], list[str]]:
    """Return (names, units, notes) of `count` columns, from the rows of text above the numbers.

    Only rows with `count` cells are used. The names are in the last of these rows. If that row holds units, the names are in
    the one before. Without such rows, the names are column1, column2, …
    """
    fitting = [row for row in rows if len(row) == count]
    unused = [row for row in rows if len(row) != count]
    if not fitting:
        numbered = [f"column{k + 1}" for k in range(count)]
        return numbered, [""] * count, [*_read_over(unused), "the file has no header: columns are called column1, column2, …"]
    units = units_row(fitting[-1]) if len(fitting) > 1 else None
    titles = fitting[-2] if units is not None else fitting[-1]
    used = 2 if units is not None else 1
    notes = _read_over([*unused, *fitting[:-used]])
    names, own = zip(*(split_unit(title) for title in titles), strict=True)
    named = [name or f"column{k + 1}" for k, name in enumerate(names)]
    return named, [mine or below for mine, below in zip(own, units or [""] * count, strict=True)], notes


def _read_over(rows: list[list[str]]) -> list[str]:
    """Return notes about the lines above the table that were not used."""
    if len(rows) > MOST_LINES:
        return [f"{len(rows)} lines above the table were ignored"]
    return [f"a line above the table was ignored: {' '.join(row).strip()!r}" for row in rows]
