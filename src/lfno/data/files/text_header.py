"""Names and units of the columns, from the rows at the top of a table."""

from __future__ import annotations

import re

#: a name with a unit in brackets: `force [N]` or `time (s)`
_UNIT = re.compile(r"^(?P<name>.*?\S)\s*(?:\[(?P<a>[^\[\]]*)\]|\((?P<b>[^()]*)\))$")
#: a unit alone, with or without brackets: `N` or `[N]`
_BARE_UNIT = re.compile(r"^[\[(]?(?P<unit>[A-Za-zµμ°%Ω/^*·²³\-0-9. ]{0,12})[\])]?$")


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

    The names are in the last row that has `count` cells. If that row holds units, the names are in the row above it.
    """
    fitting = [row for row in rows if len(row) == count]
    notes = [f"a line above the table was ignored: {' '.join(row).strip()!r}" for row in rows if len(row) != count]
    if not fitting:
        return [f"column{k + 1}" for k in range(count)], [""] * count, [
            *notes,
            "the file has no header: columns are called column1, column2, …",
        ]
    units = units_row(fitting[-1]) if len(fitting) > 1 else None
    titles = fitting[-2] if units is not None else fitting[-1]
    used = 2 if units is not None else 1
    notes += [f"a line above the table was ignored: {' '.join(row).strip()!r}" for row in fitting[:-used]]
    names, own = zip(*(split_unit(title) for title in titles), strict=True)
    named = [name or f"column{k + 1}" for k, name in enumerate(names)]
    return named, [mine or below for mine, below in zip(own, units or [""] * count, strict=True)], notes
