"""`lfno demo`: train LFNO and FNO on a nonlinear oscillator with random forces, and write a page with the result."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from lfno.cli.shared import Json, Quiet
from lfno.core.json_text import to_json

if TYPE_CHECKING:
    from rich.console import Console

    from lfno.cli.demo_outcome import Outcome, Trained
    from lfno.data.dataset import Dataset

TASK = "duffing-c05-rich"  # name of the data set of the demo
DURATION = 20.48  # s; duration of each sample of the data set


@dataclass(frozen=True)
class Size:
    """The size of the demo.

    samples: number of oscillators with different forces, for training and test together.
    points: number of time steps of a sample.
    epochs: passes over the training samples.
    changes: options of the networks that differ from the defaults.
    """

    samples: int = 380
    points: int = 256
    epochs: int = 72
    changes: dict[str, Any] = field(default_factory=dict)


FULL = Size()
QUICK = Size(samples=150, points=128, epochs=16)  # large errors, but under a minute


def register(app: typer.Typer) -> None:
    """Add `lfno demo` to the command line."""
    app.command()(demo)


def demo(
    out: Annotated[Path, typer.Option(help="Folder for the page and the models.")] = Path("demo"),
    quick: Annotated[bool, typer.Option("--quick", help="Under a minute: few data, few epochs, larger errors.")] = False,
    quiet: Quiet = False,
    as_json: Json = False,
) -> None:
    """Train LFNO and FNO on a nonlinear oscillator with random forces, and write a page with the result.

    This takes about three minutes. The page is OUT/index.html.
    """
    import torch
    from rich.console import Console

    from lfno.cli.demo_outcome import LONGER, judge
    from lfno.cli.demo_page import DATA, demo_page
    from lfno.core.grid import Grid
    from lfno.data import storage
    from lfno.data.make import dataset
    from lfno.plots.page import write_page
    from lfno.surrogate import Surrogate
    from lfno.surrogate.storage import MODEL

    torch.set_num_threads(1)  # the matrices are small: more threads would mostly wait
    size, console = QUICK if quick else FULL, Console(quiet=quiet or as_json, highlight=False)
    console.print(f"[bold]1[/] Solving {size.samples} oscillators x″ + 0.5 x′ + x + x³ = f(t), each with another random force")
    data = dataset(TASK, grid=Grid.line(size.points, dt=DURATION / size.points), count=size.samples)
    console.print("[bold]2[/] Training LFNO, then FNO for equally many epochs, then FNO for a similar time")
    lfno = _train(data, "lfno", size.epochs, size, out / "lfno", console)
    fno = _train(data, "fno", size.epochs, size, None, console)
    longer = max(size.epochs, round(size.epochs * lfno.seconds / fno.seconds))
    runs = {"LFNO": lfno, "FNO": fno, LONGER: _train(data, "fno", longer, size, None, console)}
    console.print("[bold]3[/] Computing the true transient part, steady part and modes from the equation")
    outcome = judge(data, runs)
    Surrogate([lfno.model]).save(out / "lfno" / MODEL)
    storage.save(data, out / DATA)
    page = write_page(demo_page(outcome, str(out)), out / "index.html")
    if as_json:
        typer.echo(to_json({**outcome.to_dict(), "page": str(page), "model": str(out / "lfno")}))
        return
    _show(outcome, Console(highlight=False))
    typer.echo(f"\nThe page with the figure is {page}; the model is in {out / 'lfno'}.")


def _train(data: Dataset, kind: str, epochs: int, size: Size, folder: Path | None, console: Console) -> Trained:
    """Train a network of this kind ("lfno" or "fno") and return it with its training time.

    folder: the folder for checkpoints and the log; None for none.
    """
    import time

    from lfno.cli.demo_outcome import Trained
    from lfno.data.split import standard
    from lfno.training.config import HELD
    from lfno.training.live import live
    from lfno.training.networks import train_networks
    from lfno.training.presets import default_preset

    # R, the trainable channel matrices at the low Fourier modes, stays zero. With random forces, the short trial runs that
    # `lfno train` makes for this choice would choose zero as well
    changes = size.changes | ({"steady_decay": HELD} if kind == "lfno" else {})
    console.print(f"  {kind.upper()}, {epochs} epochs")
    start = time.process_time()  # processor time: other programs must not change the number of epochs of equal time
    with live(console.quiet) as watch:
        preset = default_preset(kind, data.grid).change(epochs=epochs, **changes)
        run = train_networks(data, split := standard(len(data)), preset, folder=folder, watch=watch)
    return Trained(run.models[0], split, epochs, time.process_time() - start)


def _show(outcome: Outcome, console: Console) -> None:
    """Print the texts of `lead`, the table of errors and the table of modes."""
    from rich.table import Table

    from lfno.cli.demo_page import errors, lead, modes

    for sentence in lead(outcome):
        console.print(sentence)
    for title, one in (("Error on the test forces", errors(outcome)), ("Modes", modes(outcome))):
        table = Table(title=f"\n{title}", title_justify="left")
        for k, name in enumerate(one.columns):
            table.add_column(name, justify="left" if k == 0 else "right")
        for k, row in enumerate(one.rows):
            table.add_row(*row, style="bold" if k == one.best else None)
        console.print(table)
