"""An HTML page with figures, tables and text, in one file. The page loads nothing from the network or from other files."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from importlib.resources import files
from pathlib import Path

from jinja2 import Environment, StrictUndefined

from lfno.core.tensorfile import write_atomically
from lfno.plots.style import as_data_uri


@dataclass(frozen=True)
class Picture:
    """A figure with its caption.

    svg: the figure, as `as_svg` returns it.
    caption: the text below the figure, also the alternative text for readers who cannot see the figure.
    narrow: the same figure drawn for a phone, shown on a page at most 600 pixels wide.
    """

    svg: bytes
    caption: str
    narrow: bytes | None = None

    @property
    def uri(self) -> str:
        """The figure as a data URI."""
        return as_data_uri(self.svg, "svg+xml")

    @property
    def narrow_uri(self) -> str:
        """The figure for a phone as a data URI; empty if there is none."""
        return as_data_uri(self.narrow, "svg+xml") if self.narrow else ""


@dataclass(frozen=True)
class Tile:
    """One important number, with its name and a short note for comparison."""

    value: str
    name: str
    note: str = ""


@dataclass(frozen=True)
class Table:
    """A table of text cells.

    best: index of the row in bold letters; None for no such row.
    note: the text below the table.
    prose: whether the last column has sentences, which are broken into lines.
    """

    columns: Sequence[str]
    rows: Sequence[Sequence[str]]
    best: int | None = None
    note: str = ""
    prose: bool = False


@dataclass(frozen=True)
class Section:
    """One section of a page: sentences, then pictures, then tables.

    title: the heading; empty for no heading.
    warning: a text in a box above the sentences.
    steps: suggestions for the reader, each as (text, command).
    folded: True to show only the title until the reader clicks on the title.
    """

    title: str
    sentences: Sequence[str] = ()
    pictures: Sequence[Picture] = ()
    tables: Sequence[Table] = ()
    warning: str = ""
    steps: Sequence[tuple[str, str]] = ()
    folded: bool = False


@dataclass(frozen=True)
class Page:
    """One page.

    title: the heading of the page.
    lead: a few sentences that state the result.
    sections: the sections in their order.
    facts: further details in small letters at the end of the page.
    tiles: the most important numbers.
    back: (address, text) of a link to the parent page.

    >>> table = Table(["model", "error"], [["LFNO", "2 %"], ["linear", "9 %"]], best=0)
    >>> page = Page("My rig", ["The model explains 98 % of the test data."], [Section("Error", tables=[table])])
    >>> "<td>LFNO</td>" in page_html(page)
    True
    """

    title: str
    lead: Sequence[str]
    sections: Sequence[Section]
    facts: Sequence[str] = field(default_factory=tuple)
    tiles: Sequence[Tile] = ()
    back: tuple[str, str] | None = None


def page_html(page: Page) -> str:
    """Return the page as HTML. All text is escaped, because names from a user's file may contain HTML."""
    environment = Environment(autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
    template = environment.from_string(files("lfno.plots").joinpath("page.html").read_text(encoding="utf-8"))
    return template.render(page=page)


def write_page(page: Page, path: Path) -> Path:
    """Write the page to `path` and return the path. The file is renamed to `path` when it is complete."""
    write_atomically(path, page_html(page).encode())
    return path
