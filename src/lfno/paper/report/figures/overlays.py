"""Figures of signals: the truth, the predictions and their errors, and the parts of LFNO's prediction."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from lfno.paper.report import paper
from lfno.paper.report.figures.examples import first_example
from lfno.paper.report.selection import Runs
from lfno.plots.answers import PARTS, TRUTH
from lfno.plots.style import COLOURS, legend, logarithmic, panels

if TYPE_CHECKING:
    from matplotlib.figure import Figure

DASHES = {"FNO": (0, (4, 1.5)), "LNO": (0, (1, 1.2)), "LFNO": "-"}  # line styles, for prints without colours
LEAST = 1e-4  # percent; lower end of the axis of errors


def overlay(runs: Runs, task: str) -> Figure | None:
    """Draw one test sample of an ODE: the input, the true output with the predictions of all models, and their errors.

    The errors are in percent of the largest true value, on a logarithmic axis.
    """
    found = {model: one for model in paper.MODELS if (one := first_example(runs, task, model)) is not None and one.ndim == 1}
    if not found:
        return None
    shown = found.get("LFNO") or next(iter(found.values()))
    time, truth = shown.axes[0], shown.fields["truth"][0]
    heights = (1.3, 1.0) if shown.input is None else (0.5, 1.3, 1.0)
    figure, axes = panels(len(heights), 1, 1.6, heights)
    above, below = axes[-2:]
    if shown.input is not None:
        axes[0].plot(time.points, shown.input[0], color="#555555", linewidth=1)
        axes[0].set(ylabel="input", xticklabels=[])
    above.plot(time.points, truth, label="truth", **TRUTH)
    for model, one in found.items():
        if one.index != shown.index:
            continue  # the example of this model is another sample
        prediction = one.fields["prediction"][0]
        above.plot(time.points, prediction, linestyle=DASHES[model], color=COLOURS[model], label=model, linewidth=1.2)
        error = 100 * np.abs(prediction - truth) / (np.abs(truth).max() or 1.0)
        below.plot(time.points, np.maximum(error, LEAST), linestyle=DASHES[model], color=COLOURS[model], linewidth=1)
    above.set(ylabel=shown.label, xticklabels=[])
    below.set(xlabel=time.label, ylabel="|error| [%]")
    logarithmic(below)
    legend(figure, axes)
    return figure


def decomposition(runs: Runs, task: str) -> Figure | None:
    """Draw the transient and the steady part of LFNO's prediction side by side on the same scale."""
    one = first_example(runs, task, "LFNO")
    if one is None or one.ndim != 1 or not set(PARTS) <= set(one.fields):
        return None
    figure, axes = panels(2, 2, 2.3)
    highest = 1.08 * max(float(np.abs(one.fields[name][0]).max()) for name in (*PARTS, "truth")) or 1.0
    for panel, name in zip(axes, PARTS, strict=True):
        panel.plot(one.axes[0].points, one.fields["truth"][0], color=COLOURS["truth"], alpha=0.2, linewidth=3, label="response")
        panel.plot(one.axes[0].points, one.fields[name][0], color=COLOURS[name], label=f"{name} part")
        panel.set(xlabel=one.axes[0].label, ylabel=one.label, ylim=(-highest, highest))
        panel.set_title(f"{name} part", loc="left")
    legend(figure, axes)
    return figure
