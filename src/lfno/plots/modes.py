"""Figures of one model: predicted fields, transient and steady part, poles, and frequency response."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from lfno.core.grid import Grid, frequency_unit, pole_units, with_unit
from lfno.core.tensorfile import write_atomically
from lfno.plots.style import COLOURS, as_png, colour, legend, logarithmic, panels, stable_half_plane

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SHOWN = 1500  # time steps; only the first SHOWN steps of a signal are drawn, so that oscillations stay visible
MOST_CHANNELS = 4  # largest number of outputs, or of pairs of input and output, in a figure
MOST_COLUMNS = 3  # fields in one row of a figure


def save(path: Path, draw: Any) -> Path:
    """Write the figure that `draw()` returns as a PNG file, and return the path of the file."""
    picture = as_png(draw)
    assert picture is not None
    write_atomically(path, picture)
    return path


def field_figure(grid: Grid, signals: dict[str, np.ndarray]) -> Figure:
    """Draw the first channel of the first sample of every field. The first field sets the colour scale of all fields.

    If the grid has more than two axes, the middle slice of each further axis is drawn.

    Args:
        grid: The grid of the fields.
        signals: Name → field, (samples, channels, *grid).
    """
    figure, axes = panels(len(signals), len(signals) if len(signals) <= MOST_COLUMNS else 2, 2.6)
    up, across = grid.axes[-2:]
    extent = tuple(axis.origin + (k - 0.5) * axis.step for axis in (across, up) for k in (0, axis.size))
    limit = float(np.abs(next(iter(signals.values()))[0, 0]).max()) or 1.0
    for panel, (name, values) in zip(axes, signals.items(), strict=True):
        field = values[0, 0]
        while field.ndim > 2:  # a picture has two axes: take the middle slice of every further axis
            field = field[field.shape[0] // 2]
        colours: Any = {"cmap": "RdBu_r", "vmin": -limit, "vmax": limit, "interpolation": "none"}
        image = panel.imshow(field, aspect="auto", origin="lower", extent=extent, **colours)
        panel.set(xlabel=across.label, ylabel=up.label, title=name)
        panel.grid(False)
        figure.colorbar(image, ax=panel)
    return figure


def decomposition_figure(
    grid: Grid, transient: np.ndarray, steady: np.ndarray, truth: np.ndarray | None, names: Sequence[str]
) -> Figure:
    """Draw the transient part, the steady part, their sum (the prediction), and the true response if it is known.

    Signals: a panel for each output channel. Fields: a panel for each of these four, with the first output channel; if the grid
    has more than two axes, the middle slice of each further axis.

    Args:
        grid: The grid of the signals.
        transient: The transient part, (channels, *grid).
        steady: The steady part, (channels, *grid).
        truth: The true response, (channels, *grid); None if the response is unknown.
        names: The labels of the output channels.
    """
    if grid.ndim > 1:
        parts = {} if truth is None else {"truth": truth}
        parts |= {"prediction": transient + steady, "transient": transient, "steady": steady}
        return field_figure(grid, {name: values[None] for name, values in parts.items()})
    figure, axes = panels(len(transient), 1, 2.4)
    points = grid.axes[-1].points
    for k, panel in enumerate(axes):
        if truth is not None:
            panel.plot(points, truth[k], color=COLOURS["truth"], linewidth=2.4, alpha=0.35, label="truth")
        # draw the prediction as a wide line below the thin lines of the parts: a part equal to the prediction stays visible
        panel.plot(points, transient[k] + steady[k], color=COLOURS["LFNO"], linewidth=2.2, alpha=0.6, label="prediction")
        for name, values in (("transient", transient), ("steady", steady)):
            panel.plot(points, values[k], color=COLOURS[name], linewidth=1, label=name)
        panel.set(xlabel=grid.axes[-1].label, ylabel=names[k] if k < len(names) else "")
    legend(figure, axes)
    return figure


def s_plane_figure(layers: np.ndarray | None, shares: np.ndarray | None, modes: np.ndarray, label: str, unit: str) -> Figure:
    """Draw the poles of the layers as circles and the modes of the whole model as crosses, in the complex plane.

    Args:
        layers: The poles of all layers, (poles,), in 1/unit; None for a model without layers.
        shares: The contribution of each pole to the response of its layer, (poles,), shown as the area of the circle.
        modes: The poles of the modes, (modes,), in 1/unit.
        label: The legend entry of the modes.
        unit: The unit of time; "" for an unknown unit.
    """
    figure, (panel,) = panels(1, 1, 4.0)
    every = np.concatenate([modes, layers if layers is not None else modes[:0]])
    left = 1.15 * min(float(every.real.min(initial=-1e-3)), -1e-3)
    for sign in (1, -1):  # the poles of a real system are complex conjugate pairs
        if layers is not None and shares is not None:
            area = 6 + 90 * shares / max(float(shares.max(initial=0)), 1e-30)
            words = "poles of the layers, area by contribution" if sign == 1 else None
            panel.scatter(layers.real, sign * layers.imag, area, COLOURS["LFNO"], alpha=0.4, linewidth=0, label=words)
        words = label if sign == 1 else None
        panel.plot(modes.real, sign * modes.imag, "x", color=COLOURS["truth"], markersize=9, label=words)
    real, imaginary = pole_units(unit)
    panel.set(xlabel=with_unit("Re μ", real), ylabel=with_unit("Im μ", imaginary))
    stable_half_plane(panel, left)
    legend(figure, [panel])
    return figure


def bode_figure(
    frequencies: np.ndarray, responses: dict[str, np.ndarray], coherence: np.ndarray, names: dict[tuple[int, int], str],
    unit: str = "s",
) -> Figure:  # fmt: skip
    """Draw magnitude, coherence and phase of up to MOST_CHANNELS pairs (output, input), with one column for each pair.

    Args:
        frequencies: The frequencies, (frequencies,).
        responses: Name → complex response, (outputs, inputs, frequencies). The first is "data", the measured response; it is
            NaN at frequencies without input power, and these are not drawn. The second is the linear model.
        coherence: The coherence of the measurement, (outputs, frequencies).
        names: (output, input) → label of the pair (see `lfno.plots.bode.pair_label`).
        unit: The unit of time.
    """
    pairs = list(names)[:MOST_CHANNELS]
    figure, axes = panels(2 * len(pairs), len(pairs), 2.3)
    data, linear, *_ = responses
    styles: dict[str, dict[str, Any]] = {
        data: {"color": COLOURS["truth"], "linewidth": 2.6, "alpha": 0.4},
        linear: {"color": colour(linear), "linestyle": "--"},
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
        angle.set(xlabel=with_unit("frequency", frequency_unit(unit)), ylabel="phase [°]", xlim=size.get_xlim())
    legend(figure, axes[:1])
    return figure
