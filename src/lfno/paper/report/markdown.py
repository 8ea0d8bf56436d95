"""The report as three Markdown pages of the documentation: results, all tables, and what was tried."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from pathlib import Path

from lfno.paper.report.document import Document, Page, Section
from lfno.paper.report.figures.claims import claim_dots
from lfno.paper.report.selection import PRESETS
from lfno.paper.report.tables import DASH, Table, escape_markdown
from lfno.paper.report.verdicts import Verdict
from lfno.plots.style import as_svg

#: page -> its title
HEADINGS: dict[Page, str] = {"index": "Results", "tables": "All tables", "tried": "What was tried"}
#: first words of each page, with links to the other pages
OPENINGS: dict[Page, str] = {
    "index": "[All tables](tables.md) has all numbers with standard deviations. [What was tried](tried.md) lists alternatives.",
    "tables": "These are the tables behind the [results](index.md).",
    "tried": "These experiments led to the default preset. The [results](index.md) show the test errors of the default preset.",
}
COMMAND = "`lfno report --markdown FOLDER` writes this page from the records of runs."


def pages(report: Document) -> dict[str, str | bytes]:
    """Return the files of the report: file name → text of a Markdown page, or bytes of the figure of a claim with numbers."""
    made: dict[str, str | bytes] = {}
    for page, heading in HEADINGS.items():
        lines = [f"# {heading}", "", f"{escape_markdown(report.subtitle)} {OPENINGS[page]} {COMMAND}"]
        for section in report.sections:
            if section.page == page:
                lines += ["", f"## {escape_markdown(section.title)}", "", *_section(section)]
            elif page == "index" and section.verdicts:
                lines += ["", f"## {escape_markdown(section.title)}", "", *_verdicts(section, made)]
        made[f"{page}.md"] = "\n".join(lines).rstrip() + "\n"
    return made


def _verdicts(section: Section, made: dict[str, str | bytes]) -> Iterator[str]:
    """Yield the table of verdicts, and links to the figures of claims with numbers. The figures are added to `made`."""
    claims: dict[str, list[Verdict]] = {}
    for verdict in section.verdicts:
        claims.setdefault(verdict.claim, []).append(verdict)
    presets = [preset for preset in PRESETS if any(verdict.preset == preset for verdict in section.verdicts)]
    table = Table("", [section.subject, "published", *(f"{preset} preset" for preset in presets)])
    for claim, verdicts in claims.items():
        found = {verdict.preset: verdict.verdict for verdict in verdicts}
        table.add(claim, verdicts[0].published or DASH, *(found.get(preset, DASH) for preset in presets))
    yield from (table.markdown(), "")
    for number, (claim, verdicts) in enumerate(claims.items(), 1):
        image = as_svg(partial(claim_dots, verdicts)) if section.subject == "claim" else None
        if image is not None:
            name = f"claim-{number}.svg"
            made[name] = image
            yield from (f"### {escape_markdown(claim)}", "", f"![The measured values for this claim]({name})", "")


def _section(section: Section) -> Iterator[str]:
    """Yield the lines of a section: sentences, verdicts, tables, and commands for missing runs."""
    for sentence in section.sentences:
        yield from (escape_markdown(sentence), "")
    if section.verdicts:
        table = Table("", [section.subject, "published", "ours", "preset", "verdict"])
        for verdict in section.verdicts:
            ours = [str(finding) for finding in verdict.findings] + [f"run {verdict.command}"] * bool(verdict.command)
            table.add(verdict.claim, verdict.published or "–", "; ".join(ours), verdict.preset or "–", verdict.verdict)
        yield from (table.markdown(), "")
    for one in section.tables:
        yield from (f"### {escape_markdown(one.title)}", "", one.markdown(), "")
    for what, command in section.missing:
        yield f"- {escape_markdown(what)}: run `{command.replace('`', '')}`"


def write(report: Document, folder: Path) -> None:
    """Write the pages and the figures into `folder`."""
    from lfno.core.tensorfile import write_atomically

    folder.mkdir(parents=True, exist_ok=True)
    for name, content in pages(report).items():
        write_atomically(folder / name, content.encode() if isinstance(content, str) else content)
