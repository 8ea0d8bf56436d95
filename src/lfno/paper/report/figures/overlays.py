"""Predictions of signals over their truth: LFNO beside FNO, and beside LNO."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from lfno.paper.report.figures.examples import Example, first_example
from lfno.paper.report.selection import Runs
from lfno.plots.style import COLOURS, empty, legend, panels
from lfno.systems import titles

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def overlays(runs: Runs) -> Figure | None:
    """Two rows per ODE: truth with LFNO and FNO on the left, with LFNO and LNO on the right; below, what they miss."""
    tasks = [task for task in titles.ODES if len(runs.main.where(task=task))]
    if not tasks:
        return None
    figure, axes = panels(4 * len(tasks), 2, 1.3, heights=(1.6, 1.0))
    for row, task in enumerate(tasks):
        mine = first_example(runs, task, "LFNO")
        for column, other in enumerate(("FNO", "LNO")):
            above, below = axes[4 * row + column], axes[4 * row + 2 + column]
            _overlay(above, below, task, mine, other, first_example(runs, task, other))
    legend(figure, axes)
    return figure


def _overlay(axes: Any, below: Any, task: str, mine: Example | None, label: str, theirs: Example | None) -> None:
    axes.set_title(f"{titles.title(task)}: LFNO and {label}{'' if theirs else ', which was not run'}")
    shown = mine or theirs
    if shown is None or shown.ndim != 1:
        empty(below, "")
        return empty(axes)
    time, truth = shown.axes[0], shown.fields["truth"][0]
    axes.plot(time.points, truth, color=COLOURS["truth"], label="truth", linewidth=2.2, alpha=0.55)
    for name, found, style in ((label, theirs, "-"), ("LFNO", mine, "--")):
        if found is not None and found.index == shown.index:
            prediction = found.fields["prediction"][0]
            axes.plot(time.points, prediction, style, color=COLOURS[name], label=name, linewidth=1.1)
            below.plot(time.points, 100 * (prediction - truth) / np.abs(truth).max(), color=COLOURS[name], linewidth=0.9)
    axes.set(ylabel=shown.label, xticklabels=[])
    below.set(xlabel=time.label, ylabel="error [%]")


def decompositions(runs: Runs) -> Figure | None:
    """transient + steady = prediction of LFNO, one panel per ODE."""
    found = {task: first_example(runs, task, "LFNO") for task in titles.ODES}
    shown = {t: e for t, e in found.items() if e is not None and e.ndim == 1 and {"transient", "steady"} <= set(e.fields)}
    if not shown:
        return None
    figure, axes = panels(len(shown), 2 if len(shown) > 1 else 1, 2.3)
    for panel, (task, one) in zip(axes, shown.items(), strict=True):
        time = one.axes[0]
        panel.plot(time.points, one.fields["truth"][0], color=COLOURS["truth"], label="truth", linewidth=2.4, alpha=0.35)
        panel.plot(time.points, one.fields["prediction"][0], color=COLOURS["LFNO"], label="prediction")
        for part in ("transient", "steady"):
            panel.plot(time.points, one.fields[part][0], color=COLOURS[part], label=part, linewidth=1)
        panel.set(xlabel=time.label, ylabel=one.label, title=titles.title(task))
    legend(figure, axes)
    return figure
