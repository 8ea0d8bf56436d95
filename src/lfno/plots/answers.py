"""A figure of predictions: the predicted and the true response, and their transient and steady parts."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from lfno.core.grid import Axis
from lfno.plots.style import COLOURS, NARROW, WIDTH, colour

if TYPE_CHECKING:
    from matplotlib.figure import Figure

#: style of the true response: a broad, pale line. The line of a model that agrees is visible on top of the broad line
TRUTH: dict[str, Any] = {"color": COLOURS["truth"], "linewidth": 4.5, "alpha": 0.25, "solid_capstyle": "round"}
#: line styles of the first, second and third model, for prints without colours
DASHES = ("-", (0, (4, 1.5)), (0, (1, 1.2)))
PARTS = ("transient", "steady")
#: ratio of the range of all panels to the largest range of one panel, above which each panel has its own middle
FAR = 3.0


def answers_figure(
    axis: Axis,
    force: tuple[str, np.ndarray],
    response: tuple[str, np.ndarray],
    answers: Mapping[str, np.ndarray],
    parts: Mapping[str, tuple[np.ndarray, np.ndarray | None]],
    narrow: bool = False,
    measured: str = "truth",
) -> Figure:
    """Draw the input, the response, and below them the transient and the steady part. All signals have the shape (time,).

    Args:
        axis: The time axis.
        force: Label and signal of the input.
        response: Label and signal of the true output.
        answers: Name of a model → its prediction. The line of the first model lies above the lines of the others.
        parts: "transient" and "steady" → (part of the first model, true part). An unknown true part is None. Empty for a model
            without parts; the figure then has only the input and the response.
        narrow: Draw for a phone, with the steady part below the transient part.
        measured: Name of the true output in the legend. With "truth", the title of the input is “force”, otherwise “input”.
    """
    figure, panels = _layout(bool(parts), narrow)
    t, names = axis.points, list(answers)
    panels["force"].margins(x=0.01)
    panels["force"].plot(t, force[1], color="#555555", linewidth=1.1)
    panels["force"].set(ylabel=force[0])
    panels["force"].set_title("force" if measured == "truth" else "input", loc="left")
    panels["response"].plot(t, response[1], label=measured, **TRUTH)
    for place in reversed(range(len(names))):
        style: Any = {"linewidth": 1.1 if place else 1.6, "linestyle": DASHES[place % len(DASHES)]}
        panels["response"].plot(t, answers[names[place]], color=colour(names[place]), label=names[place], **style)
    panels["response"].set(ylabel=response[0])
    panels["response"].set_title("response", loc="left")
    for name, (own, true) in parts.items():
        if true is not None:
            panels[name].plot(t, true, label="truth", **TRUTH)
        panels[name].plot(t, own, color=COLOURS[name], label=names[0])
        panels[name].set(ylabel=response[0])
        panels[name].set_title(f"{name} part", loc="left")
    if not narrow:
        # label the times of this panel, too: the panels below are half as wide, so their labels stand at other places
        panels["response"].tick_params(labelbottom=True)
    for name in ["steady"] if parts and narrow else list(parts) or ["response"]:
        panels[name].set(xlabel=axis.label)
    _same_scale([panels[name] for name in ("response", *parts)])
    for name in ("response", *parts):
        handles, labels = panels[name].get_legend_handles_labels()
        order = sorted(range(len(labels)), key=lambda k: ["truth", measured, *names].index(labels[k]))
        shown: dict[str, Any] = {"loc": "lower right", "ncols": len(order), "borderaxespad": 0.1, "bbox_to_anchor": (1, 1)}
        if narrow:  # room for the title beside it
            shown |= {"handlelength": 1.2, "columnspacing": 1.0, "handletextpad": 0.5, "fontsize": 7}
        panels[name].legend([handles[k] for k in order], [labels[k] for k in order], **shown)
    return figure


def _layout(parts: bool, narrow: bool) -> tuple[Figure, dict[str, Any]]:
    """Return an empty figure and its panels by name."""
    from matplotlib.figure import Figure

    pair: list[Any] = [[name] for name in PARTS] if narrow else [list(PARTS)]
    wide = [["force"], ["response"]] if narrow else [["force"] * 2, ["response"] * 2]
    rows = [*wide, *(pair if parts else [])]
    heights = [0.55, 1.5, 1.2, 1.2][: len(rows)]
    size = (NARROW, 1.7 * sum(heights)) if narrow else (WIDTH, 1.75 * sum(heights))
    figure = Figure(figsize=size, layout="constrained")
    return figure, figure.subplot_mosaic(rows, height_ratios=heights, sharex=True)


def _same_scale(panels: list[Any]) -> None:
    """Set the same vertical scale for all panels, so that a small part looks small.

    All panels have the same range. If this range is far larger than the range of every panel, each panel has its own middle:
    an output with a large offset would otherwise look flat.
    """
    limits = np.array([panel.get_ylim() for panel in panels])
    height, low, high = float(np.ptp(limits, axis=1).max()), float(limits.min()), float(limits.max())
    for panel, middle in zip(panels, limits.mean(axis=1), strict=True):
        far = high - low > FAR * height
        panel.set_ylim((middle - height / 2, middle + height / 2) if far else (low, high))
