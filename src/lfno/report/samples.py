"""Figures of the samples of a data set: signal and response over time, or fields."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from lfno.data.dataset import Dataset
from lfno.grid import Grid
from lfno.systems.base import Channel

if TYPE_CHECKING:
    from matplotlib.figure import Figure

FRAMES = 4  # of a field in two dimensions of space


def draw(dataset: Dataset, samples: list[int], path: str | Path | None = None) -> Figure:
    """One row per sample, the input on the left and the output to its right; written to `path` if one is given."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    panels = {1: _signal, 2: _field, 3: _frames}[dataset.grid.ndim]
    columns, width = (2, 4.2) if dataset.grid.ndim < 3 else (1 + FRAMES, 2.6)
    figure = Figure(figsize=(width * columns, 2.6 * len(samples)), layout="constrained")
    FigureCanvasAgg(figure)
    axes = figure.subplots(len(samples), columns, squeeze=False)
    for row, sample in zip(axes, samples, strict=True):
        panels(row, dataset, sample)
    figure.suptitle(" — ".join(filter(None, [dataset.name, str(dataset.provenance.get("equation", ""))])))
    if path is not None:
        figure.savefig(Path(path), dpi=120)
    return figure


def _label(channel: Channel) -> str:
    return f"{channel.name} [{channel.unit}]" if channel.unit else channel.name


def _signal(row: Any, dataset: Dataset, sample: int) -> None:
    time = dataset.grid.axes[0]
    parts = (dataset.inputs, dataset.input_channels), (dataset.outputs, dataset.output_channels)
    for axes, (values, channels) in zip(row, parts, strict=True):
        for line, channel in zip(values[sample], channels, strict=True):
            axes.plot(time.points, line, linewidth=1, label=_label(channel))
        axes.set(xlabel=time.label, ylabel=_label(channels[0]) if len(channels) == 1 else "", title=f"sample {sample}")
        if len(channels) > 1:
            axes.legend()


def _image(axes: Any, values: np.ndarray, grid: Grid, horizontal: int, vertical: int, title: str) -> None:
    across, up = grid.axes[horizontal], grid.axes[vertical]
    mesh = axes.pcolormesh(across.points, up.points, values, cmap="RdBu_r", shading="nearest", rasterized=True)
    axes.figure.colorbar(mesh, ax=axes)
    axes.set(xlabel=across.label, ylabel=up.label, title=title)


def _field(row: Any, dataset: Dataset, sample: int) -> None:
    title = "{} of sample " + str(sample)
    _image(row[0], dataset.inputs[sample, 0], dataset.grid, 1, 0, title.format(_label(dataset.input_channels[0])))
    _image(row[1], dataset.outputs[sample, 0], dataset.grid, 1, 0, title.format(_label(dataset.output_channels[0])))


def _frames(row: Any, dataset: Dataset, sample: int) -> None:
    time = dataset.grid.axes[-1]
    title = f"{_label(dataset.input_channels[0])}, sample {sample}"
    _image(row[0], dataset.inputs[sample, 0, ..., 0].T, dataset.grid, 0, 1, title)
    for axes, n in zip(row[1:], np.linspace(0, time.size - 1, FRAMES).round().astype(int), strict=True):
        title = f"{_label(dataset.output_channels[0])}, t = {time.points[n]:.3g} {time.unit}"
        _image(axes, dataset.outputs[sample, 0, ..., n].T, dataset.grid, 0, 1, title)
