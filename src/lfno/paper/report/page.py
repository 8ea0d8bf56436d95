"""The report as one HTML file that needs nothing else: no network, no other file."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path

from jinja2 import Environment, StrictUndefined

from lfno.paper.report.document import Document
from lfno.paper.report.goals import REACHED
from lfno.paper.report.verdicts import FAILS, HOLDS, SO_FAR


def html(report: Document) -> str:
    """The whole page. Everything that comes from records is escaped by the template engine."""
    environment = Environment(autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
    template = environment.from_string(files("lfno.paper.report").joinpath("page.html").read_text(encoding="utf-8"))
    marks = {HOLDS: "yes", SO_FAR: "yes", FAILS: "no"}
    return template.render(report=report, marks=marks | {REACHED[verdict]: mark for verdict, mark in marks.items()})


def write(report: Document, path: Path) -> None:
    from lfno.core.tensorfile import write_atomically

    write_atomically(path, html(report).encode())
