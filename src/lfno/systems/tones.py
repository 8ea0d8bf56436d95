"""The steady response of an ordinary differential equation to tones a cos ωt, for many frequencies and amplitudes at once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from lfno.core.grid import Grid
from lfno.core.short import Short
from lfno.solvers.rk4 import rk4
from lfno.systems.base import System
from lfno.systems.ode import ForcedODE
from lfno.systems.signals import Chosen, Signal
from lfno.systems.steady import SteadyState, by_repetition

#: number of points of a window. A window has a whole number of cycles of its tone
POINTS = 512
#: shortest duration of a window in s. It lets transients decay within a few windows
DURATION = 10.0
#: other initial displacements that are tried, as multiples of the largest displacement of the steady state from rest. A
#: nonlinear resonance can have two steady states: the first value leads to the smaller one, the other values to the larger one
ELSEWHERE = (-0.2, 2.0, 4.0, 8.0)
#: longest time step of the solver in s
STEP = 0.005
#: largest difference of two equal steady states, relative to the amplitude of the fundamental
SAME = 1e-3


@dataclass(frozen=True, repr=False)
class Tones(Signal, Short):
    """Tones a cos 2πft, one for each sample, as functions of τ = t / (length of the window of this sample).

    frequency: f in Hz, (samples,).
    amplitude: a, (samples,).
    """

    frequency: np.ndarray
    amplitude: np.ndarray

    @property
    def count(self) -> int:  # type: ignore[override]
        return len(self.frequency)

    @property
    def cycles(self) -> np.ndarray:
        """The number of cycles in the window of each sample, (samples,)."""
        return np.maximum(np.ceil(DURATION * self.frequency), 1.0)

    def __call__(self, *coordinates: np.ndarray) -> np.ndarray:
        return self.amplitude[:, None] * np.cos(2 * np.pi * self.cycles[:, None] * coordinates[-1].ravel())

    def __getitem__(self, chosen: Chosen) -> Tones:
        return Tones(self.frequency[chosen], self.amplitude[chosen])


class _Scaled:
    """A system in the time τ = t/window, where `window` is the length of a window: dy/dτ = window · rate.

    Each sample has its own window.
    """

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


@dataclass(frozen=True, repr=False)
class ToneResponse(Short):
    """The steady responses to tones a cos ωt: y = c₀ + Re Σ_{k≥1} c_k e^{ikωt}.

    harmonics: the complex c_k from k = 0 on, (sample, harmonic).
    reached: whether each response reached a steady state with the period of the tone, (sample,).
    unique: whether other initial states lead to the same steady state, (sample,). Whole turns of an angle do not count.
    """

    harmonics: np.ndarray
    reached: np.ndarray
    unique: np.ndarray


def tone_response(
    system: System, frequency: np.ndarray, amplitude: np.ndarray, harmonics: int = 5, elsewhere: Sequence[float] = ELSEWHERE
) -> ToneResponse:
    """Return the steady response of an ordinary differential equation to a cos 2πft, for each pair of f and a.

    frequency: f in Hz, (samples,).
    amplitude: a, (samples,).
    harmonics: the number of harmonics k ≥ 1.
    elsewhere: other initial displacements, as in ELSEWHERE. They test whether the response is unique. With (), nothing is
        tested, and every response that reached a steady state counts as unique.

    For another kind of system, or one without a steady state, all harmonics are NaN, and `reached` and `unique` are False.

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
    # all other initial states are one batch, because the solver is about as fast for many samples as for few
    start = np.zeros((len(elsewhere), tones.count, len(system.start)))
    start[..., system.observed] = np.outer(elsewhere, size)
    many = tones[np.tile(np.arange(tones.count), len(elsewhere))]
    other = _settle(system, many, start.reshape(many.count, -1))
    others = _harmonics(other.values[:, 0], many, harmonics).reshape(len(elsewhere), *found.shape)
    apart = np.abs(without_turns(others - found, system.turn)).max(-1)
    same = other.reached.reshape(apart.shape) & (apart < SAME * np.abs(found[:, 1]))
    unique = first.reached & same.all(axis=0)
    return ToneResponse(found, first.reached, unique)


def without_turns(harmonics: np.ndarray, turn: float) -> np.ndarray:
    """Return differences of harmonics (…, k) without the whole turns in the mean (k = 0).

    turn: the whole turn of an angle, 2π; 0 for an output that is not an angle.

    >>> without_turns(np.array([4 * np.pi + 0.1, 0.2]), 2 * np.pi).round(9)
    array([0.1, 0.2])
    """
    if not turn:
        return harmonics
    whole = turn * np.round(harmonics[..., :1].real / turn)
    return np.concatenate([harmonics[..., :1] - whole, harmonics[..., 1:]], axis=-1)


def _settle(system: ForcedODE, tones: Tones, start: np.ndarray) -> SteadyState:
    """Return the steady states that tones reach from the initial states `start`, (sample, component)."""
    scaled: Any = _Scaled(system, start)
    return by_repetition(scaled, tones, Grid.line(POINTS, dt=1 / POINTS))


def _harmonics(values: np.ndarray, tones: Tones, harmonics: int) -> np.ndarray:
    """Return c_k for k = 0 … harmonics, (sample, k), from responses (sample, time) with whole cycles of their tone."""
    spectrum = np.fft.rfft(values, axis=-1) / values.shape[-1]
    order = np.arange(harmonics + 1)
    places = np.minimum((tones.cycles[:, None] * order).astype(int), spectrum.shape[-1] - 1)
    return np.take_along_axis(spectrum, places, axis=-1) * np.where(order > 0, 2, 1)
