"""`lfno inspect FILE`: what is inside, how it would be read, and the command that fits a model to it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any

import typer

from lfno.core.errors import LfnoError


def register(app: typer.Typer) -> None:
    app.command("inspect")(inspect)


def inspect(
    file: Annotated[Path, typer.Argument(help="NPZ, NPY, MATLAB, CSV/TSV, Parquet, HDF5 or NetCDF file.")],
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON instead of tables.")] = False,
) -> None:
    """Show the variables of a file, the sampling, what would be input and output, and the command to use."""
    report = describe(file)
    if as_json:
        typer.echo(json.dumps(report, indent=2))
        return
    _print(report)


def describe(file: Path) -> dict[str, Any]:
    """Everything `lfno inspect` prints, as JSON can hold it."""
    from lfno.data.files import read
    from lfno.data.files.variables import kind

    variables = read(file)
    rows = []
    for variable in variables.values():
        low, high, missing = variable.summary() if variable.numeric else (None, None, 0)
        empty = low is None or high is None or low > high
        rows.append(
            {
                "name": variable.name,
                "shape": list(variable.shape),
                "axes": list(variable.axes),
                "dtype": kind(variable.dtype),
                "unit": variable.unit,
                "min": None if empty else low,
                "max": None if empty else high,
                "missing": missing,
            }
        )
    return {"file": str(file), "variables": rows, **_reading(file, variables)}


def _reading(file: Path, variables: Any) -> dict[str, Any]:
    """How the file would be read, with the options it turns out to need; or the sentence that says why it cannot be."""
    from lfno.data import signals
    from lfno.data.variation import check_variation

    options: dict[str, bool] = {}
    problems: list[str] = []
    for _ in range(3):
        try:
            source = file if signals.is_dataset(file) else variables
            data = signals.load(source, **options)  # type: ignore[arg-type]
            told = check_variation(data)
        except LfnoError as error:
            problems.append(str(error))
            need = next((name for flag, name in _CURES.items() if flag in str(error) and name not in options), None)
            if need is None:
                return {"problems": problems, "command": None, "notes": variables.notes}
            options[need] = True
            continue
        return {
            "problems": problems,
            "notes": [*data.provenance.get("notes", []), *told],
            "kind": "one record" if isinstance(data, signals.Record) else f"{len(data)} trajectories",
            "split": {part: len(indices) for part, indices in data.provenance.get("split", {}).items()},
            "grid": data.grid.to_dict()["axes"],
            "input": [channel.name for channel in data.input_channels],
            "output": [channel.name for channel in data.output_channels],
            "command": _command(file, variables, data, options),
        }
    return {"problems": problems, "command": None, "notes": variables.notes}


#: what the sentence of a refusal offers -> the option of `signals.load` that does it
_CURES = {"--resample": "resample"}


def _command(file: Path, variables: Any, data: Any, options: dict[str, bool]) -> str:
    import shlex

    from lfno.data import signals
    from lfno.data.signals.names import find_roles
    from lfno.data.signals.parts import join, tell_apart

    words = ["lfno", "fit", str(file)]
    if not signals.is_dataset(file):
        arranged, sample = tell_apart(variables, None, None)
        roles = find_roles(join(arranged)[0], None, None, None, False)
        for option, names in (("--input", roles.inputs), ("--output", roles.outputs), ("--time", roles.times)):
            words += [option, ",".join(names)]
        words += ["--sample", sample] if sample else []
    return shlex.join(words + [f"--{name.replace('_', '-')}" for name in options])


def _print(report: dict[str, Any]) -> None:
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

    for note in report["notes"]:
        say(f"note: {note}")
    for problem in report["problems"]:
        say(f"problem: {problem}")
    if report["command"] is None:
        return
    say(f"data: {report['kind']}, input {', '.join(report['input'])}, output {', '.join(report['output'])}")
    for axis in report["grid"]:
        unit = axis["unit"]
        rate = f", {1 / axis['step']:.6g} Hz" if axis["time"] and unit == "s" else ""
        say(f"axis {axis['name']}: {axis['size']} points, step {axis['step']:.6g} {unit}{rate}")
    if report["split"]:
        say("split of the file: " + ", ".join(f"{count} {part}" for part, count in report["split"].items()))
    say(f"fit a model with:\n  {report['command']}")
