"""The top of a text table: names, units, comments, and where the numbers begin."""

from __future__ import annotations

import re

#: `force [N]`, `time (s)`, `speed <m/s>`
_UNIT = re.compile(r"^(?P<name>.*?\S)\s*(?:\[(?P<a>[^\[\]]*)\]|\((?P<b>[^()]*)\))$")
_BARE_UNIT = re.compile(r"^[\[(]?(?P<unit>[A-Za-zµμ°%Ω/^*·²³\-0-9. ]{0,12})[\])]?$")


def split_unit(title: str) -> tuple[str, str]:
    """Name and unit of a column title.

    >>> split_unit("force [N]"), split_unit("time (s)"), split_unit("u")
    (('force', 'N'), ('time', 's'), ('u', ''))
    """
    title = title.strip().strip("\"'").strip()
    match = _UNIT.match(title)
    if match is None:
        return title, ""
    return match["name"], (match["a"] if match["a"] is not None else match["b"]).strip()


def units_row(cells: list[str]) -> list[str] | None:
    """The units in a row under the names (`s;N;m` or `[s],[N],[m]`), or None where it is not one."""
    units = []
    for cell in cells:
        match = _BARE_UNIT.match(cell.strip().strip('"').strip())
        if match is None:
            return None
        units.append(match["unit"].strip())
    return units


def name_columns(rows: list[list[str]], count: int) -> tuple[list[str], list[str], list[str]]:
    """(names, units, notes) for `count` columns from the rows of text above the numbers.

    The names are in the last row that has `count` cells, or in the one above it when the last row holds units.
    """
    fitting = [row for row in rows if len(row) == count]
    notes = [f"the line above the table was read over: {' '.join(row).strip()!r}" for row in rows if len(row) != count]
    if not fitting:
        return [f"column{k + 1}" for k in range(count)], [""] * count, [
            *notes,
            "the file has no header: columns are called column1, column2, …",
        ]
    units = units_row(fitting[-1]) if len(fitting) > 1 else None
    titles = fitting[-2] if units is not None else fitting[-1]
    used = 2 if units is not None else 1
    notes += [f"the line above the table was read over: {' '.join(row).strip()!r}" for row in fitting[:-used]]
    names, own = zip(*(split_unit(title) for title in titles), strict=True)
    named = [name or f"column{k + 1}" for k, name in enumerate(names)]
    return named, [mine or below for mine, below in zip(own, units or [""] * count, strict=True)], notes
