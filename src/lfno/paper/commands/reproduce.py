"""`lfno reproduce`: run the matrix of tasks, models and seeds. A second call continues where the first one stopped."""

from __future__ import annotations

import json
import time
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer


def register(app: typer.Typer) -> None:
    """Add `lfno reproduce` to the command line."""
    app.command()(reproduce)


def reproduce(
    study: Annotated[str, typer.Option(help="main, gate, padding, loss, layers, samples or ablation")] = "main",
    tasks: Annotated[str | None, typer.Option(help="data sets, or ode, pde, rich, rich-fields, paper; by commas")] = None,
    models: Annotated[str | None, typer.Option(help="lfno, fno, lno, 'fno deep', 'fno long', separated by commas")] = None,
    preset: Annotated[str | None, typer.Option(help="default or paper")] = None,
    seeds: Annotated[int, typer.Option(help="runs with different initial weights", min=1, max=1000)] = 3,
    folds: Annotated[int, typer.Option(help="runs with another fifth of the samples as test set", min=1, max=5)] = 1,
    epochs: Annotated[int | None, typer.Option(help="number of epochs, instead of the preset's")] = None,
    out: Annotated[Path, typer.Option(help="folder of the records")] = Path("results"),
    weights: Annotated[Path | None, typer.Option(help="also write the models of seed 0 here")] = None,
    label: Annotated[str, typer.Option(help="the row's name in tables, instead of the model's")] = "",
    stack: Annotated[int, typer.Option(help="largest number of runs trained together; 0 chooses by device")] = 0,
    device: Annotated[str | None, typer.Option(help="cpu or cuda")] = None,
    scheduler: Annotated[str | None, typer.Option(help="a Dask cluster, as tcp://HOST:8786, instead of here")] = None,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="only the result")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="scores of all runs as JSON, and nothing else")] = False,
    set_: Annotated[list[str] | None, typer.Option("--set", help="field=value of the model or training")] = None,
) -> None:
    """Train every model on every task and write one small JSON record for each run. A second call continues a stopped one.

    \b
    Studies and their default runs:
      main      lfno, fno, lno on the five ODEs and five 1-D PDEs, default preset
      gate      LFNO on signals without gates
      padding   without padding (and LFNO without gates)
      loss      signals with a loss on values only, not on slopes (and without padding and gates)
      layers    transient + steady layers 4+2, 3+3, 2+4, 6+0, 0+6 of the paper's LFNO
      samples   50, 100, 150, 200, 274 training samples, LFNO and FNO, with equal numbers of steps
      ablation  LFNO with R free, residual, shared, none; without gates; depth; number of poles

    \b
    FNOs to compare with LFNO, on any task and preset:
      fno       the same width, modes and epochs
      fno deep  with more layers, so that it has at least LFNO's parameters
      fno long  with as many epochs as fit into LFNO's training time, by the records in --out

    Two tables of the paper give different epochs for the ODEs. With the paper's preset and without --epochs, each ODE is
    trained for the larger number and scored at both.
    """
    from rich.console import Console

    from lfno.paper.record import read_record
    from lfno.paper.studies import Question
    from lfno.training.device import best_device, check_device
    from lfno.training.options import parse

    changes = parse(set_ or []) | ({} if epochs is None else {"epochs": epochs})
    question = Question(study, _names(tasks), _names(models), preset, seeds, folds, label, changes)
    place = device or best_device() if scheduler else check_device(device) or best_device()  # workers may have other devices
    console = Console(stderr=True, quiet=quiet or as_json)
    cells = []
    for kinds in question.stages():
        stage = question.cells(kinds, out)
        _do(stage, out, weights, stack, place, scheduler, console)
        cells += stage
    if not as_json:
        typer.echo(f"records of {len(cells)} runs are in {out}")
    else:
        found = [record for record in (read_record(out / cell.key) for cell in cells) if record is not None]
        typer.echo(json.dumps([{name: getattr(record, name) for name in TOLD} for record in found]))


def _names(given: str | None) -> list[str] | None:
    return None if given is None else [name.strip() for name in given.split(",")]


def _do(
    cells: list[Any], out: Path, weights: Path | None, stack: int, device: str, scheduler: str | None, console: Any
) -> None:
    """Run the cells of a stage that have no record yet, here or on a cluster."""
    from lfno.paper import matrix
    from lfno.paper.stacked import run_group
    from lfno.training.live import live

    todo = matrix.missing(cells, out)
    console.print(f"{len(todo)} of {len(cells)} runs to do on {scheduler or device}, records in {out}")
    other = matrix.with_other_settings(cells, out)
    if other:
        console.print(
            f"{len(other)} of the records were made with other settings, as {other[0].key}; they are not run again: remove "
            "them to run them again",
            highlight=False,
            soft_wrap=True,
        )
    groups = matrix.groups(todo, stack or (64 if device.startswith("cuda") else 1))
    if scheduler is not None:
        _on_cluster(scheduler, groups, device, out, weights, console)
        return
    start = time.monotonic()
    for done, group in enumerate(groups):
        first = group[0]
        others = f", in a stack of {len(group)} runs" if len(group) > 1 else ""
        left = f", about {(time.monotonic() - start) / done * (len(groups) - done):.0f} s left" if done else ""
        console.print(f"{done} of {len(groups)} done{left}: {first.title} on {first.task}{others}", highlight=False)
        with live(console.quiet) as watch:
            records = run_group(group, out, device, watch, weights)
        _say(records, console)


#: fields of a record that `--json` prints
TOLD = ("task", "label", "preset", "study", "seed", "fold", "scores", "out_of_family", "best_epoch", "seconds")


def _on_cluster(
    scheduler: str, groups: list[Any], device: str, out: Path, weights: Path | None, console: Any
) -> None:
    """Run each group of cells as a job on a cluster. The workers return records and weights as files."""
    from lfno.core.cluster import spread
    from lfno.paper.record import read_record

    targets = {"records": out, **({} if weights is None else {"weights": weights})}
    work = partial(_run_there, device=device, weights=weights is not None)
    start = time.monotonic()
    for done, (_, paths) in enumerate(spread(scheduler, work, groups, targets), 1):
        left = (time.monotonic() - start) / done * (len(groups) - done)
        console.print(f"{done} of {len(groups)} jobs done, about {left:.0f} s left", highlight=False)
        found = [read_record(path) for path in paths if path.suffix == ".json"]
        _say([record for record in found if record is not None], console)


def _run_there(group: Any, folder: Path, device: str, weights: bool) -> None:
    from lfno.paper.stacked import run_group

    run_group(group, folder / "records", device, None, folder / "weights" if weights else None)


def _say(records: list[Any], console: Any) -> None:
    for record in records:
        scores = f"L2 {record.scores['l2']:.5f}  Linf {record.scores['linf']:.5f}  {record.seconds:.0f} s"
        console.print(f"  {record.label:10s} {record.task:24s} seed {record.seed}  {scores}")
