"""One self-contained HTML page about one model: figures, tables and plain sentences. It needs no network and no other file."""

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
    """A figure as `as_svg` returns it, with its caption. The caption is also the text for readers who cannot see it.

    `narrow` is the same figure drawn for a phone; a page that is at most 600 pixels wide shows it instead.
    """

    svg: bytes
    caption: str
    narrow: bytes | None = None

    @property
    def uri(self) -> str:
        """The figure as an address that holds the figure itself."""
        return as_data_uri(self.svg, "svg+xml")

    @property
    def narrow_uri(self) -> str:
        """The figure for a phone as such an address; empty where there is none."""
        return as_data_uri(self.narrow, "svg+xml") if self.narrow else ""


@dataclass(frozen=True)
class Tile:
    """One number that the reader should keep: the number, its name, and a few words that put it in proportion."""

    value: str
    name: str
    note: str = ""


@dataclass(frozen=True)
class Table:
    """Cells are text. `best` is the number of the row that is printed bold; `note` stands below the table."""

    columns: Sequence[str]
    rows: Sequence[Sequence[str]]
    best: int | None = None
    note: str = ""


@dataclass(frozen=True)
class Section:
    """Sentences, then pictures, then tables. `warning` is shown in a box above them.

    A `folded` section shows its title only, until the reader opens it. A section without a title has no heading.
    """

    title: str
    sentences: Sequence[str] = ()
    pictures: Sequence[Picture] = ()
    tables: Sequence[Table] = ()
    warning: str = ""
    folded: bool = False


@dataclass(frozen=True)
class Page:
    """One page.

    lead: a few sentences that tell the result.
    next_steps: what to try, each with its command.
    facts: the small print.
    tiles: the few numbers that matter most.
    back: (address, words) of the page above this one.

    >>> table = Table(["model", "error"], [["LFNO", "2 %"], ["linear", "9 %"]], best=0)
    >>> page = Page("My rig", ["The model explains 98 % of the test data."], [Section("Error", tables=[table])])
    >>> "<td>LFNO</td>" in page_html(page)
    True
    """

    title: str
    lead: Sequence[str]
    sections: Sequence[Section]
    next_steps: Sequence[tuple[str, str]] = ()
    facts: Sequence[str] = field(default_factory=tuple)
    tiles: Sequence[Tile] = ()
    back: tuple[str, str] | None = None


def page_html(page: Page) -> str:
    """Return the page as HTML. The template engine escapes every text, including the names of columns in a user's file."""
    environment = Environment(autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
    template = environment.from_string(files("lfno.plots").joinpath("page.html").read_text(encoding="utf-8"))
    return template.render(page=page)


def write_page(page: Page, path: Path) -> Path:
    """Write the page to `path` and return the path. A reader never sees a half-written file."""
    write_atomically(path, page_html(page).encode())
    return path
