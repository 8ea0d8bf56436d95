"""The steady response of an ordinary differential equation to tones of many frequencies and amplitudes at once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from lfno.core.grid import Grid
from lfno.solvers.rk4 import rk4
from lfno.systems.base import System
from lfno.systems.ode import ForcedODE
from lfno.systems.signals import Chosen, Signal
from lfno.systems.steady import SteadyState, by_repetition

#: points of a window; each window holds whole cycles of its tone
POINTS = 512
#: least duration of a window, so that transients decay within a few windows
DURATION = 10.0  # s
#: other initial displacements, as multiples of the largest displacement in the steady state from rest: the first leads to
#: the low branch of a folded resonance, the others to the high branch
ELSEWHERE = (-0.2, 2.0, 4.0, 8.0)
#: the longest step of the solver
STEP = 0.005  # s


@dataclass(frozen=True)
class Tones(Signal):
    """a cos ωt for each sample, as a function of τ = t/window. The window of a sample holds `cycles` cycles of its tone."""

    frequency: np.ndarray
    amplitude: np.ndarray

    @property
    def count(self) -> int:  # type: ignore[override]
        return len(self.frequency)

    @property
    def cycles(self) -> np.ndarray:
        return np.maximum(np.ceil(DURATION * self.frequency), 1.0)

    def __call__(self, *coordinates: np.ndarray) -> np.ndarray:
        return self.amplitude[:, None] * np.cos(2 * np.pi * self.cycles[:, None] * coordinates[-1].ravel())

    def __getitem__(self, chosen: Chosen) -> Tones:
        return Tones(self.frequency[chosen], self.amplitude[chosen])


class _Scaled:
    """The same equation in the time τ = t/window: dy/dτ = window × rate. Each sample has its own window."""

    def __init__(self, system: ForcedODE, start: np.ndarray) -> None:
        self.system, self.start, self.outputs = system, start, system.outputs

    def start_state(self, count: int, grid: Grid) -> np.ndarray:
        return self.start

    def march(self, signal: Tones, grid: Grid, state: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        window = signal.cycles / signal.frequency
        time = grid.axes[-1]
        substeps = int(np.ceil(window.max() * time.step / STEP))

        def rate(state: np.ndarray, force: np.ndarray) -> list[np.ndarray]:
            return [window * part for part in self.system.rate(state, force)]

        states = rk4(rate, state.T, signal, 0.0, time.step, time.size, substeps, tolerance=1e-6, warn=False)
        return states[self.system.observed][:, None], states[..., -1].T


@dataclass(frozen=True)
class ToneResponse:
    """The steady responses to a cos ωt: y = c₀ + Re Σ_k c_k e^{ikωt}.

    harmonics: the complex c_k, (sample, harmonic).
    reached: whether a steady state with the period of the tone exists.
    unique: whether other initial states lead to the same steady state.
    """

    harmonics: np.ndarray
    reached: np.ndarray
    unique: np.ndarray


def tone_response(
    system: System, frequency: np.ndarray, amplitude: np.ndarray, harmonics: int = 5, elsewhere: Sequence[float] = ELSEWHERE
) -> ToneResponse:
    """Return the steady response to a cos 2πft for each pair of frequency and amplitude, computed by the solver of the
    equation.

    frequency: in Hz, (samples,).
    amplitude: (samples,).
    harmonics: the number of harmonics.
    elsewhere: other initial displacements, which test whether the response is unique. With (), every response counts as
        unique.

    >>> from lfno.systems import Duffing
    >>> found = tone_response(Duffing(c=0.5, beta=0.0), np.array([0.1]), np.array([2.0]))
    >>> w = 0.2 * np.pi
    >>> bool(abs(found.harmonics[0, 1] - 2 / (1 - w**2 + 0.5j * w)) < 1e-4)
    True
    """
    if not isinstance(system, ForcedODE) or system.unsettled:
        count = len(frequency)
        empty = np.full((count, harmonics + 1), np.nan + 0j)
        return ToneResponse(empty, np.zeros(count, dtype=bool), np.zeros(count, dtype=bool))
    tones = Tones(np.asarray(frequency, np.float64), np.asarray(amplitude, np.float64))
    first = _settle(system, tones, np.tile(system.start, (tones.count, 1)))
    found = _harmonics(first.values[:, 0], tones, harmonics)
    size = np.nan_to_num(np.abs(first.values[:, 0]).max(axis=1), nan=1.0)
    if not elsewhere:
        return ToneResponse(found, first.reached, first.reached)
    # all other initial states are one batch, because the solver needs about the same time for many samples as for few
    start = np.zeros((len(elsewhere), tones.count, len(system.start)))
    start[..., system.observed] = np.outer(elsewhere, size)
    many = tones[np.tile(np.arange(tones.count), len(elsewhere))]
    other = _settle(system, many, start.reshape(many.count, -1))
    apart = np.abs(_harmonics(other.values[:, 0], many, harmonics)[:, 1].reshape(len(elsewhere), -1) - found[:, 1])
    same = other.reached.reshape(apart.shape) & (apart < 1e-3 * np.abs(found[:, 1]))
    unique = first.reached & same.all(axis=0)
    return ToneResponse(found, first.reached, unique)


def _settle(system: ForcedODE, tones: Tones, start: np.ndarray) -> SteadyState:
    scaled: Any = _Scaled(system, start)
    return by_repetition(scaled, tones, Grid.line(POINTS, dt=1 / POINTS))


def _harmonics(values: np.ndarray, tones: Tones, harmonics: int) -> np.ndarray:
    """c_k, k = 0 … harmonics, from windows (sample, time) that hold whole cycles."""
    spectrum = np.fft.rfft(values, axis=-1) / values.shape[-1]
    order = np.arange(harmonics + 1)
    places = np.minimum((tones.cycles[:, None] * order).astype(int), spectrum.shape[-1] - 1)
    return np.take_along_axis(spectrum, places, axis=-1) * np.where(order > 0, 2, 1)
