"""Predictions of fields: the grid of all PDEs and models, and truth, prediction and scatter for each PDE."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from lfno.paper.report import paper
from lfno.paper.report.figures.examples import Example, first_example
from lfno.paper.report.selection import Runs
from lfno.plots.style import COLOURS, FIELD, colour_range, empty, panels
from lfno.systems import titles

if TYPE_CHECKING:
    from matplotlib.figure import Figure

COLUMNS = ("truth", "FNO", "LFNO", "LNO")
POINTS = 4000  # of a scatter


def picture(field: np.ndarray, one: Example) -> tuple[np.ndarray, str, str, tuple[float, float, float, float]]:
    """(image, label across, label up, extent): x upwards over time, or y upwards over x at one moment."""
    up, across, image = one.axes[0], one.axes[1], field[0]
    if one.moment:
        up, across, image = across, up, image.T
    edges = [(a.origin - a.step / 2, a.origin + (a.size - 0.5) * a.step) for a in (across, up)]
    return image, across.label, up.label, (*edges[0], *edges[1])


def moment(one: Example) -> str:
    return f", {one.moment}" if one.moment else ""


def _draw(axes: Any, field: np.ndarray, one: Example, low: float, high: float) -> Any:
    image, across, up, extent = picture(field, one)
    axes.grid(False)
    axes.set(xlabel=across, ylabel=up)
    return axes.imshow(image, cmap=FIELD, origin="lower", aspect="auto", extent=extent, vmin=low, vmax=high)


def field_grid(runs: Runs) -> Figure | None:
    """One row per PDE: truth, FNO, LFNO, LNO, all on the truth's colours."""
    found = {t: {m: first_example(runs, t, m) for m in paper.MODELS} for t in titles.PDES}
    rows = {task: row for task, row in found.items() if any(e is not None and e.ndim > 1 for e in row.values())}
    if not rows:
        return None
    figure, axes = panels(4 * len(rows), 4, 1.9)
    for k, (task, row) in enumerate(rows.items()):
        line = axes[4 * k : 4 * k + 4]
        truth = next(e for e in row.values() if e is not None)
        low, high = colour_range(picture(truth.fields["truth"], truth)[0])
        mesh: Any = None
        for panel, column in zip(line, COLUMNS, strict=True):
            one = truth if column == "truth" else row[column]
            if one is None or one.index != truth.index:
                empty(panel, f"{column}: not run" if one is None else f"{column}: run kept\nanother sample")
                continue
            mesh = _draw(panel, one.fields["truth" if column == "truth" else "prediction"], one, low, high)
            when = moment(one) if column == "truth" else ""  # once a row: titles this long would meet
            panel.set_title(f"{titles.title(task)}: {column}{when}", fontsize=8.5)
            if panel is not line[0]:
                panel.set_ylabel("")
        figure.colorbar(mesh, ax=line, label=truth.label, pad=0.01)
    return figure


def field_rows(runs: Runs, task: str) -> Figure | None:
    """One row per model: truth, prediction, and every point of the sample as (truth, prediction)."""
    found = {m: e for m in paper.MODELS if (e := first_example(runs, task, m)) is not None and e.ndim > 1}
    if not found:
        return None
    figure, axes = panels(3 * len(found), 3, 2.5)
    for k, (model, one) in enumerate(found.items()):
        left, middle, right = axes[3 * k : 3 * k + 3]
        low, high = colour_range(picture(one.fields["truth"], one)[0])
        for panel, name in ((left, "truth"), (middle, "prediction")):
            mesh = _draw(panel, one.fields[name], one, low, high)
            panel.set_title(("Truth" if name == "truth" else f"Prediction of {model}") + moment(one))
        figure.colorbar(mesh, ax=[left, middle], label=one.label, pad=0.01)
        _scatter(right, one, model)
    return figure


def _scatter(axes: Any, one: Example, model: str) -> None:
    truth, prediction = one.fields["truth"].ravel(), one.fields["prediction"].ravel()
    stride = -(-truth.size // POINTS)
    ends = [float(truth.min()), float(truth.max())]
    axes.plot(ends, ends, color=COLOURS["truth"], linewidth=0.8)
    axes.plot(truth[::stride], prediction[::stride], ".", color=COLOURS[model], markersize=2.5, alpha=0.5)
    axes.set(xlabel=f"truth, {one.label}", ylabel="prediction", title=f"{model}: prediction against truth")


def field_parts(runs: Runs) -> Figure | None:
    """Prediction, transient and steady part of LFNO, one row per PDE."""
    found = {task: first_example(runs, task, "LFNO") for task in titles.PDES}
    rows = {t: e for t, e in found.items() if e is not None and e.ndim > 1 and {"transient", "steady"} <= set(e.fields)}
    if not rows:
        return None
    figure, axes = panels(3 * len(rows), 3, 2.0)
    for k, (task, one) in enumerate(rows.items()):
        line = axes[3 * k : 3 * k + 3]
        size = max(float(np.abs(one.fields[name]).max()) for name in ("prediction", "transient", "steady")) or 1.0
        for panel, name in zip(line, ("prediction", "transient", "steady"), strict=True):
            mesh = _draw(panel, one.fields[name], one, -size, size)
            panel.set_title(f"{titles.title(task)}: {name}{moment(one)}")
        figure.colorbar(mesh, ax=line, label=one.label, pad=0.01)
    return figure
