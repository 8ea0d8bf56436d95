"""What a finished run prints and leaves behind: the table beside the baselines, metrics.json, figures."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from lfno.errors import LfnoError

if TYPE_CHECKING:
    from lfno.evaluation.contest import Contest
    from lfno.grid import Grid


def settings(given: list[str] | None) -> dict[str, Any]:
    """`--set name=value` as values: numbers, true/false, lists of numbers (`modes=8,8`), else words."""
    result: dict[str, Any] = {}
    for text in given or []:
        name, equals, value = text.partition("=")
        if not (name.strip() and equals and value.strip()):
            raise LfnoError(f"--set {text} is not of the form name=value, as in --set width=24")
        result[name.strip()] = _value(value.strip())
    return result


def _value(text: str) -> Any:
    if "," in text:
        return tuple(_value(part) for part in text.split(",") if part)
    words = {"true": True, "false": False, "none": None}
    if text.lower() in words:
        return words[text.lower()]
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text


def say(text: str) -> None:
    typer.echo(text)


def table(contest: Contest) -> None:
    from rich.console import Console
    from rich.table import Table

    unit = f" [{contest.unit}]" if contest.unit else ""
    shown = Table(title="error on the test data")
    for heading in ("", "relative L2", f"RMSE{unit}".replace("[", "\\["), "fit %"):
        shown.add_column(heading, justify="left" if not heading else "right")
    for name, row in contest.rows.items():
        shown.add_row(name, f"{row['l2']:.4g}", f"{row['rmse']:.4g}", f"{row['fit']:.2f}")
    Console().print(shown)
    say(contest.verdict)


def leave(folder: Path, contest: Contest, grid: Grid, label: str, more: dict[str, Any]) -> dict[str, Any]:
    """Write metrics.json and the figure of predictions; what was written comes back."""
    from lfno.report.modes import prediction_figure, save
    from lfno.tensorfile import write_atomically

    signals = {"truth": contest.truth, label: contest.prediction, "linear": contest.linear}
    save(folder / "figures" / "prediction.png", lambda: prediction_figure(grid, signals, contest.spread, label))
    metrics = {**contest.to_dict(), **more}
    write_atomically(folder / "metrics.json", (json.dumps(metrics, indent=2, default=float) + "\n").encode())
    return metrics


def new_folder(out: Path | None, name: str) -> Path:
    """Where a run goes: as given, or runs/NAME, runs/NAME-2, … so that nothing is overwritten."""
    if out is not None:
        return out
    folder, count = Path("runs") / name, 1
    while folder.exists():
        count += 1
        folder = Path("runs") / f"{name}-{count}"
    return folder
