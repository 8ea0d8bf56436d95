"""The chart of errors: the error of every model and of every baseline on every data set."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from lfno.paper.report import paper
from lfno.paper.report.baselines import Scores
from lfno.paper.report.headline import compared, shown_tasks
from lfno.paper.report.selection import Runs
from lfno.plots.style import COLOURS, MARKERS, NARROW, WIDTH
from lfno.systems import titles

if TYPE_CHECKING:
    from matplotlib.figure import Figure

FLOOR = 1e-6  # smaller errors are drawn as an arrow at the left border
GREY = "#666666"  # colour of the baselines
#: model or baseline → its name in the legend and its marker. The shapes of the markers differ, for prints without colours
MARKS: dict[str, tuple[str, dict[str, Any]]] = {
    "interpolation": ("interpolation", {"marker": "x", "color": GREY, "markersize": 6}),
    "linear": ("linear model", {"marker": "s", "color": GREY, "markerfacecolor": "white", "markersize": 6}),
    "identified": ("identified equations", {"marker": "+", "color": GREY, "markersize": 7}),
    "published": ("LFNO as published", {"marker": "D", "color": COLOURS["truth"], "markerfacecolor": "white", "markersize": 5}),
    "LNO": ("LNO", {"marker": MARKERS["LNO"], "color": COLOURS["LNO"], "markerfacecolor": "white", "markersize": 6}),
    "FNO": ("FNO", {"marker": MARKERS["FNO"], "color": COLOURS["FNO"], "markersize": 7}),
    "LFNO": ("LFNO", {"marker": MARKERS["LFNO"], "color": COLOURS["LFNO"], "markersize": 8}),
}


def error_chart(runs: Runs, baselines: dict[str, Scores], narrow: bool = False) -> Figure | None:
    """Draw the relative L2 errors of the default preset on a logarithmic axis, with one row for each data set.

    narrow: True for a figure for a phone.

    Returns:
        The figure, or None if there are no records.
    """
    from matplotlib.figure import Figure

    blocks = shown_tasks(runs)
    if not blocks:
        return None
    heights = _places(blocks)
    depth = max(heights.values()) + 1.2
    size = (NARROW, 0.6 + 0.3 * depth) if narrow else (0.72 * WIDTH, 0.55 + 0.26 * depth)
    figure = Figure(figsize=size, layout="constrained")
    panel = figure.subplots()
    default = runs.main.where(preset="default")
    for heading, tasks in blocks.items():
        top = heights[tasks[0]]
        words = heading.partition(":")[0] if narrow else heading
        panel.text(0.8 * FLOOR, top - 0.9, words, fontweight="bold", va="center").set_in_layout(False)
        for task in tasks:
            errors = compared(default, baselines, task) | {"published": paper.published("l2", task, "LFNO")}
            _line(panel, heights[task], errors)
    panel.set(xscale="log", xlim=(0.7 * FLOOR, 1.3), ylim=(depth - 0.4, -0.4), xlabel="relative L2 error on test samples")
    names = [titles.title(task.removesuffix("-rich")) for task in heights]
    panel.set_yticks(list(heights.values()), names)
    panel.tick_params(axis="y", length=0)
    panel.grid(axis="y", visible=False)
    every = 2 if narrow else 1
    panel.set_xticks([10.0**k for k in range(-6, 1)][::every], [f"{10.0 ** (k + 2):g} %" for k in range(-6, 1)][::every])
    panel.minorticks_off()
    handles = [panel.plot([], [], linestyle="none", label=name, **style)[0] for name, style in MARKS.values()]
    figure.legend(handles=handles[::-1], loc="outside upper center", ncols=3 if narrow else 6, handletextpad=0.1,
                  columnspacing=1.0)  # fmt: skip
    return figure


def _places(blocks: dict[str, list[str]]) -> dict[str, float]:
    """Return the vertical position of the row of each data set. Positions count downwards, and the first row has position 1.

    blocks: heading → the data sets under this heading. One empty row above them is for the heading.
    """
    heights, place = {}, 0.0
    for tasks in blocks.values():
        place += 1.0
        for task in tasks:
            heights[task] = place
            place += 1.0
    return heights


def _line(panel: Any, height: float, errors: dict[str, float | None]) -> None:
    """Draw the errors of one data set, and a bar from the error of FNO to the error of LFNO. Unknown errors are left out."""
    both = [errors.get("FNO"), errors.get("LFNO")]
    if all(value is not None and math.isfinite(value) for value in both):
        panel.plot(both, [height, height], color=COLOURS["LFNO"], linewidth=5, alpha=0.22, solid_capstyle="butt")
    panel.axhline(height, color="#eeeeee", linewidth=0.8, zorder=0)
    for name, (_, style) in MARKS.items():
        value = errors.get(name)
        if value is None or not math.isfinite(value):
            continue
        if value >= FLOOR:
            panel.plot(value, height, linestyle="none", **style)
        else:
            panel.plot(0.85 * FLOOR, height, linestyle="none", **style | {"marker": "<", "markersize": 4})
