"""`lfno demo`: a trained LFNO, a table in which it meets FNO, and pictures, in about two minutes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from rich.console import Console

    from lfno.paper.matrix import Cell
    from lfno.paper.record import Record

TASK = "duffing-c05-small"
SMALL = {"width": 16, "projection": 64, "batch": 16, "learning_rate": 1e-2, "validate_every": 2}


def register(app: typer.Typer) -> None:
    app.command()(demo)


def demo(
    out: Annotated[Path, typer.Option(help="where models, records and the report go")] = Path("demo"),
    epochs: Annotated[int, typer.Option(help="for LFNO and FNO alike", min=1)] = 80,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="only the result")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="the result as JSON, and nothing else")] = False,
) -> None:
    """Learn a Duffing oscillator with LFNO and FNO, at equal epochs and at equal time, and explain the result."""
    import torch
    from rich.console import Console

    from lfno.data.make import dataset
    from lfno.paper.matrix import Cell
    from lfno.paper.report.document import document
    from lfno.paper.report.page import write

    torch.set_num_threads(1)  # the products are small: a second thread would mostly wait
    console = Console(quiet=quiet or as_json)
    console.print("[bold]1[/] Solving 380 Duffing oscillators x″ + 0.5 x′ + x + x³ = A e^(−0.05t) sin 5t …")
    data = dataset(TASK)
    console.print(f"  inputs and outputs {data.inputs.shape}, labels exact to 1e-8, split 274 / 30 / 76\n")

    console.print("[bold]2[/] Training")
    # one forcing shape: R alone describes what stays, and the poles what decays, without padding no worse (validation)
    own = {"n_poles": 8, "transient_layers": 4, "steady": "free", "steady_decay": 1e-4, "padding": 0.0}
    lfno = Cell(TASK, "lfno", label="LFNO", changes=SMALL | own | {"epochs": epochs})
    fno = Cell(TASK, "fno", label="FNO", changes=SMALL | {"epochs": epochs})
    records = [_train(cell, out, console) for cell in (lfno, fno)]
    longer = max(epochs, round(epochs * records[0].seconds / records[1].seconds))
    records.append(_train(Cell(TASK, "fno", label="FNO long", changes=SMALL | {"epochs": longer}), out, console))
    page, model = out / "report.html", out / "weights" / f"{TASK}.safetensors"
    if not as_json:
        _show(records, Console())
    _explain(model, console)
    write(document(out / "results", True, 20.0), page)
    if as_json:
        told = [{name: getattr(record, name) for name in ("label", "scores", "seconds")} for record in records]
        typer.echo(json.dumps({"runs": told, "report": str(page), "model": str(model)}))
    else:
        Console().print(f"\nThe report with all pictures is [bold]{page}[/]; the model is {model}.")


def _train(cell: Cell, out: Path, console: Console) -> Record:
    from lfno.cli.live import live
    from lfno.paper.stacked import run_group

    console.print(f"  {cell.label}, {cell.resolved().training.epochs} epochs")
    with live(console.quiet) as watch:
        return run_group([cell], out / "results", "cpu", watch, out / "weights")[0]


def _show(records: list[Record], console: Console) -> None:
    from rich.table import Table

    table = Table(title="\nTest error on 76 amplitudes the models have not seen", title_justify="left")
    for name in ("model", "epochs", "training time", "parameters", "relative L2", "relative L∞"):
        table.add_column(name, justify="left" if name == "model" else "right")
    best = {name: min(record.scores[name] for record in records) for name in ("l2", "linf")}
    for record in records:
        scores = [
            f"[bold]{record.scores[name]:.4f}[/]" if record.scores[name] == best[name] else f"{record.scores[name]:.4f}"
            for name in ("l2", "linf")
        ]
        epochs, time = str(record.training["epochs"]), f"{record.seconds:.0f} s"
        name = "FNO, equal time" if record.label == "FNO long" else record.label
        table.add_row(name, epochs, time, f"{record.parameters['complex_once']:,}", *scores)
    console.print(table)
    lfno = records[0].scores["l2"]
    ratios = " and ".join(f"{record.scores['l2'] / lfno:.1f} times" for record in records[1:])
    console.print(f"At equal epochs and at equal time FNO's error is {ratios} that of LFNO.\n")


def _explain(file: Path, console: Console) -> None:
    """What the trained model says about the oscillator."""
    from lfno.models import load
    from lfno.models.pole_operator import PoleOperator

    model = load(file)
    assert isinstance(model, PoleOperator)
    console.print("[bold]3[/] The strongest poles of the trained LFNO: what rings, and how it dies out")
    for row in model.poles().top(4).rows():
        console.print(
            f"  {row['frequency']:.3f} Hz   damping ratio {row['damping_ratio']:.3f}   "
            f"time constant {row['time_constant']:.2f} s   {100 * row['contribution']:.0f} % of layer {row['layer'] + 1}",
            highlight=False,
        )
