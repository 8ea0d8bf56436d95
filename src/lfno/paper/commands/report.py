"""`lfno report`: one HTML page, or pages of the documentation, from the records of runs."""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path
from typing import Annotated

import typer


def register(app: typer.Typer) -> None:
    """Add `lfno report` to the command line."""
    app.command()(report)


def report(
    results: Annotated[Path, typer.Option(help="Folder with the records of runs.")] = Path("results"),
    out: Annotated[Path, typer.Option(help="The HTML page to write.")] = Path("report.html"),
    markdown: Annotated[
        Path | None, typer.Option(help="Write Markdown pages into this folder instead of one HTML page.")
    ] = None,
    baseline_seconds: Annotated[
        float, typer.Option(help="Time limit in seconds for baselines that are not in the folder yet.", min=0, max=1e6)
    ] = 120.0,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Only the result.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print only the path of the page, as JSON.")] = False,
) -> None:
    """Report the runs of `lfno reproduce`: tables with the paper's numbers, claims with verdicts, costs, figures."""
    from lfno.core.errors import LfnoError
    from lfno.core.progress import progress
    from lfno.paper.report import markdown as text
    from lfno.paper.report import page
    from lfno.paper.report.document import document

    path = markdown or out
    if markdown is None and out.is_dir():
        raise LfnoError(f"{out} is a folder: give the name of the page to write")
    if markdown is not None and markdown.exists() and not markdown.is_dir():
        raise LfnoError(f"{markdown} is a file: give the folder for the pages")
    if not any(results.rglob("*.json")):
        raise LfnoError(f"there are no records of runs in {results}: `lfno reproduce --out {results}` makes them")
    with progress(quiet or as_json) as show:
        made = document(results, markdown is None, baseline_seconds, partial(show, "report"))
    if markdown is None:
        page.write(made, out)
    else:
        text.write(made, markdown)
    typer.echo(json.dumps({"page": str(path.resolve())}) if as_json else f"wrote {path}")
