"""`lfno reproduce`: run the matrix of tasks, models and seeds, and go on where it stopped."""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer

ODE = ("duffing-c0", "duffing-c05", "lorenz-rho5", "lorenz-rho10", "pendulum-c05")
PDE = ("beam", "heat", "reaction-diffusion", "brusselator", "burgers")
RICH = ("duffing-c05-rich", "pendulum-c05-rich", "lorenz-rho5-rich")
GROUPS = {"ode": ODE, "pde": PDE, "rich": RICH, "paper": (*ODE, *PDE)}


def register(app: typer.Typer) -> None:
    app.command()(reproduce)


def reproduce(
    tasks: Annotated[str, typer.Option(help="data sets, separated by commas; ode, pde, rich, paper name groups")] = "paper",
    models: Annotated[str, typer.Option(help="lfno, fno, lno, or 'fno deep': as many parameters")] = "lfno,fno,lno",
    preset: Annotated[str, typer.Option(help="default or paper")] = "default",
    seeds: Annotated[int, typer.Option(help="runs with different initial weights")] = 3,
    epochs: Annotated[int | None, typer.Option(help="instead of the preset's")] = None,
    out: Annotated[Path, typer.Option(help="where the records go")] = Path("results"),
    weights: Annotated[Path | None, typer.Option(help="also write the models of seed 0 here")] = None,
    label: Annotated[str | None, typer.Option(help="the row's name in tables, instead of the model's")] = None,
    study: Annotated[str, typer.Option(help="a name that keeps records of one question together")] = "main",
    stack: Annotated[int, typer.Option(help="most runs trained together; 0 chooses by device")] = 0,
    device: Annotated[str | None, typer.Option(help="cpu or cuda")] = None,
    scheduler: Annotated[str | None, typer.Option(help="a Dask cluster, as tcp://HOST:8786, instead of here")] = None,
    quiet: Annotated[bool, typer.Option(help="no progress")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="scores of all runs as JSON, and nothing else")] = False,
    set_: Annotated[list[str] | None, typer.Option("--set", help="field=value of the model or training")] = None,
) -> None:
    """Train every model on every task and write one small JSON record for each run."""
    from rich.console import Console

    from lfno.cli.live import live
    from lfno.evaluation import matrix
    from lfno.evaluation.record import read_record
    from lfno.training.fit import best_device
    from lfno.training.options import parse

    device, quiet = device or best_device(), quiet or as_json
    changes = parse(set_ or []) | ({} if epochs is None else {"epochs": epochs})
    names = [name for given in tasks.split(",") for name in GROUPS.get(given.strip(), (given.strip(),))]
    cells = []
    for kind in (given.strip() for given in models.split(",")):
        for name in names:
            model, own = kind.split(" ")[0], dict(changes)
            if kind == "fno deep":
                own["layers"] = matrix.deep_enough(matrix.Cell(name, "lfno", preset, changes=changes))
            if model == "fno":
                own = {key: value for key, value in own.items() if key in FNO_FIELDS}
            title = label or kind.upper().replace("DEEP", "deep")
            cells += [matrix.Cell(name, model, preset, title, study, seed, changes=own) for seed in range(seeds)]
    todo = matrix.missing(cells, out)
    console = Console(stderr=True, quiet=quiet)
    console.print(f"{len(todo)} of {len(cells)} runs to do on {scheduler or device}, records in {out}")
    groups = matrix.groups(todo, stack or (64 if device.startswith("cuda") else 1))
    if scheduler is not None:
        _on_cluster(scheduler, groups, device, out, weights, console)
        groups = []
    for group in groups:
        first = group[0]
        console.print(f"{first.label} on {first.task}{f' and {len(group) - 1} more runs' if len(group) > 1 else ''}")
        with live(quiet) as watch:
            records = matrix.run_group(group, out, device, watch, weights)
        _say(records, console)
    if as_json:
        found = [record for record in (read_record(out / cell.key) for cell in cells) if record is not None]
        typer.echo(json.dumps([{name: getattr(record, name) for name in TOLD} for record in found]))


#: what `--json` tells of a run; the rest is in its record
TOLD = ("task", "label", "preset", "study", "seed", "fold", "scores", "best_epoch", "seconds")


def _on_cluster(
    scheduler: str, groups: list[Any], device: str, out: Path, weights: Path | None, console: Any
) -> None:
    """A group of cells is a job; its records and weights come back from the worker as files."""
    from lfno.cluster import spread
    from lfno.evaluation.record import read_record

    targets = {"records": out, **({} if weights is None else {"weights": weights})}
    work = partial(_run_there, device=device, weights=weights is not None)
    for done, (_, paths) in enumerate(spread(scheduler, work, groups, targets), 1):
        console.print(f"{done} of {len(groups)} jobs done")
        found = [read_record(path) for path in paths if path.suffix == ".json"]
        _say([record for record in found if record is not None], console)


def _run_there(group: Any, folder: Path, device: str, weights: bool) -> None:
    from lfno.evaluation import matrix

    matrix.run_group(group, folder / "records", device, None, folder / "weights" if weights else None)


def _say(records: list[Any], console: Any) -> None:
    for record in records:
        scores = f"L2 {record.scores['l2']:.5f}  Linf {record.scores['linf']:.5f}  {record.seconds:.0f} s"
        console.print(f"  {record.label:10s} {record.task:24s} seed {record.seed}  {scores}")


#: changes that make sense for a model without poles
FNO_FIELDS = {"layers", "width", "modes", "activation", "projection", "grid_channels", "padding"} | {
    "epochs", "batch", "learning_rate", "weight_decay", "schedule", "warmup", "step_size", "gamma", "clip", "loss",
    "patience", "validate_every", "seed",
}  # fmt: skip
