"""Figures of the nonlinearity of modes with feedback: the restoring force with its 95 % interval, or the hysteresis loop."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from lfno.identification.feedback import FeedbackModel
from lfno.plots.style import COLOURS, legend, panels

if TYPE_CHECKING:
    from matplotlib.figure import Figure

CYCLES = 12  # simulated cycles of the input; only the last cycle is drawn, because the loop is periodic then
SAMPLES = 400  # time steps in one cycle


def characteristic_figure(
    model: FeedbackModel, truth: tuple[np.ndarray, np.ndarray] | None = None, units: tuple[str, str] = ("", "")
) -> Figure:
    """Draw the restoring force over the displacement, with its 95 % interval and its tangent at rest.

    For a curved sensor, draw the output over a constant input. For curved actuators, draw the effective input over the input,
    in one panel for each input with a curve.

    Args:
        model: The fitted model.
        truth: Displacement and force of the true equation; None if the equation is unknown.
        units: Units of displacement and force, such as "[m]".
    """
    if model.curved_inputs:
        return _actuator_figure(model)
    z, force, lower, upper = model.characteristic()
    figure, (panel,) = panels(1, 1, 3.5)
    middle = np.abs(z).argmin()
    tangent = np.gradient(force, z)[middle] * (z - z[middle]) + force[middle]
    panel.plot(z, tangent, "--", color=COLOURS["truth"], linewidth=0.8, label="linear part")
    if truth is not None:
        panel.plot(*truth, color=COLOURS["truth"], linewidth=3, alpha=0.25, label="equation")
    panel.fill_between(z, lower, upper, alpha=0.3, label="95 % interval")
    panel.plot(z, force, label="model")
    names = ("displacement", "restoring force") if model.law.sensor is None else ("constant input", "output")
    panel.set(xlabel=f"{names[0]} {units[0]}".rstrip(), ylabel=f"{names[1]} {units[1]}".rstrip())
    legend(figure, [panel])
    return figure


def _actuator_figure(model: FeedbackModel) -> Figure:
    """Draw the effective input over the input, with its 95 % interval, for each input with a curve."""
    figure, axes = panels(len(model.curved_inputs), len(model.curved_inputs), 3.5)
    for panel, channel in zip(axes, model.curved_inputs, strict=True):
        u, v, lower, upper = model.characteristic(channel=channel)
        panel.plot(u, u, "--", color=COLOURS["truth"], linewidth=0.8, label="linear actuator")
        panel.fill_between(u, lower, upper, alpha=0.3, label="95 % interval")
        panel.plot(u, v, label="model")
        panel.set(xlabel=f"input {channel + 1}", ylabel=f"effective input {channel + 1}")
    legend(figure, list(axes))
    return figure


def loop_figure(model: FeedbackModel, amplitude: float, frequency: float, units: tuple[str, str] = ("", "")) -> Figure:
    """Draw the hysteresis loop: the first input over the first output in one period of the steady response.

    Args:
        model: The fitted model.
        amplitude: The amplitude of the sine. The sine is added to `model.input_offset`.
        frequency: The frequency of the input in Hz.
        units: Units of output and input, such as "[m]".
    """
    step = 1 / (frequency * SAMPLES)
    time = step * np.arange(CYCLES * SAMPLES + 1)
    force = np.tile(model.input_offset[:, None], len(time))
    force[0] += amplitude * np.sin(2 * np.pi * frequency * time)
    states = model.states(force[None], step)
    motion = model.outputs(states, force[None])[0, 0]
    last = slice(-SAMPLES - 1, None)
    figure, (panel,) = panels(1, 1, 3.5)
    panel.plot(motion[last], force[0, last])
    panel.set(xlabel=f"output {units[0]}".rstrip(), ylabel=f"input {units[1]}".rstrip())
    return figure
