"""Figures of fields: the truth, the prediction and the error map of each model, and the parts of LFNO's prediction."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from lfno.paper.report import paper
from lfno.paper.report.figures.examples import Example, first_example
from lfno.paper.report.selection import Runs
from lfno.plots.style import FIELD, colour_range, panels

if TYPE_CHECKING:
    from matplotlib.figure import Figure

ERRORS = "cividis"  # colour map of errors: its brightness increases evenly, also for readers who do not see all colours
DECADES = 3  # decades of the logarithmic scale of errors


def picture(field: np.ndarray, one: Example) -> tuple[np.ndarray, str, str, tuple[float, float, float, float]]:
    """Return (image, label of the horizontal axis, label of the vertical axis, extent) of the first channel.

    The horizontal axis is time and the vertical axis is x. For a flow, the horizontal axis is x and the vertical axis is y.
    """
    up, across, image = one.axes[0], one.axes[1], field[0]
    if one.moment:
        up, across, image = across, up, image.T
    edges = [(a.origin - a.step / 2, a.origin + (a.size - 0.5) * a.step) for a in (across, up)]
    return image, across.label, up.label, (*edges[0], *edges[1])


def _draw(axes: Any, field: np.ndarray, one: Example, **colours: Any) -> Any:
    """Draw a field as an image and return the image."""
    image, across, up, extent = picture(field, one)
    axes.grid(False)
    axes.set(xlabel=across, ylabel=up)
    return axes.imshow(image, origin="lower", aspect="auto", extent=extent, interpolation="none", **colours)


def field_errors(runs: Runs, task: str) -> Figure | None:
    """Draw the truth and the predictions of one test sample beside each other, and below each prediction its error map.

    The maps show |error| divided by the largest |value| of the truth. All of them have one logarithmic scale of three decades,
    so that models can be compared by eye.
    """
    from matplotlib.colors import LogNorm
    from matplotlib.ticker import FuncFormatter

    found = {m: e for m in paper.MODELS if (e := first_example(runs, task, m)) is not None and e.ndim > 1}
    if not found:
        return None
    first = found.get("LFNO") or next(iter(found.values()))
    found = {m: e for m, e in found.items() if e.index == first.index}  # only models whose example is the same sample
    size = float(np.abs(first.fields["truth"]).max()) or 1.0
    errors = {m: 100 * np.abs(e.fields["prediction"] - e.fields["truth"]) / size for m, e in found.items()}
    top = max(float(values.max()) for values in errors.values()) or 1.0
    count = 1 + len(found)
    figure, axes = panels(2 * count, count, 2.4)
    low, high = colour_range(picture(first.fields["truth"], first)[0])
    mesh = _draw(axes[0], first.fields["truth"], first, cmap=FIELD, vmin=low, vmax=high)
    axes[0].set_title("truth", loc="left")
    axes[count].set_visible(False)
    for column, (model, one) in enumerate(found.items(), 1):
        _draw(axes[column], one.fields["prediction"], one, cmap=FIELD, vmin=low, vmax=high)
        axes[column].set_title(f"prediction of {model}", loc="left")
        floor = np.maximum(errors[model], top / 10**DECADES)
        scale = LogNorm(top / 10**DECADES, top)
        map_ = _draw(axes[count + column], floor, one, cmap=ERRORS, norm=scale)
        axes[count + column].set_title(f"error, at most {errors[model].max():.2g} %", loc="left")
        for panel in (axes[column], axes[count + column]):
            panel.set_ylabel("" if panel is not axes[count + 1] else panel.get_ylabel())
    when = f" at {first.moment}" if first.moment else ""
    figure.colorbar(mesh, ax=axes[:count], label=f"{first.label}{when}", pad=0.01)
    plain = FuncFormatter(lambda value, _: f"{value:g}")
    figure.colorbar(map_, ax=axes[count:], label="|error| [%]", pad=0.01, format=plain)
    return figure


def field_parts(runs: Runs, task: str) -> Figure | None:
    """Draw the prediction of LFNO, its transient part and its steady part on the same scale."""
    one = first_example(runs, task, "LFNO")
    names = ("prediction", "transient", "steady")
    if one is None or one.ndim < 2 or not set(names) <= set(one.fields):
        return None
    figure, axes = panels(3, 3, 2.5)
    size = max(float(np.abs(one.fields[name]).max()) for name in names) or 1.0
    for panel, name in zip(axes, names, strict=True):
        mesh = _draw(panel, one.fields[name], one, cmap=FIELD, vmin=-size, vmax=size)
        panel.set_title(name if name == "prediction" else f"{name} part", loc="left")
    figure.colorbar(mesh, ax=axes, label=one.label, pad=0.01)
    return figure
