"""Experiments that led to the default preset: tables from the file tried.toml in the folder of records."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

from lfno.core.errors import LfnoError
from lfno.paper.report.tables import Table

FILE = "tried.toml"


def tried_tables(results: Path) -> list[Table]:
    """Return the tables of the file tried.toml in the folder `results`; an empty list if there is no such file.

    Each `[[table]]` of the file has the keys `title`, `setting` (text above the table), `columns`, `rows` and optionally
    `conclusion` (text below the table).

    Raises:
        LfnoError: The file is not valid TOML, a key is missing, or a row has another number of cells than there are columns.
    """
    path = results / FILE
    if not path.is_file():
        return []
    try:
        return [_table(entry) for entry in tomllib.loads(path.read_text(encoding="utf-8"))["table"]]
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, KeyError, TypeError, ValueError) as error:
        parts = "[[table]] entries with title, setting, columns and rows"
        raise LfnoError(f"{path} cannot be read ({error}): it must hold {parts}") from error


def _table(entry: dict[str, Any]) -> Table:
    """Return the table of one `[[table]]` of the file."""
    table = Table(entry["title"], entry["columns"], about=entry["setting"], note=entry.get("conclusion", ""))
    for name, *cells in entry["rows"]:
        table.add(str(name), *(str(cell) for cell in cells))
    return table
