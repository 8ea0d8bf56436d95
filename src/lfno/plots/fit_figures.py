"""Figures of a fitted model on its test data: predictions and residuals, spectra of the residuals, and maps of field errors."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.signal import welch

from lfno.core.grid import Axis, Grid
from lfno.plots.answers import TRUTH
from lfno.plots.style import COLOURS, FIELD, colour, colour_range, legend, logarithmic, panels

if TYPE_CHECKING:
    from matplotlib.figure import Figure

LINEAR = COLOURS["linear baseline"]
LONGEST = 1500  # time steps; largest number in a panel, so that oscillations stay visible
MOST_OUTPUTS = 3  # largest number of outputs in a figure
SEGMENT = 1024  # time steps; largest length of the segments whose spectra are averaged
SHORTEST = 64  # time steps; shorter signals have no spectrum


@dataclass(frozen=True)
class Compared:
    """The measured and predicted signals of the test data. All arrays are (samples, channels, *grid).

    label: the name of the model.
    axis: the time axis.
    truth: the measured outputs.
    prediction: the prediction of the model.
    linear: the prediction of the linear baseline.
    outputs: the labels of the output channels.
    mask: True where an output was measured; None if all values were measured.
    spread: the standard deviation of the predictions of an ensemble; None for a single model.
    """

    label: str
    axis: Axis
    truth: np.ndarray
    prediction: np.ndarray
    linear: np.ndarray
    outputs: Sequence[str]
    mask: np.ndarray | None = None
    spread: np.ndarray | None = None

    @property
    def measured(self) -> np.ndarray:
        """The outputs, with NaN for values that were not measured."""
        return self.truth if self.mask is None else np.where(self.mask, self.truth, np.nan)


def typical_and_worst(compared: Compared) -> list[tuple[str, int, slice]]:
    """Return the piece of the test data with the median error, and the piece with the largest error.

    A piece is a whole sample, or LONGEST steps of a longer sample. The remaining steps of a longer sample are a shorter piece
    if there are more than LONGEST / 2 of them. The error of a piece is the mean of (prediction − measurement)², divided by the
    mean square of the output channel.

    Each piece is returned as (title, index of the sample, time slice). If there are fewer than three pieces, only the piece
    with the largest error is returned. If no prediction is finite, the list is empty.
    """
    size = compared.truth.shape[-1]
    error = (compared.prediction - compared.measured) ** 2
    scale = np.nanmean(compared.measured**2, axis=(0, 2), keepdims=True)
    error = error / np.where(scale > 0, scale, 1.0)
    pieces = []
    for sample in range(len(error)):
        for start in range(0, max(1, size - LONGEST // 2), LONGEST):
            steps = slice(start, min(start + LONGEST, size))
            part = error[sample, :, steps]
            if np.isfinite(part).any():
                pieces.append((float(np.nanmean(part)), sample, steps))
    pieces.sort(key=lambda piece: piece[0])
    if len(pieces) < 3:
        return [("test data", sample, steps) for _, sample, steps in pieces[-1:]]
    return [("median error", *pieces[len(pieces) // 2][1:]), ("largest error", *pieces[-1][1:])]


def prediction_figure(compared: Compared) -> Figure:
    """Draw outputs, predictions and residuals of the pieces that `typical_and_worst` returns, with a column for each piece.

    Up to MOST_OUTPUTS outputs are drawn. The band of an ensemble is ± 2 standard deviations.
    """
    # if no predicted value is finite, there are no pieces: draw the whole first sample
    pieces = typical_and_worst(compared) or [("test data", 0, slice(None))]
    outputs = range(min(len(compared.outputs), MOST_OUTPUTS))
    figure, axes = panels(2 * len(pieces) * len(outputs), len(pieces), 1.75, heights=(1.7, 1.0))
    t, measured = compared.axis.points, compared.measured
    for column, (words, sample, steps) in enumerate(pieces):
        for row, channel in enumerate(outputs):
            above, below = (axes[(2 * row + k) * len(pieces) + column] for k in (0, 1))
            place = (sample, channel, steps)
            truth, own, linear = measured[place], compared.prediction[place], compared.linear[place]
            above.plot(t[steps], truth, label="measured", **TRUTH)
            above.plot(t[steps], own, color=colour(compared.label), label=compared.label)
            if compared.spread is not None:
                wide = 2 * compared.spread[place]
                above.fill_between(t[steps], own - wide, own + wide, color=colour(compared.label), alpha=0.2, linewidth=0)
            below.plot(t[steps], linear - truth, color=LINEAR, linewidth=1.1, linestyle=":", label="linear baseline")
            below.plot(t[steps], own - truth, color=colour(compared.label), linewidth=1)
            above.set(ylabel=compared.outputs[channel], xticklabels=[])
            below.set(ylabel="residual", xlabel=compared.axis.label)
            if row == 0:
                above.set_title(f"{words}{f', sample {sample}' if len(compared.truth) > 1 else ''}", loc="left")
    legend(figure, axes)
    return figure


def spectrum_figure(compared: Compared, noise: Sequence[float] | None = None) -> Figure | None:
    """Draw the amplitude spectral densities of up to MOST_OUTPUTS outputs and of the residuals.

    Return None if values are missing or if the signals are shorter than SHORTEST.

    Args:
        compared: The signals of the test data.
        noise: The RMS value of the measurement noise of each output; None if the noise is unknown.
    """
    if compared.mask is not None or compared.truth.shape[-1] < SHORTEST:
        return None
    outputs = range(min(len(compared.outputs), MOST_OUTPUTS))
    figure, axes = panels(len(outputs), len(outputs), 2.9)
    step = compared.axis.step
    curves: dict[str, tuple[np.ndarray, dict[str, Any]]] = {
        "measured": (compared.truth, TRUTH),
        "residual of the linear baseline": (compared.linear - compared.truth, {"color": LINEAR, "linestyle": ":"}),
        f"residual of {compared.label}": (compared.prediction - compared.truth, {"color": colour(compared.label)}),
    }
    for panel, channel in zip(axes, outputs, strict=True):
        for name, (values, style) in curves.items():
            length = min(SEGMENT, values.shape[-1])
            f, power = welch(values[:, channel], fs=1 / step, nperseg=length, axis=-1)
            density = np.sqrt(power.mean(0))[1:]
            if density.max() > 0:
                panel.plot(f[1:], np.maximum(density, density.max() * 1e-12), label=name, **style)
        if noise is not None:
            level = noise[channel] * np.sqrt(2 * step)
            panel.axhline(level, color="#222222", linewidth=1, linestyle="--", label="noise floor (white noise)")
        logarithmic(panel)
        logarithmic(panel, "x")
        panel.set(xlabel="frequency [Hz]" if compared.axis.unit == "s" else f"frequency [1/{compared.axis.unit}]")
        panel.set(ylabel=f"{compared.outputs[channel]}, per √Hz")
    legend(figure, axes)
    return figure


def field_error_figure(grid: Grid, truth: np.ndarray, prediction: np.ndarray, label: str, output: str) -> Figure:
    """Draw a field, its prediction, and the prediction minus the field, side by side.

    A field with two or three space axes is drawn at the last time. If there are three space axes, the middle slice is drawn.

    Args:
        grid: The grid of the field.
        truth: The true field, (*space, time).
        prediction: The predicted field, (*space, time).
        label: The name of the model.
        output: The label of the colour bar.
    """
    if truth.ndim > 2:
        truth, prediction = truth[..., -1], prediction[..., -1]
        axes_shown = grid.axes[-3:-1]
    else:
        axes_shown = grid.axes[-2:]
    while truth.ndim > 2:
        truth, prediction = truth[truth.shape[0] // 2], prediction[prediction.shape[0] // 2]
    up, across = axes_shown
    extent = tuple(axis.origin + (k - 0.5) * axis.step for axis in (across, up) for k in (0, axis.size))
    figure, axes = panels(3, 3, 2.8)
    low, high = colour_range(truth)
    error = prediction - truth
    largest = float(np.abs(error).max()) or 1.0
    shown = (("truth", truth, low, high), (label, prediction, low, high), ("error", error, -largest, largest))
    for panel, (name, values, least, most) in zip(axes, shown, strict=True):
        colours: Any = {"cmap": FIELD, "vmin": least, "vmax": most, "interpolation": "none"}
        image = panel.imshow(values, aspect="auto", origin="lower", extent=extent, **colours)
        panel.grid(False)
        panel.set(xlabel=across.label, ylabel=up.label)
        panel.set_title(name, loc="left")
        figure.colorbar(image, ax=panel, label=output)
    return figure
