"""Figures of the samples of a data set: input and output as signals over time, or as fields."""

from __future__ import annotations

import io
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from lfno.core.errors import LfnoError
from lfno.core.grid import Axis
from lfno.core.tensorfile import write_atomically
from lfno.data.dataset import Dataset

if TYPE_CHECKING:
    from matplotlib.figure import Figure

FRAMES = 4  # number of times at which a field with two space axes is drawn


def draw(dataset: Dataset, samples: list[int], path: str | Path | None = None) -> Figure:
    """Draw one row for each sample, with the input on the left and the output on the right. Returns the figure.

    Args:
        dataset: The data set.
        samples: The indices of the samples.
        path: The file that the figure is written to; None writes no file.
    """
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    panels = {1: _signal, 2: _field, 3: _frames}[dataset.grid.ndim]
    columns, width, height = (2, 4.2, 2.6) if dataset.grid.ndim < 3 else (1 + FRAMES, 2.6, 3.0)
    figure = Figure(figsize=(width * columns, height * len(samples)), layout="constrained")
    FigureCanvasAgg(figure)
    axes = figure.subplots(len(samples), columns, squeeze=False)
    for row, sample in zip(axes, samples, strict=True):
        panels(row, dataset, sample)
    figure.suptitle(" — ".join(filter(None, [dataset.name, str(dataset.provenance.get("equation", ""))])))
    if path is not None:
        stream, ending = io.BytesIO(), Path(path).suffix.lower().removeprefix(".")
        if ending not in FigureCanvasAgg.get_supported_filetypes():
            raise LfnoError(f"{path}: the name of a figure must end with .png, .pdf or .svg")
        figure.savefig(stream, format=ending, dpi=120)
        write_atomically(Path(path), stream.getvalue())
    return figure


def _which(dataset: Dataset, sample: int) -> str:
    """Return a title, such as `sample 3, A = 0.13`. The title has a parameter if the data set has one scalar parameter only."""
    single = [(name, values) for name, values in dataset.parameters.items() if np.ndim(values) == 1]
    known = f", {single[0][0]} = {single[0][1][sample]:.4g}" if len(single) == len(dataset.parameters) == 1 else ""
    return f"sample {sample}{known}"


def _signal(row: Any, dataset: Dataset, sample: int) -> None:
    """Draw the input and output signals over time."""
    time = dataset.grid.axes[0]
    parts = (dataset.inputs, dataset.input_channels), (dataset.outputs, dataset.output_channels)
    for axes, (values, channels) in zip(row, parts, strict=True):
        for line, channel in zip(values[sample], channels, strict=True):
            axes.plot(time.points, line, linewidth=1, label=channel.label)
        one = channels[0].label if len(channels) == 1 else ""
        axes.set(xlabel=time.label, ylabel=one, title=_which(dataset, sample))
        if len(channels) > 1:
            axes.legend()


def _image(axes: Any, values: np.ndarray, limit: float, across: Axis, up: Axis, title: str) -> Any:
    """Draw a field and return its colour mesh. Zero is white, positive values are red, and negative values are blue."""
    mesh = axes.pcolormesh(
        across.points, up.points, values, cmap="RdBu_r", vmin=-limit, vmax=limit, shading="nearest", rasterized=True
    )
    axes.set(xlabel=across.label, ylabel=up.label, title=title)
    return mesh


def _field(row: Any, dataset: Dataset, sample: int) -> None:
    """Draw the first channel of input and output over time and one space axis."""
    x, t = dataset.grid.axes
    parts = (dataset.inputs, dataset.input_channels), (dataset.outputs, dataset.output_channels)
    for axes, (values, channels) in zip(row, parts, strict=True):
        field = values[sample, 0]
        mesh = _image(axes, field, _limit(field), t, x, _which(dataset, sample))
        axes.figure.colorbar(mesh, ax=axes, label=channels[0].label)


def _frames(row: Any, dataset: Dataset, sample: int) -> None:
    """Draw the first channel of the input at the first time, and of the output at FRAMES times up to the last one.

    All panels have the same colour scale.
    """
    x, y, t = dataset.grid.axes
    chosen = np.linspace(0, t.size - 1, FRAMES + 1).round().astype(int)[1:]
    fields = [dataset.inputs[sample, 0, ..., 0], *(dataset.outputs[sample, 0, ..., n] for n in chosen)]
    output = dataset.output_channels[0]
    titles = [f"{dataset.input_channels[0].name}, {_which(dataset, sample)}"]
    titles += [f"{output.name}, t = {t.points[n]:.3g} {t.unit}" for n in chosen]
    limit = max(_limit(field) for field in fields)
    for axes, field, title in zip(row, fields, titles, strict=True):
        mesh = _image(axes, field.T, limit, x, y, title)
        axes.set_aspect("equal")
    row[-1].figure.colorbar(mesh, ax=list(row), label=output.label, pad=0.01)


def _limit(field: np.ndarray) -> float:
    """Return the largest absolute value of a field, or 1 for a field of zeros."""
    return float(np.abs(field).max()) or 1.0
