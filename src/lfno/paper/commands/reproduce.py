"""`lfno reproduce`: train models on data sets with several seeds, and write a record of each run."""

from __future__ import annotations

import time
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer

from lfno.core.json_text import to_json


def register(app: typer.Typer) -> None:
    """Add `lfno reproduce` to the command line."""
    app.command()(reproduce)


def reproduce(
    study: Annotated[str, typer.Option(help="main, gate, padding, loss, layers, samples or ablation: see above.")] = "main",
    tasks: Annotated[
        str | None,
        typer.Option(
            help="Data sets, with commas between them. Groups: ode, pde, rich (ODEs with random inputs), rich-fields (PDEs "
            "with random forcing), rich-starts (PDEs with random initial fields), paper (ode and pde)."
        ),
    ] = None,
    models: Annotated[
        str | None, typer.Option(help="lfno, fno, lno, 'fno deep' or 'fno long', with commas between them.")
    ] = None,
    preset: Annotated[str | None, typer.Option(help="default or paper. By default the preset of the study.")] = None,
    seeds: Annotated[int, typer.Option(help="Number of runs with different initial weights.", min=1, max=1000)] = 3,
    folds: Annotated[
        int, typer.Option(help="Number of runs with different test sets, each about a fifth of the samples.", min=1, max=5)
    ] = 1,
    epochs: Annotated[int | None, typer.Option(help="Number of epochs. By default the number of the preset.")] = None,
    out: Annotated[Path, typer.Option(help="Folder of the records.")] = Path("results"),
    weights: Annotated[
        Path | None, typer.Option(help="Write the models of the main study (seed 0, fold 0, no label) into this folder.")
    ] = None,
    label: Annotated[str, typer.Option(help="Name of the row in tables. By default the name of the model.")] = "",
    stack: Annotated[
        int, typer.Option(help="Largest number of runs that are trained together. 0: 64 on a GPU, 1 on a CPU.")
    ] = 0,
    device: Annotated[str | None, typer.Option(help="cpu or cuda. By default cuda if there is a GPU.")] = None,
    scheduler: Annotated[
        str | None, typer.Option(help="Train on the Dask cluster with this address, such as tcp://HOST:8786.")
    ] = None,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Print the result without progress.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the scores of all runs as JSON, and nothing else.")] = False,
    set_: Annotated[
        list[str] | None,
        typer.Option("--set", help="Change an option of model or training, for example --set width=24. Can be repeated."),
    ] = None,
) -> None:
    """Train models on data sets with several seeds, as in the paper, and write a record of each run.

    A record is a small JSON file. A run that has a record is not repeated. An interrupted command continues if it is repeated.

    \b
    Each study has default models, data sets and a preset:
      main      LFNO, FNO and LNO on five ODEs and five 1-D PDEs
      gate      LFNO without gates, on ODEs with the paper's inputs and with
                random inputs
      padding   LFNO and FNO without padding (LFNO also without gates)
      loss      all models with a loss of values only, not of slopes
                (on ODEs, without padding and gates)
      layers    the paper's LFNO with 4+2, 3+3, 2+4, 6+0 or 0+6 layers
                (transient + steady)
      samples   LFNO and FNO with 50, 100, 150, 200 or 274 training samples
                and equal numbers of steps
      ablation  LFNO with other channel matrices R at the low Fourier modes,
                or without R; without gates; with other numbers of layers
                and poles

    \b
    Three FNOs to compare with LFNO:
      fno       the same width, modes and epochs as LFNO
      fno deep  more layers: at least as many parameters as LFNO
      fno long  more epochs: at least the training time of LFNO
                (the folder --out must have records of lfno and fno)

    Two tables of the paper give different numbers of epochs for the ODEs.

    With --preset paper and without --epochs, each ODE is trained for the larger number and scored at both numbers.

    Example: lfno reproduce --tasks duffing-c05 --models lfno,fno --seeds 1
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
        typer.echo(to_json([{name: getattr(record, name) for name in TOLD} for record in found]))


def _names(given: str | None) -> list[str] | None:
    """Return the names in a text with commas between them; None for None."""
    return None if given is None else [name.strip() for name in given.split(",")]


def _do(
    cells: list[Any], out: Path, weights: Path | None, stack: int, device: str, scheduler: str | None, console: Any
) -> None:
    """Train the cells that have no record yet, on this machine or on a cluster."""
    from lfno.paper import matrix
    from lfno.paper.stacked import run_group
    from lfno.training.live import live

    todo = matrix.missing(cells, out)
    console.print(f"{len(todo)} of {len(cells)} runs to do on {scheduler or device}, records in {out}")
    other = matrix.with_other_settings(cells, out)
    if other:
        console.print(
            f"{len(other)} of the records were made with other settings, for example {other[0].key}; these runs are not "
            "repeated: remove the records to repeat them",
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
    """Train each group of cells as a job on a Dask cluster. The workers return records and weights as files."""
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
    """Train one group of cells. This function runs on the cluster."""
    from lfno.paper.stacked import run_group

    run_group(group, folder / "records", device, None, folder / "weights" if weights else None)


def _say(records: list[Any], console: Any) -> None:
    """Print the errors and the training time of each run."""
    for record in records:
        scores = f"L2 {record.scores['l2']:.5f}  Linf {record.scores['linf']:.5f}  {record.seconds:.0f} s"
        console.print(f"  {record.label:10s} {record.task:24s} seed {record.seed}  {scores}")
