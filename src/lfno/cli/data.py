"""`lfno data make`, `lfno data show`, `lfno data check`: make, show and check data sets."""

from __future__ import annotations

import sys
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from lfno.cli.shared import Json, Quiet
from lfno.core.errors import LfnoError
from lfno.core.json_text import to_json
from lfno.core.progress import Show, progress

if TYPE_CHECKING:
    from lfno.data.plan import Plan

Names = Annotated[list[str], typer.Argument(help="Names of data sets, or all. `lfno systems` lists the names.")]
Out = Annotated[Path | None, typer.Option(help="Folder of the files. By default the cache folder of lfno.")]
Seed = Annotated[int, typer.Option(help="Seed of the random numbers.")]
Count = Annotated[int | None, typer.Option(help="Number of samples. Each data set has its own default.")]
DType = Annotated[str, typer.Option(help="Number type in the file: float32 or float64. The solvers always use float64.")]
Settings = Annotated[
    list[str] | None, typer.Option("--set", help="Change a parameter of the system, as --set c=0.3. Can be repeated.")
]


def register(app: typer.Typer) -> None:
    """Add the commands of `lfno data` to the command line."""
    group = typer.Typer(no_args_is_help=True, help="Make, draw or check built-in data sets.")
    group.command()(make)
    group.command()(show)
    group.command()(check)
    app.add_typer(group, name="data")


def make(
    names: Names,
    out: Out = None,
    seed: Seed = 0,
    count: Count = None,
    dtype: DType = "float32",
    settings: Settings = None,
    steady: Annotated[bool, typer.Option("--steady", help="Store the periodic steady state of each sample, too.")] = False,
    scheduler: Annotated[
        str | None, typer.Option(help="Compute on the Dask cluster with this address, as tcp://HOST:8786.")
    ] = None,
    quiet: Quiet = False,
    as_json: Json = False,
) -> None:
    """Solve equations and store the data sets. A data set that exists is not made again.

    An interrupted command continues where it stopped.

    Example: lfno data make duffing-c05 --set c=0.3
    """
    import torch

    from lfno.data.make import exists, place
    from lfno.data.parallel import make_all

    changes = {"seed": seed, "count": count, "dtype": dtype, "steady": steady, **_parsed(settings)}
    plans = _plans(names, **changes)
    with progress(quiet or as_json) as show:
        if scheduler is not None:
            _make_on_cluster(scheduler, plans, changes, out, show)
        # start with the largest data set, so that all cores finish at about the same time
        missing = sorted((plan for plan in plans if not exists(plan, out)), key=lambda plan: -plan.room()[0])
        processes = min(torch.get_num_threads(), len(missing))
        if missing and not (quiet or as_json):
            _announce(missing, processes)
        todo = [plan.entry.name for plan in missing]
        seconds = dict(zip(todo, make_all(todo, changes, out, processes, show), strict=True))
    rows = []
    for plan in plans:
        name = plan.entry.name
        facts = {"name": name, "made": name in seconds, "seconds": round(seconds.get(name, 0.0), 2)}
        rows.append(facts | {"path": str(place(plan, out))})
    if as_json:
        print(to_json(rows, indent=2))
        return
    for row in rows:
        print(f"{row['name']}: " + (f"made in {row['seconds']} s" if row["made"] else "exists already") + f", {row['path']}")


def _announce(missing: list[Plan], processes: int) -> None:
    """Print how much memory and disk space the missing data sets take. `processes` data sets are in memory at a time."""
    from lfno.core.memory import human

    what = f"{missing[0].entry.name} takes" if len(missing) == 1 else f"{len(missing)} data sets take"
    rooms = [plan.room() for plan in missing]
    memory, disk = sum(room[0] for room in rooms[:processes]), sum(room[1] for room in rooms)
    print(f"{what} about {human(memory)} of memory and {human(disk)} on disk", file=sys.stderr)


def _make_on_cluster(scheduler: str, plans: list[Plan], changes: dict[str, Any], out: Path | None, show: Show) -> None:
    """Make each missing data set as a job on a cluster, and copy the files to this machine."""
    from lfno.core.cluster import spread
    from lfno.data.make import exists, place

    jobs = [(plan.entry.name, changes) for plan in plans if not exists(plan, out)]
    if jobs:
        show("data sets on the cluster", 0, len(jobs))
        for done, _ in enumerate(spread(scheduler, _make_there, jobs, {"data": place(plans[0], out).parent}), 1):
            show("data sets on the cluster", done, len(jobs))


def _make_there(job: tuple[str, dict[str, Any]], folder: Path) -> None:
    """Make one data set. This function runs on the cluster."""
    from lfno.data.make import make, plan

    make(plan(job[0], **job[1]), folder / "data")


def show(
    name: Annotated[str, typer.Argument(help="Name of a data set.")],
    out: Annotated[Path | None, typer.Option(help="File of the figure. By default NAME.png.")] = None,
    sample: Annotated[
        list[int] | None,
        typer.Option(help="Number of a sample, counted from 0. Can be repeated. By default the first, middle and last one."),
    ] = None,
    seed: Seed = 0,
    settings: Settings = None,
    quiet: Quiet = False,
    as_json: Json = False,
) -> None:
    """Draw the inputs and outputs of some samples of a data set.

    Example: lfno data show duffing-c05 --sample 0 --sample 7
    """
    from lfno.data import storage
    from lfno.data.make import make as make_one
    from lfno.plots.samples import draw

    (plan,) = _plans([name], seed=seed, **_parsed(settings))
    with progress(quiet or as_json) as show:
        path, _ = make_one(plan, None, partial(show, name))
    data = storage.load(path)
    chosen = sample or sorted({0, len(data) // 2, len(data) - 1})
    for index in chosen:
        if not 0 <= index < len(data):
            raise LfnoError(f"there is no sample {index} in {name}: it has samples 0 to {len(data) - 1}")
    target = out or Path(f"{name}.png")
    draw(data, chosen, target)
    print(to_json({"data": str(path), "figure": str(target)}) if as_json else f"data    {path}\nfigure  {target}")


def check(
    names: Names,
    samples: Annotated[int, typer.Option(help="Number of samples to solve again, chosen at random.", min=1)] = 4,
    seed: Seed = 0,
    settings: Settings = None,
    quiet: Quiet = False,
    as_json: Json = False,
) -> None:
    """Solve some samples again with an independent solver, and print the error of the data set.

    The exit code is 1 if an error is too large.

    Example: lfno data check duffing-c05
    """
    from lfno.data.check import compare

    rows = []
    plans = _plans(names, seed=seed, **_parsed(settings))
    with progress(quiet or as_json) as show:
        for plan in plans:
            rows.append(compare(plan, samples, seed, partial(show, plan.entry.name)))
    if as_json:
        print(to_json(rows, indent=2))
    else:
        _table(rows)
    if not all(row["holds"] for row in rows):
        raise typer.Exit(1)


def _table(rows: list[dict[str, Any]]) -> None:
    """Print the errors of each data set and the largest error that is allowed."""
    from rich.console import Console
    from rich.table import Table

    table = Table(title="relative error, measured with an independent solver")
    table.add_column("data set", no_wrap=True)
    for heading in ("samples", "largest error", "mean error", "allowed", "passed"):
        table.add_column(heading)
    for row in rows:
        errors = [f"{row[key]:.1e}" for key in ("largest", "mean", "promised")]
        table.add_row(row["name"], " ".join(map(str, row["samples"])), *errors, "yes" if row["holds"] else "[red]no[/]")
    Console().print(table)


def _plans(names: list[str], **changes: Any) -> list[Plan]:
    """Return the plan of each data set. A name that does not exist is reported before the first data set is made."""
    from lfno.data.make import plan
    from lfno.systems import REGISTRY

    return [plan(name, **changes) for name in (list(REGISTRY) if names == ["all"] else names)]


def _parsed(settings: list[str] | None) -> dict[str, Any]:
    """Return the values of `--set NAME=VALUE` by name, as text."""
    pairs = [setting.partition("=") for setting in settings or []]
    for name, equals, value in pairs:
        if not (name and equals and value):
            raise LfnoError(f"--set {name}{equals}{value} is not of the form name=value, as in --set c=0.3")
    return {name: value for name, _, value in pairs}
