"""`lfno benchmark`: published identification benchmarks by their official protocols."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from lfno.cli.shared import Device, Json, Quiet, Settings
from lfno.core.json_text import to_json

if TYPE_CHECKING:
    from lfno.challenges import Result
    from lfno.challenges.layout import Challenge


def register(app: typer.Typer) -> None:
    """Add `lfno benchmark` to the command line."""
    app.command("benchmark")(benchmark)


def benchmark(
    name: Annotated[str | None, typer.Argument(help="Name of a benchmark. Without a name, all benchmarks are listed.")] = None,
    data: Annotated[
        Path | None,
        typer.Option(help="Folder or file of the data. By default the cache of the package nonlinear_benchmarks."),
    ] = None,
    method: Annotated[
        str,
        typer.Option(
            help="linear, level (the response depends on the input level), rectified (outputs without sign), feedback or lfno. "
            "auto compares them on held-out training data and takes the best."
        ),
    ] = "auto",
    seeds: Annotated[int, typer.Option(help="Number of networks with different initial weights.", min=1)] = 1,
    minutes: Annotated[float | None, typer.Option(help="Time limit of the whole fit, in minutes.")] = None,
    settings: Settings = None,
    out: Annotated[Path, typer.Option("--out", "-o", help="Folder of the JSON record of the run.")] = Path("benchmarks-out"),
    device: Device = None,
    quiet: Quiet = False,
    as_json: Json = False,
) -> None:
    """Run a published identification benchmark and print our errors beside the published errors.

    Example: lfno benchmark silverbox --data DATA
    """
    if name is None:
        _list(as_json)
        return
    from lfno.challenges import run
    from lfno.challenges.load import find
    from lfno.training.device import check_device
    from lfno.training.live import live
    from lfno.training.options import parse

    challenge = find(name)
    with live(quiet or as_json) as watch:
        result = run(
            name, data, method, seeds=seeds, device=check_device(device), minutes=minutes, watch=watch, **parse(settings)
        )  # fmt: skip
    path = result.write(out)
    if as_json:
        typer.echo(to_json({"record": str(path), **asdict(result)}))
        return
    _table(challenge, result)
    if other := {name: value for name, value in result.validation.items() if name not in result.figures}:
        errors = list(other.values())
        shown = f"{errors[0]:.4g}" if len(errors) == 1 else f"{min(errors):.4g} to {max(errors):.4g}"
        typer.echo(f"error on held-out training records: {shown} {challenge.unit}")
    typer.echo(f"model: {result.model}")
    typer.echo(f"fitted in {result.seconds:.0f} s on {result.environment['hardware']}; the record is {path}")


def _list(as_json: bool) -> None:
    """Print the table of all benchmarks."""
    from lfno.challenges.table import CHALLENGES

    if as_json:
        typer.echo(to_json([asdict(challenge) for challenge in CHALLENGES.values()], ensure_ascii=False))
        return
    from rich.console import Console
    from rich.table import Table

    table = Table(title="published identification benchmarks")
    for heading in ("name", "system", "unit", "files"):
        table.add_column(heading, overflow="fold", no_wrap=heading == "name")
    for challenge in CHALLENGES.values():
        table.add_row(challenge.name, challenge.title, challenge.unit, "\n".join(challenge.files))
    Console().print(table)
    typer.echo("run one with: lfno benchmark NAME --data PATH")


def _table(challenge: Challenge, result: Result) -> None:
    """Print our errors, then the published errors with their sources. ± is the standard deviation over seeds."""
    from rich.console import Console
    from rich.table import Table

    names = challenge.figures or tuple(result.figures)
    table = Table(title=f"{challenge.title}: root mean square error in {challenge.unit}")
    for heading in ("method", *names, "source"):
        table.add_column(heading, overflow="fold", justify="left" if heading in ("method", "source") else "right")
    count = len(next(iter(result.figures.values())))
    spread = result.spread
    ours = [f"{v:.4g} ± {spread[n]:.2g}" if count > 1 else f"{v:.4g}" for n, v in result.mean.items()]
    table.add_row(f"[bold]lfno, {result.method}[/]", *ours, "this run" + (f", {count} seeds" if count > 1 else ""))
    if count > 1:
        together = [f"{value:.4g}" for value in result.together.values()]
        table.add_row(f"lfno, {result.method}, mean prediction of the seeds", *together, "this run")
    held = [f"{result.validation[name]:.4g}" if name in result.validation else "" for name in result.figures]
    if any(held):
        table.add_row("  on held-out training records", *held, "this run")
    for row in challenge.published:
        shown = ["" if value is None else f"{value:.4g}" for value in row.figures]
        table.add_row(row.method, *shown, row.source)
    Console().print(table)
    if challenge.published:
        typer.echo("the published errors are quoted from other authors; some may follow an older version of the protocol")
    else:
        typer.echo("no published errors with a source are known for this protocol")
    if challenge.note:
        typer.echo(challenge.note)
