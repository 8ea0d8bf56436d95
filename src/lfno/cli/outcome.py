"""Output of a finished run: the table of errors of the model and of the baselines, metrics.json and figures."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from lfno.core.errors import LfnoError
from lfno.core.json_text import to_json

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from rich.table import Table

    from lfno.surrogate import Surrogate
    from lfno.surrogate.contest import Contest

LEFT = ("model.safetensors", "log.jsonl", "metrics.json")  # a folder with one of these files holds a run

MOST_COLUMNS = 4  # outputs; with more of them, the table of errors has no column for each output


def say(text: str) -> None:
    """Print a line of text."""
    typer.echo(text)


def table(contest: Contest) -> None:
    """Print the table of candidates if there are several, the table of test errors of model and baselines, and the verdict."""
    from rich.console import Console
    from rich.markup import escape
    from rich.table import Table

    few = len(contest.outputs) <= MOST_COLUMNS
    each = [f"RMSE {name}" for name in contest.outputs] if few else []
    shown = Table(title="error on the test data", caption=_caption(contest))
    # built-in data sets also have the error of the paper: it divides by the norm of the output, not by the standard deviation
    published = ["relative L2"] if contest.builtin else []
    for heading in ("", "error", *published, *each, "fit %"):
        shown.add_column(escape(heading), justify="left" if not heading else "right")
    for name, row in contest.rows.items():
        errors = [*([row["l2"]] if contest.builtin else []), *(row["rmse"] if few else [])]
        spread = f" ± {row['spread']:.2g}" if row.get("spread") else ""
        shown.add_row(name, f"{row['nrmse']:.4g}{spread}", *(f"{error:.4g}" for error in errors), f"{row['fit']:.2f}")
    if contest.noise_floor and few:
        shown.add_row("noise floor", "", *("" for _ in published), *(f"{value:.4g}" for value in contest.noise_floor), "")
    if len(contest.candidates) > 1:
        Console().print(candidates(contest))
    Console().print(shown)
    say(contest.verdict)


def _caption(contest: Contest) -> str:
    """Return the explanation of the table of test errors."""
    from lfno.surrogate.verdict import NAMES

    told = "error: RMSE divided by the standard deviation of the output"
    baseline = NAMES["linear"]
    return f"{told}\n{baseline}: for comparison, an impulse response or transfer function" if baseline in contest.rows else told


def candidates(contest: Contest) -> Table:
    """Return the table of all fitted models. ± is the standard deviation of the validation error over the samples."""
    from rich.table import Table

    shown = Table(title="candidates")
    for heading in ("", "validation error", "parameters", "seconds", ""):
        shown.add_column(heading, justify="left" if not heading else "right")
    for name, row in contest.candidates.items():
        error = f"{row['validation']:.4g} ± {row['spread']:.2g}" if math.isfinite(row["validation"]) else "not known"
        chosen = "chosen" if row["chosen"] else ""
        shown.add_row(name, error, f"{row['parameters']}", f"{row['seconds']:.3g}", chosen)
    return shown


def facts(model: Surrogate) -> dict[str, Any]:
    """Return the facts of the training for metrics.json: model, numbers of samples, choices and notes."""
    assert model.fitted is not None
    training, prepared = model.fitted.training, model.fitted.prepared
    told: dict[str, Any] = {"model": model.kind} if training is None else training.facts()
    told |= {"samples": dict(zip(("train", "validation", "test"), prepared.split.sizes, strict=True))}
    return told | {"choices": model.fitted.choices, "notes": prepared.notes}


def leave(folder: Path, model: Surrogate, more: dict[str, Any]) -> dict[str, Any]:
    """Write metrics.json, the figure of predictions and the page about the model into `folder`.

    Returns the content of metrics.json: the errors together with `more`.
    """
    from lfno.core.tensorfile import write_atomically
    from lfno.plots.compared import signals_of_test
    from lfno.plots.fit_figures import prediction_figure
    from lfno.plots.fit_page import fit_page
    from lfno.plots.modes import field_figure, save
    from lfno.plots.page import write_page
    from lfno.surrogate.verdict import NAMES

    assert model.fitted is not None
    assert model.fitted.contest is not None
    contest = model.fitted.contest
    label = next(iter(contest.rows))
    draw: Callable[[], Figure] = partial(prediction_figure, signals_of_test(model, contest, label))
    if model.grid.ndim > 1:
        fields = {"truth": contest.truth, label: contest.prediction, NAMES["linear"]: contest.linear}
        draw = partial(field_figure, model.grid, fields)
    save(folder / "figures" / "prediction.png", draw)
    write_page(fit_page(model, folder.name, str(folder)), folder / "report.html")
    metrics = {**contest.to_dict(), **more}
    write_atomically(folder / "metrics.json", (to_json(metrics, indent=2) + "\n").encode())
    return metrics


@contextmanager
def stoppable(folder: Path) -> Iterator[None]:
    """Run the body of the `with` statement. If Ctrl-C or SIGTERM stops it, print how to resume the run."""
    from lfno.training.checkpoint import NAME

    try:
        yield
    except KeyboardInterrupt:
        if (folder / NAME).exists():
            typer.echo(f"note: {folder} holds the state of the run; repeat the command with --resume to continue", err=True)
        else:
            typer.echo("note: training had not begun, so there is nothing to resume; start the command again", err=True)
        raise


def end_if_stopped(model: Surrogate, folder: Path) -> None:
    """If Ctrl-C or SIGTERM ended the training, print how to continue, and raise KeyboardInterrupt."""
    if model.fitted is None or not model.fitted.stopped:
        return
    again = f"repeat the command with --out {folder} --resume to continue"
    typer.echo(f"note: the run was stopped; {folder} holds the best model so far; {again}", err=True)
    raise KeyboardInterrupt


def new_folder(out: Path | None, name: str, resume: bool = False) -> Path:
    """Return the folder of a run: `out`, or the first of runs/NAME, runs/NAME-2, … that does not exist.

    Raises LfnoError if `out` holds a run and `resume` is False.
    """
    if out is not None:
        if not resume and out.is_dir() and any((out / file).exists() for file in LEFT):
            raise LfnoError(f"{out} holds a run already; continue the run with --resume, or choose another folder with --out")
        return out
    folder, count = Path("runs") / name, 1
    while folder.exists():
        count += 1
        folder = Path("runs") / f"{name}-{count}"
    return folder
