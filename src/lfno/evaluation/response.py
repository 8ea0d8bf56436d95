"""Nonlinear frequency response: the steady response to sine inputs, with harmonics, over frequency and amplitude."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch

from lfno.core.checks import real_array
from lfno.core.errors import LfnoError
from lfno.core.grid import Grid
from lfno.core.short import Short
from lfno.identification.feedback import FeedbackModel
from lfno.models.fno import FNO
from lfno.models.lfno import LFNO
from lfno.models.operator import Operator
from lfno.systems.base import System
from lfno.systems.tones import tone_response

#: a function (inputs (batch, channels, time), their grid) → periodic steady state (batch, outputs, time)
Steady = Callable[[np.ndarray, Grid], np.ndarray]

POINTS = 128  # points per cycle, at least: enough for the harmonics and their products
MOST_POINTS = 512  # points per cycle, at most: linear interpolation between them has an error of 0.03 % at the fifth harmonic
MOST = 1_000_000  # frequencies times amplitudes, at most


@dataclass(frozen=True, repr=False)
class Response(Short):
    """The steady response to the input a cos 2πft with frequency f and amplitude a: y = c₀ + Re Σ_k c_k e^{2πikft}.

    frequencies: (F,) the frequencies f, in cycles per unit of time: in Hz if the time axis is in seconds.
    amplitudes: (A,) the amplitudes a in the unit of the input.
    harmonics: (A, F, outputs, K + 1) the complex c₀ … c_K; NaN if there is no steady response with the period 1/f.
    unique: (A, F) False if the response depends on the initial state; None if this is not known.
    """

    frequencies: np.ndarray
    amplitudes: np.ndarray
    harmonics: np.ndarray
    unique: np.ndarray | None = None

    @property
    def amplitude(self) -> np.ndarray:
        """The amplitude of the fundamental, |c₁|, (A, F, outputs)."""
        return np.abs(self.harmonics[..., 1])

    @property
    def phase(self) -> np.ndarray:
        """The phase of the fundamental relative to the input in degrees, (A, F, outputs).

        The phase does not jump by 360° from one frequency to the next. It is NaN if there is no steady response.
        """
        angle = np.moveaxis(np.angle(self.harmonics[..., 1]), 1, -1)
        phase = np.full_like(angle, np.nan)
        for row in np.ndindex(angle.shape[:-1]):
            known = np.isfinite(angle[row])
            phase[row][known] = np.unwrap(angle[row][known])
        return np.degrees(np.moveaxis(phase, -1, 1))

    @property
    def distortion(self) -> np.ndarray:
        """The total harmonic distortion √(Σ_{k≥2} |c_k|²) / |c₁|, (A, F, outputs)."""
        return np.sqrt((np.abs(self.harmonics[..., 2:]) ** 2).sum(-1)) / np.maximum(self.amplitude, 1e-300)


def response(
    model: Any, frequencies: Any, amplitudes: Any, *, channel: int = 0, harmonics: int = 5, channels: int | None = None,
    step: float | None = None,
) -> Response:  # fmt: skip
    """Return the steady response of a model to the input a cos 2πft, for all pairs of frequency f and amplitude a.

    model: a network; an object with `decompose(inputs, grid=…)` → (transient, steady) and a `grid`; or a function
        `steady(inputs, grid)`.
    frequencies: the frequencies f in Hz.
    amplitudes: the amplitudes a in the unit of the input.
    channel: the index of the driven input. All other inputs are zero.
    harmonics: the number of harmonics K.
    channels, step: the number of inputs and the time step; needed only if the model is a function.

    Raises LfnoError for a network whose steady layers are valid only on the training window (FNO, LFNO with free
    weights in its steady layers, or coordinates as inputs), and for a model of fields.
    """
    frequencies, amplitudes = _positive(frequencies, "frequencies"), _positive(amplitudes, "amplitudes")
    if len(frequencies) * len(amplitudes) > MOST:
        raise LfnoError(f"{len(frequencies)} frequencies × {len(amplitudes)} amplitudes are more than {MOST:,} points")
    steady, channels, step = steady_pass(model, channels, step)
    if not 0 <= channel < channels:
        raise LfnoError(f"there is no input {channel}: the model has {channels} inputs, counted from 0")
    parts = []
    for frequency in frequencies:
        size = min(max(POINTS, math.ceil(1 / (frequency * step))), MOST_POINTS)
        inputs = np.zeros((len(amplitudes), channels, size))
        inputs[:, channel] = amplitudes[:, None] * np.cos(2 * np.pi * np.arange(size) / size)
        values = np.asarray(steady(inputs, Grid.line(size, 1 / (frequency * size))))
        spectrum = np.fft.rfft(values, axis=-1)[..., : harmonics + 1] / size
        spectrum[..., 1:] *= 2
        parts.append(spectrum)
    return Response(frequencies, amplitudes, np.stack(parts, axis=1))


def steady_pass(model: Any, channels: int | None = None, step: float | None = None) -> tuple[Steady, int, float]:
    """Return (function that computes the steady response, number of inputs, time step) of a model.

    The arguments are those of `response`.
    """
    if isinstance(model, Operator):
        if isinstance(model, FNO) or (isinstance(model, LFNO) and model.config.steady != "exact") or model.config.grid_channels:
            raise LfnoError(
                "this network is valid only for signals as long as those in training, so it has no frequency response; a "
                "linear model, a model with feedback, or an LFNO with exact steady layers and without coordinates as inputs "
                "has one"
            )
        like = model.lift.weight

        @torch.no_grad()
        def steady(inputs: np.ndarray, grid: Grid) -> np.ndarray:
            answer = model.respond(torch.as_tensor(inputs).to(like), grid, transient=False)
            return answer.double().cpu().numpy()

        _check_time_alone(model.grid)
        return steady, model.config.in_channels, model.grid.steps[0]
    if hasattr(model, "decompose"):
        _check_time_alone(model.grid)
        if isinstance(model, FeedbackModel):
            return model.steady, model.channels[0], model.grid.steps[0]
        return lambda inputs, grid: model.decompose(inputs, grid=grid)[1], model.channels[0], model.grid.steps[0]
    if not callable(model) or channels is None or step is None:
        raise LfnoError("a model with `decompose` is needed, or a function steady(inputs, grid) with channels and step")
    return model, channels, step


def system_response(system: System, frequencies: Any, amplitudes: Any, *, harmonics: int = 5) -> Response:
    """Return the response of the equation of a system, computed by its solver.

    frequencies: in Hz.
    amplitudes: in the unit of the input.
    harmonics: the number of harmonics K.

    The response is NaN if there is no steady state with the period of the input. `unique` is False if another initial state
    leads to another steady state.
    """
    frequencies, amplitudes = _positive(frequencies, "frequencies"), _positive(amplitudes, "amplitudes")
    shape = (len(amplitudes), len(frequencies))
    each = [values.ravel() for values in np.broadcast_arrays(frequencies[None], amplitudes[:, None])]
    found = tone_response(system, each[0], each[1], harmonics)
    return Response(frequencies, amplitudes, found.harmonics.reshape(*shape, 1, -1), found.unique.reshape(shape))


def _check_time_alone(grid: Grid) -> None:
    if grid.ndim != 1:
        raise LfnoError(f"a frequency response needs a model of signals in time, not of the axes {', '.join(grid.names)}")


def _positive(values: Any, name: str) -> np.ndarray:
    array = np.atleast_1d(real_array(values, f"the {name}")).astype(np.float64).ravel()
    if not len(array) or not np.isfinite(array).all() or (array <= 0).any():
        raise LfnoError(f"the {name} must be positive finite numbers, at least one")
    return array
