"""Figures of one's own model: how it did, what it is made of, what is transient."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from lfno.core.grid import Grid
from lfno.core.tensorfile import write_atomically
from lfno.plots.style import COLOURS, as_png, legend, logarithmic, panels, stable_half_plane

if TYPE_CHECKING:
    from matplotlib.figure import Figure

LINEAR = "#999933"
SHOWN = 1500  # points of a signal that a page can show
MOST_CHANNELS = 4  # outputs, or pairs of input and output, that it can show


def save(path: Path, draw: Any) -> Path:
    """Write the figure that `draw()` makes."""
    picture = as_png(draw)
    assert picture is not None
    write_atomically(path, picture)
    return path


def prediction_figure(
    grid: Grid, signals: dict[str, np.ndarray], spread: np.ndarray | None, label: str, outputs: Sequence[str]
) -> Figure:
    """`signals`: "truth", the model's label and a baseline, each (samples, channels, *grid): two samples, all channels."""
    if grid.ndim > 1:
        return _field_figure(grid, signals)
    samples = min(2, len(signals["truth"]))
    shown = [(k, channel) for k in range(samples) for channel in range(min(len(outputs), MOST_CHANNELS))]
    figure, axes = panels(len(shown), 1, 2.2)
    points = grid.axes[-1].points[:SHOWN]
    for panel, place in zip(axes, shown, strict=True):
        for name, values in signals.items():
            colour = {"truth": COLOURS["truth"], label: COLOURS["LFNO"]}.get(name, LINEAR)
            style: Any = {"truth": {"linewidth": 2.4, "alpha": 0.4}, label: {}}.get(name, {"linestyle": ":"})
            panel.plot(points, values[place][:SHOWN], color=colour, label=name, **style)
            if spread is not None and name == label:
                middle, wide = values[place][:SHOWN], 2 * spread[place][:SHOWN]
                panel.fill_between(points, middle - wide, middle + wide, color=colour, alpha=0.2, label="± 2 spread")
        panel.set(xlabel=grid.axes[-1].label, ylabel=outputs[place[1]])
    legend(figure, axes)
    return figure


def _field_figure(grid: Grid, signals: dict[str, np.ndarray]) -> Figure:
    figure, axes = panels(len(signals), len(signals), 2.6)
    up, across = grid.axes[-2:]
    extent = tuple(axis.origin + (k - 0.5) * axis.step for axis in (across, up) for k in (0, axis.size))
    for panel, (name, values) in zip(axes, signals.items(), strict=True):
        field = values[0, 0]
        while field.ndim > 2:  # the middle of what a picture cannot show
            field = field[field.shape[0] // 2]
        limit = float(np.abs(signals["truth"][0, 0]).max()) or 1.0
        colours: Any = {"cmap": "RdBu_r", "vmin": -limit, "vmax": limit, "interpolation": "none"}
        image = panel.imshow(field, aspect="auto", origin="lower", extent=extent, **colours)
        panel.set(xlabel=across.label, ylabel=up.label, title=name)
        panel.grid(False)
        figure.colorbar(image, ax=panel)
    return figure


def decomposition_figure(
    grid: Grid, transient: np.ndarray, steady: np.ndarray, truth: np.ndarray | None, names: Sequence[str]
) -> Figure:
    """transient + steady = prediction of each output channel; arrays (channels, time), or fields (channels, x, t)."""
    if grid.ndim > 1:
        parts = {"truth": truth if truth is not None else transient + steady, "transient": transient, "steady": steady}
        return _field_figure(grid, {name: values[None] for name, values in parts.items()})
    figure, axes = panels(len(transient), 1, 2.4)
    points = grid.axes[-1].points
    for k, panel in enumerate(axes):
        if truth is not None:
            panel.plot(points, truth[k], color=COLOURS["truth"], linewidth=2.4, alpha=0.35, label="truth")
        # wide below narrow: where one part is the whole answer both are seen
        panel.plot(points, transient[k] + steady[k], color=COLOURS["LFNO"], linewidth=2.2, alpha=0.6, label="prediction")
        for name, values in (("transient", transient), ("steady", steady)):
            panel.plot(points, values[k], color=COLOURS[name], linewidth=1, label=name)
        panel.set(xlabel=grid.axes[-1].label, ylabel=names[k] if k < len(names) else "")
    legend(figure, axes)
    return figure


def s_plane_figure(layers: np.ndarray | None, shares: np.ndarray | None, modes: np.ndarray, label: str) -> Figure:
    """Poles of the layers (area by contribution) and, as crosses, the modes that the whole model shows."""
    figure, (panel,) = panels(1, 1, 4.0)
    every = np.concatenate([modes, layers if layers is not None else modes[:0]])
    left = 1.15 * min(float(every.real.min(initial=-1e-3)), -1e-3)
    for sign in (1, -1):  # a real system has its poles in pairs
        if layers is not None and shares is not None:
            area = 6 + 90 * shares / max(float(shares.max(initial=0)), 1e-30)
            words = "poles of the layers, area by contribution" if sign == 1 else None
            panel.scatter(layers.real, sign * layers.imag, area, COLOURS["LFNO"], alpha=0.4, linewidth=0, label=words)
        words = label if sign == 1 else None
        panel.plot(modes.real, sign * modes.imag, "x", color=COLOURS["truth"], markersize=9, label=words)
    panel.set(xlabel="Re μ [1/s]", ylabel="Im μ [rad/s]")
    stable_half_plane(panel, left)
    legend(figure, [panel])
    return figure


def bode_figure(
    frequencies: np.ndarray, responses: dict[str, np.ndarray], coherence: np.ndarray, names: dict[tuple[int, int], str]
) -> Figure:
    """Magnitude over phase for each pair (output, input) of `names`, beside each other.

    Each response is complex (outputs, inputs, frequencies), NaN where nothing was measured; coherence (outputs, frequencies).
    """
    pairs = list(names)[:MOST_CHANNELS]
    figure, axes = panels(2 * len(pairs), len(pairs), 2.3)
    styles: dict[str, dict[str, Any]] = {
        "data": {"color": COLOURS["truth"], "linewidth": 2.6, "alpha": 0.4},
        "best linear model": {"color": LINEAR, "linestyle": "--"},
    }
    for pair, size, angle in zip(pairs, axes, axes[len(pairs) :], strict=False):
        seen = np.isfinite(responses["data"][pair]) & (frequencies > 0)
        for name, response in responses.items():
            style, values = styles.get(name, {"color": COLOURS["LFNO"]}), response[pair][seen]
            size.plot(frequencies[seen], np.abs(values), label=name, **style)
            angle.plot(frequencies[seen], np.degrees(np.unwrap(np.angle(values))), **style)
        twin = size.twinx()
        twin.fill_between(frequencies[seen], coherence[pair[0]][seen], color="#cccccc", alpha=0.3, linewidth=0)
        twin.set(ylim=(0, 1), ylabel="coherence")
        twin.grid(False)
        logarithmic(size)
        logarithmic(size, "x")
        logarithmic(angle, "x")
        size.set(ylabel=f"|H|  {names[pair]}")
        angle.set(xlabel="frequency [Hz]", ylabel="phase [°]", xlim=size.get_xlim())
    legend(figure, axes[:1])
    return figure
