"""`lfno inspect FILE`: show the variables of a file, the proposed inputs and outputs, and the command that fits a model."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from lfno.cli.shared import Json
from lfno.cli.wording import flag
from lfno.core.errors import Option
from lfno.core.json_text import to_json


def register(app: typer.Typer) -> None:
    """Add `lfno inspect` to the command line."""
    app.command("inspect")(inspect)


def inspect(
    file: Annotated[Path, typer.Argument(help="NPZ, NPY, MATLAB, CSV/TSV, Parquet, HDF5 or NetCDF file.")],
    as_json: Json = False,
) -> None:
    """Show the variables and the sampling of a file, and the command that fits a model to the file.

    Example: lfno inspect rig.csv
    """
    from lfno.data.describe import describe

    report = describe(file, flag)
    report["command"] = None if report["options"] is None else command([file], report["options"])
    if as_json:
        typer.echo(to_json(report, indent=2))
        return
    _print(report)


def command(files: Sequence[str | Path], options: Mapping[str, Any]) -> str:
    """Return the `lfno fit` command for these files. `options` are the options for reading them."""
    words = [flag(Option(name, value)) for name, value in options.items()]
    return " ".join([shlex.join(["lfno", "fit", *map(str, files)]), *words])


def _print(report: dict[str, Any]) -> None:
    """Print the table of variables, notes, problems, and the proposed reading of the file."""
    from rich.console import Console
    from rich.markup import escape
    from rich.table import Table

    console = Console()
    table = Table(title=escape(report["file"]))
    for column in ("name", "shape", "type", "unit", "range", "missing"):
        table.add_column(column)
    for row in report["variables"]:
        shape = " × ".join(map(str, row["shape"])) + (f"  ({', '.join(row['axes'])})" if any(row["axes"]) else "")
        extent = "" if row["min"] is None else f"{row['min']:.6g} … {row['max']:.6g}"
        cells = (row["name"], shape, row["dtype"], row["unit"], extent, str(row["missing"] or ""))
        table.add_row(*(escape(cell) for cell in cells))
    console.print(table)

    def say(text: str) -> None:
        console.print(escape(text), soft_wrap=True, highlight=False)

    for problem in report["problems"]:
        say(f"problem: {problem}")
    for note in report["notes"]:
        say(f"note: {note}")
    if report["command"] is None:
        if report["example"]:
            say(f"name the signals, several with commas, for example:\n  {command([report['file']], report['example'])}")
        return
    say(f"proposed reading: {report['kind']}, input {', '.join(report['input'])}, output {', '.join(report['output'])}")
    for axis in report["grid"]:
        unit = axis["unit"]
        rate = f", {1 / axis['step']:.6g} Hz" if axis["time"] and unit == "s" else ""
        say(f"axis {axis['name']}: {axis['size']} points, step {axis['step']:.6g} {unit}{rate}")
    if report["split"]:
        say("split of the file: " + ", ".join(f"{count} {part}" for part, count in report["split"].items()))
    say(f"fit a model with:\n  {report['command']}")
