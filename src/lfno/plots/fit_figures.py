"""Figures of a fitted model on its test data: predictions and residuals, spectra of the residuals, and maps of field errors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.signal import welch

from lfno.core.grid import Grid, frequency_unit, with_unit
from lfno.plots.answers import TRUTH
from lfno.plots.compared import Compared
from lfno.plots.style import FIELD, colour, colour_range, legend, logarithmic, panels
from lfno.surrogate.verdict import NAMES

if TYPE_CHECKING:
    from matplotlib.figure import Figure

LINEAR_MODEL = NAMES["linear"]
LINEAR = colour(LINEAR_MODEL)
LONGEST = 1500  # time steps; largest number in a panel, so that oscillations stay visible
MOST_OUTPUTS = 3  # largest number of outputs in a figure
SEGMENT = 1024  # time steps; largest length of the segments whose spectra are averaged
SHORTEST = 64  # time steps; shorter signals have no spectrum


def typical_and_worst(compared: Compared) -> list[tuple[str, int, slice]]:
    """Return the piece of the test data with the median error, and the piece with the largest error.

    A piece is a sample from its first to its last scored value, or LONGEST steps of a longer sample. The remaining steps of a
    longer sample are a shorter piece if there are more than LONGEST / 2 of them. The error of a piece is the mean of
    (prediction − measurement)², divided by the mean square of the output channel.

    Each piece is returned as (title, index of the sample, time slice). If there are fewer than three pieces, only the piece
    with the largest error is returned. If no prediction is finite, the list is empty.
    """
    error = (compared.prediction - compared.measured) ** 2
    known = np.isfinite(compared.measured)  # a channel may have no measured value at all
    count = known.sum((0, 2), keepdims=True)
    scale = np.where(known, compared.measured**2, 0.0).sum((0, 2), keepdims=True) / np.maximum(count, 1)
    error = error / np.where(scale > 0, scale, 1.0)
    pieces = []
    for sample in range(len(error)):
        for steps in cut(compared.scored(sample)):
            part = error[sample, :, steps]
            if np.isfinite(part).any():
                pieces.append((float(np.nanmean(part)), sample, steps))
    pieces.sort(key=lambda piece: piece[0])
    if len(pieces) < 3:
        return [("test data", sample, steps) for _, sample, steps in pieces[-1:]]
    return [("median error", *pieces[len(pieces) // 2][1:]), ("largest error", *pieces[-1][1:])]


def cut(steps: slice) -> list[slice]:
    """Cut a range of time steps into pieces of LONGEST steps. A rest of up to LONGEST / 2 steps is left out.

    >>> cut(slice(100, 200)), cut(slice(0, 2 * LONGEST + 10))
    ([slice(100, 200, None)], [slice(0, 1500, None), slice(1500, 3000, None)])
    """
    starts = range(steps.start, max(steps.start + 1, steps.stop - LONGEST // 2), LONGEST)
    return [slice(start, min(start + LONGEST, steps.stop)) for start in starts]


def prediction_figure(compared: Compared) -> Figure:
    """Draw outputs, predictions and residuals of the pieces that `typical_and_worst` returns, with a column for each piece.

    Up to MOST_OUTPUTS outputs are drawn. The band of an ensemble is ± 2 standard deviations.
    """
    # if no predicted value is finite, there are no pieces: draw the first sample
    pieces = typical_and_worst(compared) or [("test data", 0, compared.scored(0))]
    outputs = range(min(len(compared.outputs), MOST_OUTPUTS))
    figure, axes = panels(2 * len(pieces) * len(outputs), len(pieces), 1.75, heights=(1.7, 1.0))
    measured = compared.measured
    for column, (words, sample, steps) in enumerate(pieces):
        t = compared.times(sample, steps)
        for row, channel in enumerate(outputs):
            above, below = (axes[(2 * row + k) * len(pieces) + column] for k in (0, 1))
            place = (sample, channel, steps)
            truth, own, linear = measured[place], compared.prediction[place], compared.linear[place]
            above.plot(t, truth, label="measured", **TRUTH)
            above.plot(t, own, color=colour(compared.label), label=compared.label)
            if compared.spread is not None:
                wide = 2 * compared.spread[place]
                above.fill_between(t, own - wide, own + wide, color=colour(compared.label), alpha=0.2, linewidth=0)
            below.plot(t, linear - truth, color=LINEAR, linewidth=1.1, linestyle=":", label=LINEAR_MODEL)
            below.plot(t, own - truth, color=colour(compared.label), linewidth=1)
            above.sharex(below)  # after gaps, the residual ends earlier than the prediction: the time scales must be equal
            above.tick_params(labelbottom=False)
            above.set(ylabel=compared.outputs[channel])
            below.set(ylabel=f"residual {_unit(compared.outputs[channel])}".rstrip(), xlabel=compared.axis.label)
            if row == 0:
                above.set_title(f"{words}{f', run {compared.runs[sample]}' if len(compared.runs) > 1 else ''}", loc="left")
    legend(figure, axes)
    return figure


def _unit(label: str) -> str:
    """Return the unit of a label with its brackets: `[m]` of `u [m]`, or "" if the label has no unit."""
    return label[label.rindex("[") :] if label.endswith("]") and "[" in label else ""


def spectrum_figure(compared: Compared, noise: Sequence[float] | None = None) -> Figure | None:
    """Draw the amplitude spectral densities of up to MOST_OUTPUTS outputs and of the residuals.

    Return None if the signals, or their longest part without missing values, are shorter than SHORTEST.

    Args:
        compared: The signals of the test data.
        noise: The RMS value of the measurement noise of each output; None if the noise is unknown.
    """
    compared = compared.complete()
    if compared.truth.shape[-1] < SHORTEST:
        return None
    outputs = range(min(len(compared.outputs), MOST_OUTPUTS))
    figure, axes = panels(len(outputs), len(outputs), 2.9)
    step, hertz = compared.axis.step, frequency_unit(compared.axis.unit)
    root = "√Hz" if hertz == "Hz" else f"√({hertz or 'frequency'})"
    curves: dict[str, tuple[np.ndarray, dict[str, Any]]] = {
        "measured": (compared.truth, TRUTH),
        f"residual of the {LINEAR_MODEL}": (compared.linear - compared.truth, {"color": LINEAR, "linestyle": ":"}),
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
        panel.set(xlabel=with_unit("frequency", hertz), ylabel=f"{compared.outputs[channel]}, per {root}")
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
