"""`Table`: rows of text for HTML and Markdown. Its cells hold plain text; the code that writes HTML must escape the text."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

from lfno.paper.report.selection import Figure

DASH = "–"  # the text of a cell without a value


@dataclass(frozen=True)
class TableCell:
    """A cell.

    aside: text in small print in HTML, in brackets in Markdown.
    bold: True for bold letters.
    """

    text: str
    aside: str = ""
    bold: bool = False


@dataclass(frozen=True)
class Row:
    """A row. If `heading` is True, the row has no cells, and its name spans the table."""

    name: str
    cells: tuple[TableCell, ...] = ()
    heading: bool = False


@dataclass
class Table:
    """A table with its title. `about` is a text above the table, `note` a text below the table."""

    title: str
    columns: Sequence[str]
    rows: list[Row] = field(default_factory=list)
    note: str = ""
    about: str = ""

    def heading(self, name: str) -> None:
        """Add a row whose name spans the table."""
        self.rows.append(Row(name, heading=True))

    def add(self, name: str, *cells: TableCell | str) -> None:
        """Add a row: its name in the first column, and a cell for each other column."""
        row = tuple(cell if isinstance(cell, TableCell) else TableCell(cell) for cell in cells)
        if len(row) != len(self.columns) - 1:
            raise ValueError(f"{self.title}: row {name!r} has {len(row)} cells for {len(self.columns) - 1} columns")
        self.rows.append(Row(name, row))

    def markdown(self) -> str:
        """Return the table as Markdown, with `about` above and `note` below."""
        lines = [f"| {' | '.join(escape_markdown(c) for c in self.columns)} |", "|" + "---|" * len(self.columns)]
        for row in self.rows:
            if row.heading:
                lines.append(f"| *{escape_markdown(row.name)}* |" + " |" * (len(self.columns) - 1))
                continue
            texts = [f"**{escape_markdown(c.text)}**" if c.bold else escape_markdown(c.text) for c in row.cells]
            asides = [f" ({escape_markdown(c.aside)})" if c.aside else "" for c in row.cells]
            cells = [text + aside for text, aside in zip(texts, asides, strict=True)]
            lines.append(f"| {' | '.join([escape_markdown(row.name), *cells])} |")
        about = f"{escape_markdown(self.about)}\n\n" if self.about else ""
        return about + "\n".join(lines) + (f"\n\n{escape_markdown(self.note)}" if self.note else "")


def escape_markdown(text: str) -> str:
    """Return a text in which nothing has a meaning in Markdown or HTML, except code between backticks.

    Line breaks become spaces. A single backtick is escaped.

    >>> print(escape_markdown("a_b, `c_d`"))
    a\\_b, `c_d`
    """
    parts = " ".join(str(text).split()).split("`")
    code = len(parts) % 2 == 1 and all(parts[1::2])
    if not code:
        return "\\`".join(map(_escaped, parts))
    return "".join(f"`{part.replace('|', chr(92) + '|')}`" if n % 2 else _escaped(part) for n, part in enumerate(parts))


def _escaped(text: str) -> str:
    """Return a text without backticks in which nothing has a meaning in Markdown or HTML."""
    text = text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    for mark in "\\*_[]|":
        text = text.replace(mark, "\\" + mark)
    return text


def number(value: float) -> str:
    """Return an error as text with three digits, or “diverged” if the error is not finite.

    >>> number(0.012345), number(0.0000123), number(1), number(float("nan"))
    ('0.0123', '1.23e-05', '1.00', 'diverged')
    """
    if not math.isfinite(value):
        return "diverged"
    return f"{value:#.3g}"


def show(figure: Figure | None, aside: str = "", bold: bool = False) -> TableCell:
    """Return a cell with mean ± standard deviation. A single run has no ±. If `figure` is None, the cell has a dash."""
    if figure is None:
        return TableCell(DASH, aside)
    value = figure.value
    text = number(value.mean)
    if value.count > 1 and math.isfinite(value.std):
        text += f" ± {_spread(value.std, text)}"
    return TableCell(text, aside, bold)


def _spread(std: float, mean: str) -> str:
    """Return a standard deviation as text with one digit.

    If the text `mean` has no exponent, the standard deviation has none: 0.00007 beside a mean of 0.00121, not 7e-05.
    """
    if std <= 0 or "e" in mean or std >= 1:
        return f"{std:.1g}"
    return f"{std:.{-math.floor(math.log10(float(f'{std:.0e}')))}f}"


def counted(values: Sequence[int]) -> str:
    """Return counts as text: `3` if all are equal, `1–3` for a range, and a dash for no counts."""
    if not values:
        return DASH
    low, high = min(values), max(values)
    return f"{low}" if low == high else f"{low}–{high}"
