"""The backbone of a resonance: how its frequency and damping change with the amplitude of the motion."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from scipy.interpolate import CubicSpline

from lfno.core.checks import real_array
from lfno.core.errors import LfnoError
from lfno.core.short import Short
from lfno.evaluation.response import Response

JUMP = 30.0  # degrees: if the phase falls by more from one frequency to the next, it has jumped
FINE = 10.0  # degrees: `resolve` stops when the phase passes the resonance in smaller steps
INSERTED = 8  # frequencies: `resolve` inserts this many between two neighbours
ALIKE = 2.0  # largest ratio of two estimates of the damping of the same mode
ROUNDS = 4  # rounds of `resolve`; each round makes the frequency steps nine times smaller


@dataclass(frozen=True, repr=False)
class Backbone(Short):
    """Points of the backbone curve, sorted by amplitude. All arrays are (points,).

    amplitude: the amplitude of the motion.
    frequency: the frequency without damping in Hz; |μ|/2π for a linear mode with the pole μ.
    damping_ratio: the damping ratio of the linear oscillator that loses the same energy per cycle at this amplitude.
    """

    amplitude: np.ndarray
    frequency: np.ndarray
    damping_ratio: np.ndarray


def backbone(response: Response, output: int = 0) -> Backbone:
    """Return the backbone from a frequency response. Each amplitude of the force gives one point, at its phase resonance.

    response: the frequency response.
    output: the index of the output channel.

    At phase resonance the displacement lags the force by a quarter of a cycle. The force then balances the damping only, and
    the frequency is the frequency of the free, undamped system. One mode must dominate.

    Far below the resonance, a displacement is in phase with the force. The reference phase is the multiple of 90° nearest to
    the phase at the lowest frequency, so the output may also be a velocity or have the opposite sign. The damping ratio is
    F/(2 m ω^{2−p} X) for the force amplitude F, the amplitude X of the output and ω = 2π frequency. The output is the p-th
    derivative of a displacement. The mass m and the order p are computed from the smallest force amplitude, for which the
    motion should be nearly linear.

    If the resonance is folded over, the phase jumps past the quarter cycle. Such force amplitudes are left out;
    `decay_backbone` reaches larger amplitudes. Raises LfnoError if no phase resonance lies within the frequencies, or if more
    than one mode responds at the resonance (see `_check_one_mode`).
    """
    order = np.argsort(response.amplitudes)
    omega = 2 * math.pi * response.frequencies
    points, places = [], []
    for row in order:
        found = _crossing(_lag(response, row, output), -90.0)
        if found is None:
            continue
        left, share = found
        places.append((row, left))
        size = response.amplitude[row, :, output]
        points.append(
            (
                response.amplitudes[row],
                size[left] + share * (size[left + 1] - size[left]),
                response.frequencies[left] + share * (response.frequencies[left + 1] - response.frequencies[left]),
            )
        )
    if not points:
        raise LfnoError(
            f"there is no resonance at frequencies from {response.frequencies[0]:g} to {response.frequencies[-1]:g}: the phase "
            "does not fall by 90°; choose more frequencies or a wider range"
        )
    force, amplitude, frequency = np.array(points).T
    weakest, resonance = order[0], 2 * math.pi * frequency
    low = response.amplitude[weakest, :2, output] / response.amplitudes[weakest]
    near = (omega[0] / resonance[0]) ** 2
    # below its resonance, the response of one mode grows as ω^{p + 2r/(1 − r)} with r = ω²/(resonance)²
    slope = math.log(low[1] / low[0]) / math.log(omega[1] / omega[0])
    p = min(max(round(slope - 2 * near / (1 - near)), 0), 2) if near < 1 and math.isfinite(slope) else 0
    gain = low[0] * (resonance[0] ** 2 - omega[0] ** 2) / omega[0] ** p  # the inverse of the mass, 1/m
    damping = gain * force / (2 * resonance ** (2 - p) * amplitude)
    _check_one_mode(response, output, places[0], frequency[0], damping[0])
    return Backbone(amplitude, frequency, damping)


def _check_one_mode(response: Response, output: int, place: tuple[int, int], frequency: float, damping: float) -> None:
    """Raise LfnoError unless one mode dominates at the resonance of the smallest force amplitude.

    The lag φ of one mode fulfils cot φ = (ω_r² − ω²)/(2 ζ ω_r ω) near its resonance ω_r, so the phase gives the damping ratio
    ζ. A second estimate comes from the amplitude (see `backbone`). If another mode responds, too, the two estimates differ.

    place: index of the force amplitude, and index of the last frequency below the resonance.
    frequency, damping: the resonance in Hz, and the damping ratio from the amplitude.
    """
    row, left = place
    phases = np.radians(-_lag(response, row, output)[left : left + 2])
    shares = response.frequencies[left : left + 2] / frequency
    slopes = (1 - shares**2) / (2 * shares)
    seen = float((slopes[0] - slopes[1]) / (1 / np.tan(phases[0]) - 1 / np.tan(phases[1])))
    if not damping / ALIKE <= seen <= damping * ALIKE:
        raise LfnoError(
            f"more than one mode responds at the frequency {frequency:.4g}: the phase gives a damping ratio of {seen:.2g}, the "
            f"amplitude {damping:.2g}. A backbone needs one mode that dominates; choose a range of frequencies with one mode"
        )


def resolve(ask: Callable[[np.ndarray, np.ndarray], Response], found: Response, output: int = 0) -> Response:
    """Return a response with more frequencies at the resonance, so that the phase passes it in small steps.

    ask: `ask(frequencies, amplitudes)` computes the response.
    found: the response to refine.
    output: the index of the output channel.

    If the resonance is folded over, the phase jumps however small the steps are. The search therefore ends after ROUNDS rounds.
    """
    for _ in range(ROUNDS):
        more: list[np.ndarray] = []
        for row in range(len(found.amplitudes)):
            lag = _lag(found, row, output)
            wide = np.flatnonzero((lag[:-1] > -90) & (lag[1:] <= -90) & (lag[:-1] - lag[1:] > FINE))
            for left in wide[:1]:
                low, high = found.frequencies[left], found.frequencies[left + 1]
                more.append(np.linspace(low, high, INSERTED + 2)[1:-1])
        if not more:
            break
        added = ask(np.unique(np.concatenate(more)), found.amplitudes)
        frequencies = np.concatenate([found.frequencies, added.frequencies])
        order = np.argsort(frequencies)
        harmonics = np.concatenate([found.harmonics, added.harmonics], axis=1)[:, order]
        found = Response(frequencies[order], found.amplitudes, harmonics)
    return found


def _lag(response: Response, row: int, output: int) -> np.ndarray:
    """Return the phase in degrees, (frequencies,), minus the reference phase at the lowest frequency (see `backbone`).

    row: index of the force amplitude.
    """
    phase = response.phase[row, :, output]
    return phase - 90 * round(phase[0] / 90)


def decay_backbone(decay: np.ndarray, step: float) -> Backbone:
    """Return the backbone from a free decay of one mode about zero. Each cycle gives one point.

    decay: (time,) the motion.
    step: time step in seconds.

    A cycle lies between two zero crossings in the same direction. A cycle begins at every zero crossing, so neighbouring cycles
    overlap by half. The amplitude of a cycle is the geometric mean of its two peaks. The damping follows from the logarithmic
    decrement of two peaks of the same sign, one cycle apart; the last cycle gets the damping of the cycle before. Raises
    LfnoError if the decay does not oscillate about zero for at least two cycles.

    >>> t = 0.01 * np.arange(4000)
    >>> found = decay_backbone(np.exp(-0.1 * t) * np.cos(5 * t), 0.01)
    >>> bool(np.abs(found.frequency * 2 * np.pi - abs(-0.1 + 5j)).max() < 1e-3)
    True
    >>> bool(np.abs(found.damping_ratio - 0.02).max() < 1e-3)
    True
    """
    values = real_array(decay, "the decay", "(time,)", 1, finite=True).astype(np.float64)
    if values.ndim != 1:
        raise LfnoError(f"a free decay (time,) is needed, not an array of shape {values.shape}")
    spline = CubicSpline(step * np.arange(len(values)), values)
    zeros = spline.roots(extrapolate=False)
    turns = spline.derivative().roots(extrapolate=False)
    peaks = [turns[(turns > a) & (turns < b)] for a, b in pairwise(zeros)]
    if len(zeros) < 5 or any(len(inside) != 1 for inside in peaks):
        raise LfnoError(
            "the decay does not oscillate about zero with one peak between two zero crossings: give at least two cycles of one "
            "mode without offset and noise (filter the record, or use free_modes)"
        )
    heights = np.abs(spline(np.concatenate(peaks)))
    period = zeros[2:] - zeros[:-2]
    decrement = np.log(heights[:-2] / heights[2:])
    decrement = np.append(decrement, decrement[-1])
    amplitude = np.sqrt(heights[:-1] * heights[1:])
    ratio = decrement / np.hypot(2 * math.pi, decrement)
    order = np.argsort(amplitude)
    return Backbone(amplitude[order], 1 / (period * np.sqrt(1 - ratio**2))[order], ratio[order])


def _crossing(values: np.ndarray, level: float) -> tuple[int, float] | None:
    """Return where values first fall below a level: (index k, share of the way from k to k + 1); None if they never do.

    A fall by more than JUMP from one value to the next is ignored.
    """
    below = np.flatnonzero((values[:-1] > level) & (values[1:] <= level))
    below = below[values[below] - values[below + 1] < JUMP]
    if not len(below):
        return None
    left = int(below[0])
    return left, float((level - values[left]) / (values[left + 1] - values[left]))
