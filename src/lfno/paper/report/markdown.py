"""The report as a page of the documentation: the same sections in Markdown, without pictures."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from lfno.paper.report.document import Document, Section
from lfno.paper.report.tables import Table, plain


def markdown(report: Document) -> str:
    lines = [f"# {report.title}", "", f"{report.subtitle} Written by `lfno report --markdown`: change the runs, not this page."]
    for section in report.sections:
        lines += ["", f"## {section.title}", "", *_section(section)]
    return "\n".join(lines).rstrip() + "\n"


def _section(section: Section) -> Iterator[str]:
    for sentence in section.sentences:
        yield from (plain(sentence), "")
    yield from (f"- {plain(point)}" for point in section.points)
    if section.points:
        yield ""
    if section.verdicts:
        table = Table("", [section.subject, "published", "ours", "preset", "verdict"])
        for verdict in section.verdicts:
            ours = [str(finding) for finding in verdict.findings] + [f"run {verdict.command}"] * bool(verdict.command)
            table.add(verdict.claim, verdict.published or "–", "; ".join(ours), verdict.preset or "–", verdict.verdict)
        yield from (table.markdown(), "")
    for table in section.tables:
        yield from (f"### {plain(table.title)}", "", table.markdown(), "")
    for what, command in section.missing:
        yield f"- {plain(what)}: run `{command.replace('`', '')}`"


def write(report: Document, path: Path) -> None:
    from lfno.core.tensorfile import write_atomically

    write_atomically(path, markdown(report).encode())
