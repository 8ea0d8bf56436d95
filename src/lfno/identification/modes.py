"""Modes with intervals, from arrays of forced responses or free decays, or from any function that responds to a force."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from lfno.core.checks import real_array
from lfno.core.errors import LfnoError
from lfno.core.grid import Grid
from lfno.identification.identify import Modes, fitted_modes, identify
from lfno.identification.mode import Mode, mode_list
from lfno.identification.probe import Respond, small_signal
from lfno.identification.projection import Projection
from lfno.identification.realisation import choose_order, realise
from lfno.identification.search import CLOSE, prune

#: smallest contribution of a listed mode
LEAST = 0.01
#: contribution above which modes cancel each other, and `linearised_modes` merges them or uses fewer poles; near critical
#: damping, the contribution of a correct mode can be several times the whole response
CANCELLING = 10.0


def modes(inputs: np.ndarray, outputs: np.ndarray, grid: Grid, *, max_poles: int = 12, warmup: int = 0) -> list[Mode]:
    """Return the modes of a linear system from forced responses `(samples, channels, time)`, strongest first.

    Each mode has 95 % intervals of frequency and damping. The noise in the outputs may be coloured. `identify` does the fit.

    max_poles: largest number of poles.
    warmup: number of first steps that do not count in the error. Responses that do not start at rest need a warm-up as long as
        the memory of the system.

    >>> grid = Grid.line(2000, dt=0.05)
    >>> draw = np.random.default_rng(0)
    >>> force = draw.normal(size=(1, 1, 2000))
    >>> truth = Modes(np.array([-0.2 + 3j]), np.full((1, 1, 1), -0.3j), np.zeros((1, 1)), np.ones(1), 0.0, "linear")
    >>> motion = truth.simulate(force, 0.05)
    >>> [mode] = modes(force, motion + 0.05 * motion.std() * draw.normal(size=motion.shape), grid)
    >>> low, high = mode.frequency_interval
    >>> bool(low < 3 / (2 * np.pi) < high)
    True
    """
    return mode_list(identify(inputs, outputs, grid, max_poles=max_poles, warmup=warmup), LEAST)


class _Decays(Projection):
    """The fit of free decays. The response of a pole is e^{μt}. Each output has its own amplitude, phase and constant.

    The input is 1 at all times, so that the direct term is the constant.
    """

    def respond(self, pole: complex) -> tuple[np.ndarray, np.ndarray]:
        time = self.step * np.arange(self.inputs.shape[-1])
        value = np.exp(pole * time)[None, None]
        return value, time * value


def free_modes(outputs: np.ndarray, grid: Grid, *, max_modes: int = 12) -> list[Mode]:
    """Return the modes of free decays `(samples, channels, time)`, strongest first.

    Each sample is one decay without input. All decays share the modes; each decay has its own amplitudes. An output may have a
    constant offset. The record must begin after the last force has ended.

    max_modes: largest number of oscillations. The poles come from a realisation with at most 2 `max_modes` states. An
        oscillation takes two states, and a decay takes one state.

    >>> t = 0.02 * np.arange(1000)
    >>> decay = np.exp(-0.3 * t) * np.cos(8 * t) + 0.5 * np.exp(-0.5 * t) * np.cos(20 * t)
    >>> noise = 0.01 * np.random.default_rng(0).normal(size=1000)
    >>> [round(mode.frequency * 2 * np.pi, 1) for mode in free_modes((decay + noise)[None, None], Grid.line(1000, 0.02))]
    [8.0, 20.0]
    """
    outputs = real_array(outputs, "the decays", "(samples, channels, time)", 3, finite=True).astype(np.float64)
    if outputs.ndim != 3 or grid.ndim != 1 or outputs.shape[-1] != grid.shape[0] or outputs.shape[-1] < 32:
        raise LfnoError(
            f"free decays (samples, channels, time ≥ 32) on a grid of time are needed, not {outputs.shape} on {grid.shape}"
        )
    samples, channels, size = outputs.shape
    step = grid.steps[0]
    scale = np.sqrt((outputs**2).mean((0, 2)))
    scale[scale == 0] = 1.0
    decays = outputs / scale[:, None]
    centred = decays - decays[..., -size // 4 :].mean(-1, keepdims=True)
    markov = np.moveaxis(centred, 0, 1)
    order = choose_order(realise(markov, step, 0).singular_values, 1e-4)
    start = realise(markov, step, min(max(order, 2), 2 * max_modes)).poles
    start = start[(start.real < 0) & (np.abs(start.imag) * step < 3)]
    # One trajectory has all decays as its outputs. The outputs share the poles and have separate amplitudes.
    problem = _Decays(np.ones((1, 1, size)), decays.reshape(1, samples * channels, size), step, "linear")
    found = prune(problem, problem.refine(start))
    error, whole = problem.error(found), problem.whole()
    modes = fitted_modes(whole, whole.refine(found), np.ones(samples * channels), error)
    residues = modes.residues.reshape(samples, channels, -1).transpose(1, 0, 2) * scale[:, None, None]
    return mode_list(replace(modes, residues=residues), LEAST)


def linearised_modes(
    respond: Respond,
    grid: Grid,
    band: tuple[float, float],
    amplitude: float,
    channels: int = 1,
    *,
    operating: float = 0.0,
    settle: float = 0.5,
    accuracy: float = 0.0,
    max_poles: int = 8,
) -> Modes:
    """Fit modes to the response of a function to small forces, about the steady state under a constant input. Return the modes.

    If two fitted modes are much larger than the response and cancel each other, the fit has split one mode into two. Then the
    two modes are merged, or the fit is repeated with fewer poles. `mode_list` turns the result into modes with intervals.

    respond: a function from inputs (batch, channels, time) to outputs (batch, outputs, time).
    grid: the time grid.
    band, amplitude, channels, operating, settle: arguments of `probe.small_signal`.
    accuracy: relative L2 error of the outputs of `respond`: 0 if they are exact, or the error of a network. No pole is added
        below this error. The covariance counts this error as noise.
    max_poles: largest number of poles.
    """
    if grid.ndim != 1:
        raise LfnoError(f"small-signal modes need a grid of time alone, not the axes {list(grid.names)}")
    seen = small_signal(respond, grid.shape[0], grid.steps[0], band, amplitude, channels, operating, settle)
    rest = Grid.line(seen.forces.shape[-1], seen.step)

    def explain(most: int, poles: np.ndarray | None = None) -> Modes:
        return identify(seen.forces, seen.responses, rest, poles, max_poles=most, hold="cubic", accuracy=accuracy)

    most, found = max_poles, explain(max_poles)
    while _cancels(found) and most > 1:
        together = _critically_damped(found.poles)
        merged = found if together is None else explain(most, together)
        if not _cancels(merged):
            found = merged
            break
        most = max(min(most, len(found.poles)) - 1, 1)
        found = explain(most)
    return replace(found, covariance=found.covariance * max(1.0, accuracy / max(found.error, 1e-12)) ** 2)


def _cancels(modes: Modes) -> bool:
    """Return whether a mode is much larger than the whole response, so that modes must cancel each other."""
    return bool(modes.contributions.max(initial=0.0) > CANCELLING)


def _critically_damped(poles: np.ndarray) -> np.ndarray | None:
    """Replace the closest pair of decays by one oscillation with a damping ratio near 1. Return None if no pair is close.

    Two decays with the poles a and b and opposite residues have the impulse response e^{at} − e^{bt}. This function is nearly
    proportional to t e^{at}. One mode with a damping ratio near 1 describes it as well.

    >>> _critically_damped(np.array([-1.01, -3.0 + 1j, -0.99])).round(3)
    array([-3.+1.j  , -1.+0.05j])
    """
    decays = np.flatnonzero(poles.imag == 0)
    if len(decays) < 2:
        return None
    decays = decays[np.argsort(poles[decays].real)]
    gaps = np.diff(poles[decays].real) / np.abs(poles[decays].real[1:])
    first = int(gaps.argmin())
    if gaps[first] > CLOSE:
        return None
    pair = decays[first : first + 2]
    middle = float(poles[pair].real.mean())
    return np.append(np.delete(poles, pair), complex(middle, 0.05 * abs(middle)))
