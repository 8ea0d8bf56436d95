"""Figures of resonances: nonlinear frequency responses, backbones, and stabilisation diagrams."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from lfno.core.grid import frequency_unit, with_unit
from lfno.evaluation.backbone import Backbone
from lfno.evaluation.response import Response
from lfno.identification.stabilisation import Stabilisation
from lfno.plots.style import COLOURS, legend, logarithmic, panels

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Units = tuple[str, str, str]  # of input, output and time
TINY = 1e-8  # harmonics divided by the fundamental; smaller values are rounding errors
MOST_CURVES = 6  # largest number of curves in a panel, each for one input amplitude; more colours are hard to distinguish


def response_figure(
    found: Response, truth: Response | None, units: Units, output: int = 0, curve: Backbone | None = None
) -> Figure:
    """Draw amplitude, phase and harmonics of the steady response over frequency.

    Each curve belongs to one input amplitude. Of more than MOST_CURVES amplitudes, equally spaced ones are drawn.

    Args:
        found: The steady response of the model.
        truth: The steady response of the equation, or None. The curve is grey, and dashed where the response is not unique.
        units: The units of input, output and time, such as ("N", "m", "s"); "" for an unknown unit.
        output: The index of the output channel.
        curve: The backbone (amplitude over frequency of the resonances), or None.
    """
    from matplotlib import colormaps

    figure, (size, angle, bent) = panels(3, 1, 2.5)
    rows = np.unique(np.linspace(0, len(found.amplitudes) - 1, MOST_CURVES).round().astype(int))
    colours = colormaps["plasma"](np.linspace(0.05, 0.85, len(rows)))
    for row, colour in zip(rows, colours, strict=True):
        label = f"input {found.amplitudes[row]:.3g} {units[0]}".rstrip()
        quantities = (found.amplitude, found.phase, 100 * np.where(found.distortion < TINY, 0.0, found.distortion))
        for panel, values in zip((size, angle, bent), quantities, strict=True):
            panel.plot(found.frequencies, values[row, :, output], color=colour, label=label)
        if truth is None:
            continue
        known = (truth.amplitude, truth.phase, 100 * truth.distortion)
        sure = np.ones(len(truth.frequencies), bool) if truth.unique is None else truth.unique[row]
        for panel, values in zip((size, angle, bent), known, strict=True):
            line = values[row, :, output]
            style: Any = {"color": COLOURS["truth"], "linewidth": 3, "alpha": 0.25}
            panel.plot(truth.frequencies, np.where(sure, line, np.nan), label="equation", **style)
            if not sure.all():
                panel.plot(truth.frequencies, np.where(sure, np.nan, line), "--", label="equation, not unique", **style)
    if curve is not None:
        size.plot(curve.frequency, curve.amplitude, "k.-", linewidth=0.8, markersize=4, label="backbone")
    size.set(ylabel=with_unit("amplitude", units[1]))
    logarithmic(size)
    angle.set(ylabel="phase [°]")
    bent.set_ylim(bottom=0)
    bent.set(ylabel="harmonics [%]", xlabel=with_unit("frequency", frequency_unit(units[2])))
    legend(figure, [size])
    return figure


def backbone_figure(found: Backbone, truth: Backbone | None, units: Units) -> Figure:
    """Draw the frequency and the damping ratio of the resonance over the amplitude of the response, for model and equation.

    Args:
        found: The backbone of the model.
        truth: The backbone of the equation; None if the equation is unknown.
        units: The units of input, output and time.
    """
    figure, axes = panels(2, 2, 3.0)
    for panel, name in zip(axes, ("frequency", "damping_ratio"), strict=True):
        if truth is not None:
            style: Any = {"color": COLOURS["truth"], "linewidth": 3, "alpha": 0.3}
            panel.plot(truth.amplitude, getattr(truth, name), label="equation", **style)
        panel.plot(found.amplitude, getattr(found, name), ".-", color=COLOURS["LFNO"], label="model")
        panel.set(xlabel=with_unit("amplitude", units[1]))
        panel.set_ylim(bottom=0)
    axes[0].set(ylabel=with_unit("frequency", frequency_unit(units[2])))
    axes[1].set(ylabel="damping ratio")
    legend(figure, axes)
    return figure


def stabilisation_figure(found: Stabilisation, modes: np.ndarray, highest: float, unit: str) -> Figure:
    """Draw the stabilisation diagram: the frequencies of the poles of linear models of increasing order (number of states).

    A pole is marked as stable if the model of the previous order has a pole with nearly the same frequency and damping.

    Args:
        found: The poles of each order. Its `stable` is True for poles that are stable in this sense.
        modes: The poles that were accepted as modes, in 1/unit, drawn as dashed lines.
        highest: The highest frequency of the figure, in cycles per unit of time.
        unit: The unit of time; "" for an unknown unit.
    """
    figure, (panel,) = panels(1, 1, 4.0)
    frequency = np.abs(found.pole.imag) / (2 * np.pi)
    for stable, mark, words in ((False, ".", "pole of one order only"), (True, "o", "same pole at the previous order")):
        chosen = (found.stable == stable) & (frequency <= highest)
        colour = COLOURS["LFNO"] if stable else "#aaaaaa"
        panel.plot(frequency[chosen], found.order[chosen], mark, color=colour, markersize=5, fillstyle="none", label=words)
    for place, pole in enumerate(modes):
        line: Any = {"color": COLOURS["truth"], "linewidth": 0.8, "linestyle": "--"}
        panel.axvline(abs(pole.imag) / (2 * np.pi), label=None if place else "mode", **line)
    panel.set(xlabel=with_unit("frequency", frequency_unit(unit)), ylabel="number of states", xlim=(0, highest))
    legend(figure, [panel])
    return figure
