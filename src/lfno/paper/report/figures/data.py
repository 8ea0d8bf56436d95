"""Figures of the data sets: the inputs and solutions of a few samples."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np

from lfno.data.dataset import Dataset
from lfno.data.make import plan
from lfno.plots.style import COLOURS, FIELD, colour_range, panels
from lfno.systems import REGISTRY, titles
from lfno.systems.base import Channel

if TYPE_CHECKING:
    from matplotlib.figure import Figure

#: samples in a panel. With one parameter per sample, they have its smallest, middle and largest value; other samples are random
MEMBERS = 3


def data_samples(tasks: Iterable[str]) -> Figure | None:
    """Draw one row for each data set: inputs on the left, solutions on the right.

    Of signals, MEMBERS samples are drawn. Of fields, one sample is drawn, at its last time if there are two space axes.
    """
    shown = [task for task in tasks if task in REGISTRY]
    if not shown:
        return None
    flat = all(REGISTRY[task].grid.ndim == 1 for task in shown)
    figure, axes = panels(2 * len(shown), 2, 1.75 if flat else 2.1)
    for k, task in enumerate(shown):
        members = 1 if REGISTRY[task].grid.ndim == 3 else MEMBERS
        data = plan(task, count=members).build()
        sides = (data.inputs, data.input_channels[0]), (data.outputs, data.output_channels[0])
        for panel, (values, channel) in zip(axes[2 * k : 2 * k + 2], sides, strict=True):
            (_lines if data.grid.ndim == 1 else _field)(panel, task, data, values, channel)
    return figure


def _lines(axes: Any, task: str, data: Dataset, values: np.ndarray, channel: Channel) -> None:
    """Draw the signals of all samples over time."""
    time = data.grid.axes[0]
    side = "input" if values is data.inputs else "solution"
    for k, shade in zip(range(len(values) - 1, -1, -1), (0.3, 0.55, 1.0), strict=False):
        axes.plot(time.points, values[k, 0], color=COLOURS["truth"], alpha=shade, linewidth=0.9)
    axes.set(xlabel=time.label, ylabel=channel.label, title=f"{titles.title(task)}: {side}")


def _field(axes: Any, task: str, data: Dataset, values: np.ndarray, channel: Channel) -> None:
    """Draw the field of the middle sample as an image. A flow is drawn at its last time."""
    grid, middle = data.grid, len(values) // 2
    side, when = ("input" if values is data.inputs else "solution"), ""
    if grid.ndim == 2:
        up, across, image = grid.axes[0], grid.axes[1], values[middle, 0]
    else:
        up, across, image = grid.axes[1], grid.axes[0], values[middle, 0, ..., -1].T
        moment = f"{grid.axes[2].points[-1]:.3g} {grid.axes[2].unit}".rstrip()
        when = f", t = {moment}" if side == "solution" else ""
    extent = [edge for a in (across, up) for edge in (a.origin - a.step / 2, a.origin + (a.size - 0.5) * a.step)]
    axes.grid(False)
    low, high = colour_range(image)
    mesh = axes.imshow(image, cmap=FIELD, origin="lower", aspect="auto", extent=extent, vmin=low, vmax=high)
    axes.figure.colorbar(mesh, ax=axes, label=channel.label, pad=0.01)
    axes.set(xlabel=across.label, ylabel=up.label, title=f"{titles.title(task)}: {side}{when}")
