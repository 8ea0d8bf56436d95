"""The report as HTML: a first page, and a page for each data set. The pages load nothing from the network."""

from __future__ import annotations

from dataclasses import replace
from importlib.resources import files
from pathlib import Path

from jinja2 import Environment, StrictUndefined

from lfno.core.tensorfile import write_atomically
from lfno.paper.report.document import Document
from lfno.paper.report.goals import REACHED
from lfno.paper.report.headline import BLOCKS
from lfno.paper.report.verdicts import FAILS, HOLDS, SO_FAR
from lfno.plots.page import write_page
from lfno.systems import titles

CLAIMS = "The paper's claims"  # title of a section that the first page leaves out, because its first screen shows the claims


def html(report: Document, folder: str = "report") -> str:
    """Return the first page. All text from the records is escaped.

    Args:
        report: The report.
        folder: The folder of the pages of the data sets, relative to this page.
    """
    environment = Environment(autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
    template = environment.from_string(files("lfno.paper.report").joinpath("page.html").read_text(encoding="utf-8"))
    marks = {HOLDS: "yes", SO_FAR: "yes", FAILS: "no"}
    marks |= {REACHED[verdict]: mark for verdict, mark in marks.items()}
    links = {titles.title(task): f"{folder}/{task}.html" for task in report.tasks}
    groups = {words: [titles.title(task) for task in tasks if task in report.tasks] for words, tasks in BLOCKS.items()}
    groups["Other"] = [title for title in links if not any(title in group for group in groups.values())]
    shown = [section for section in report.sections if section.title != CLAIMS]
    return template.render(report=report, sections=shown, story=report.story, marks=marks, links=links,
                           groups=groups)  # fmt: skip


def write(report: Document, path: Path) -> None:
    """Write the first page to `path`, and the pages of the data sets into a folder beside it.

    The folder has the name of the first page without `.html`.
    """
    folder = path.with_suffix("") if path.suffix else path.with_name(f"{path.name}-tasks")
    for task, page in report.tasks.items():
        write_page(replace(page, back=(f"../{path.name}", report.title)), folder / f"{task}.html")
    write_atomically(path, html(report, folder.name).encode())
