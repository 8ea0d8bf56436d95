"""Figures of what models answer: the response, and its transient and steady part, beside the truth."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from lfno.core.grid import Axis
from lfno.plots.style import COLOURS, WIDTH, colour

if TYPE_CHECKING:
    from matplotlib.figure import Figure

#: the truth lies below every model: broad and pale, so that a model that agrees with it is seen inside it
TRUTH: dict[str, Any] = {"color": COLOURS["truth"], "linewidth": 4.5, "alpha": 0.25, "solid_capstyle": "round"}
PARTS = ("transient", "steady")


def answers_figure(
    axis: Axis,
    force: tuple[str, np.ndarray],
    response: tuple[str, np.ndarray],
    answers: Mapping[str, np.ndarray],
    parts: Mapping[str, tuple[np.ndarray, np.ndarray | None]],
) -> Figure:
    """Draw force and response in two rows, and below them the transient and the steady part beside each other.

    `force` and `response` are a label and a signal over `axis`. `answers` maps the name of a model to its prediction; the
    first model is drawn on top, and `parts` are its parts: "transient" and "steady" with the model's part and the true
    one (None where no truth is known).
    """
    figure, panels = _layout(bool(parts))
    t, names = axis.points, list(answers)
    panels["force"].margins(x=0.01)
    panels["force"].plot(t, force[1], color="#555555", linewidth=1.1)
    panels["force"].set(ylabel=force[0], title="force")
    panels["response"].plot(t, response[1], label="truth", **TRUTH)
    for name in reversed(names):
        panels["response"].plot(t, answers[name], color=colour(name), label=name, linewidth=1.6 if name == names[0] else 1.1)
    panels["response"].set(ylabel=response[0], title="response")
    for name, (own, true) in parts.items():
        if true is not None:
            panels[name].plot(t, true, label="truth", **TRUTH)
        panels[name].plot(t, own, color=COLOURS[name], label=names[0])
        panels[name].set(ylabel=response[0], title=f"{name} part", xlabel=axis.label)
    if not parts:
        panels["response"].set(xlabel=axis.label)
    _same_scale([panels[name] for name in ("response", *parts)])
    for name in ("response", *parts):
        handles, labels = panels[name].get_legend_handles_labels()
        order = sorted(range(len(labels)), key=lambda k: ["truth", *names].index(labels[k]))
        shown = {"loc": "lower right", "ncols": len(order), "borderaxespad": 0.1, "bbox_to_anchor": (1, 1)}
        panels[name].legend([handles[k] for k in order], [labels[k] for k in order], **shown)
    return figure


def _layout(parts: bool) -> tuple[Figure, dict[str, Any]]:
    from matplotlib.figure import Figure

    rows: list[Any] = [["force", "force"], ["response", "response"], *([list(PARTS)] if parts else [])]
    figure = Figure(figsize=(WIDTH, 7.4 if parts else 4.8), layout="constrained")
    return figure, figure.subplot_mosaic(rows, height_ratios=[0.6, 1.5, 1.4][: len(rows)], sharex=True)


def _same_scale(panels: list[Any]) -> None:
    """Give all panels the range of the widest, so that a small part looks small."""
    limits = np.array([panel.get_ylim() for panel in panels])
    for panel in panels:
        panel.set_ylim(limits[:, 0].min(), limits[:, 1].max())
