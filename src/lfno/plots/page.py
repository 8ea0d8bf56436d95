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
    """A figure as `as_svg` returns it, with its caption. The caption is also the text for readers who cannot see it."""

    svg: bytes
    caption: str

    @property
    def uri(self) -> str:
        return as_data_uri(self.svg, "svg+xml")


@dataclass(frozen=True)
class Table:
    """Cells are text. `best` is the number of the row that is printed bold; `note` stands below the table."""

    columns: Sequence[str]
    rows: Sequence[Sequence[str]]
    best: int | None = None
    note: str = ""


@dataclass(frozen=True)
class Section:
    """Sentences, then pictures, then tables. `warning` is shown in a box above them."""

    title: str
    sentences: Sequence[str] = ()
    pictures: Sequence[Picture] = ()
    tables: Sequence[Table] = ()
    warning: str = ""


@dataclass(frozen=True)
class Page:
    """`lead`: a few sentences that tell the result. `next_steps`: what to try, each with its command. `facts`: the small print.

    >>> page = Page("My rig", ["The model explains 98 % of the test data."], [Section("Error", tables=[table])])
    ... # doctest: +SKIP
    >>> write_page(page, Path("summary.html"))                                                   # doctest: +SKIP
    """

    title: str
    lead: Sequence[str]
    sections: Sequence[Section]
    next_steps: Sequence[tuple[str, str]] = ()
    facts: Sequence[str] = field(default_factory=tuple)


def page_html(page: Page) -> str:
    """Return the page as HTML. The template engine escapes every text, whatever a file calls its columns."""
    environment = Environment(autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
    template = environment.from_string(files("lfno.plots").joinpath("page.html").read_text(encoding="utf-8"))
    return template.render(page=page)


def write_page(page: Page, path: Path) -> Path:
    """Write the page to `path` and return the path. A reader never sees a half-written file."""
    write_atomically(path, page_html(page).encode())
    return path
