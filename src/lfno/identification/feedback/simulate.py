"""Simulation of a model with feedback. All windows are simulated together, one sub-step after the other.

A sub-step is a step of the integration. A sampling step has one or several sub-steps. Symbols: see the docstring of `law`.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from lfno.identification.feedback.hold import shifted
from lfno.identification.feedback.law import Law, Substep, forced

#: the limits of z are ignored if |z| after each sub-step is below this part of the limits; the margin is for z at the stages of
#: the Runge–Kutta method inside a sub-step, which are not checked
NEAR = 0.9


def substep_pieces(coefficients: np.ndarray, step: float, count: int) -> np.ndarray:
    """Convert the polynomials of the inputs on sampling steps to polynomials on sub-steps.

    coefficients: (time, windows, channels, powers), lowest power first.
    step: length of a sampling step.
    count: number of sub-steps in a sampling step.
    Returns (time × count, windows, channels, powers).
    """
    if count == 1:
        return coefficients
    parts = [shifted(coefficients, step * j / count) for j in range(count)]
    return np.stack(parts, axis=1).reshape(-1, *coefficients.shape[1:])


def simulate(law: Law, pieces: np.ndarray, span: float, start: np.ndarray) -> np.ndarray:
    """Return the states at the beginning and after each sub-step, (sub-steps + 1, windows, n).

    pieces: the inputs as polynomials on each sub-step, (sub-steps, windows, channels, powers), lowest power first.
    span: length of a sub-step.
    start: initial states, (windows, n).

    >>> from lfno.identification.feedback.terms import Terms
    >>> zero = np.zeros
    >>> law = Law(np.array([-1.0 + 0j]), np.ones((1, 1), complex), zero((1, 1)), zero((1, 1)), zero(0), np.ones((1, 1)),
    ...           zero((1, 1)), zero(1), zero(1), np.array([[-1.0, 1.0]]), Terms(1, powers=((3,),)))
    >>> simulate(law, np.ones((4, 1, 1, 1)), 0.1, zero((1, 1)))[:, 0, 0].round(4)  # 1 − e^{−t}
    array([0.    , 0.0952, 0.1813, 0.2592, 0.3297])
    """
    drive = forced(law, span, pieces)
    if not law.gains.any():
        return _linear(law, span, drive, start)
    return _closed(law, span, drive, forced(law, span / 2, pieces), start)


def _linear(law: Law, span: float, drive: np.ndarray, start: np.ndarray) -> np.ndarray:
    """Return the states without feedback. `drive` is the response from rest to the input of each sub-step, at its end."""
    advance = Substep.of(law, span).full.T
    states = np.empty((len(drive) + 1, *start.shape))
    states[0] = start
    for k in range(len(drive)):
        np.matmul(states[k], advance, out=states[k + 1])
        states[k + 1] += drive[k]
    return states


def _closed(law: Law, span: float, drive: np.ndarray, halfway: np.ndarray, start: np.ndarray) -> np.ndarray:
    """Return the states with feedback.

    drive, halfway: responses from rest to the input of each sub-step, over the sub-step and over its first half.

    The first integration ignores the limits of z, which is faster. If z comes near the limits, the integration is repeated with
    the limits.
    """
    terms, shape = law.terms, law.shape
    states = _integrate(law, span, drive, halfway, start, lambda z, out: terms.values(z, shape, out))
    with np.errstate(over="ignore", invalid="ignore"):
        z = states @ law.pick.T
    middle, half = law.limits.mean(1), np.ptp(law.limits, axis=1) / 2
    if np.all(np.abs(z - middle) <= NEAR * half):
        return states
    return _integrate(law, span, drive, halfway, start, law.feedback)


def _integrate(
    law: Law, span: float, drive: np.ndarray, halfway: np.ndarray, start: np.ndarray,
    feedback: Callable[[np.ndarray, np.ndarray], object],
) -> np.ndarray:  # fmt: skip
    """Return the states after each sub-step, by the equations of `law`. `feedback(z, out)` writes φ(z) into `out`."""
    rule = Substep.of(law, span)
    signals, terms = len(law.pick), law.terms.count
    pushed = np.concatenate([halfway @ law.pick.T, drive @ law.pick.T], axis=-1)
    states = np.empty((len(drive) + 1, *start.shape))
    states[0] = start
    fed = np.empty((len(start), 4 * terms))
    stage = [fed[:, n * terms : (n + 1) * terms] for n in range(4)]
    with np.errstate(over="ignore", invalid="ignore"):
        for k in range(len(drive)):
            ahead = states[k] @ rule.inner
            middle = ahead[:, signals : 2 * signals] + pushed[k, :, :signals]
            last = ahead[:, 2 * signals : 3 * signals] + pushed[k, :, signals:]
            feedback(ahead[:, :signals], stage[0])
            feedback(middle + stage[0] @ rule.first, stage[1])
            feedback(middle + stage[1] @ rule.second, stage[2])
            feedback(last + stage[2] @ rule.third, stage[3])
            np.matmul(fed, rule.close, out=states[k + 1])
            states[k + 1] += ahead[:, 3 * signals :]
            states[k + 1] += drive[k]
    return states
