"""`lfno report`: make an HTML report, or pages of the documentation, from the records of runs."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from lfno.core.json_text import to_json


def register(app: typer.Typer) -> None:
    """Add `lfno report` to the command line."""
    app.command()(report)


def report(
    results: Annotated[Path, typer.Option(help="Folder with the records of runs.")] = Path("results"),
    out: Annotated[Path, typer.Option(help="The HTML page to write.")] = Path("report.html"),
    markdown: Annotated[
        Path | None, typer.Option(help="Write Markdown pages into this folder, and no HTML page.")
    ] = None,
    baseline_seconds: Annotated[
        float, typer.Option(help="Time limit in seconds for computing baselines that have no record yet.", min=0, max=1e6)
    ] = 120.0,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Print no progress.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print only the path of the page, as JSON.")] = False,
) -> None:
    """Write a report on the runs of `lfno reproduce`, beside the numbers of the paper.

    The report has tables of errors, verdicts on the claims of the paper, costs and figures.

    Example: lfno report --results results --out report.html
    """
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
        raise LfnoError(f"there are no records of runs in {results}; make them with `lfno reproduce --out {results}`")
    with progress(quiet or as_json) as show:
        made = document(results, markdown is None, baseline_seconds, partial(show, "report"))
    if markdown is None:
        page.write(made, out)
    else:
        text.write(made, markdown)
    typer.echo(to_json({"page": str(path.resolve())}) if as_json else f"wrote {path}")
