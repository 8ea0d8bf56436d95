"""Eigenvalues of an equation linearised about its equilibrium. The modes of a model are compared with these true values."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from scipy.integrate import solve_ivp
from scipy.optimize import root

from lfno.core.errors import LfnoError

#: duration in s of a simulation that brings a damped system close to its equilibrium, before Newton's method is used
SETTLING = 100.0
#: step of the central differences for the Jacobian, relative to the size of the state: 1 + its largest absolute value
DIFFERENCE = 1e-6
#: an equilibrium is accepted if its rate of change per second, relative to the size of the state, is below this number
RESIDUAL = 1e-8

#: a function of a state (component,) that returns its time derivative (component,), for a constant input
Rate = Callable[[np.ndarray], np.ndarray]


def equilibrium(rate: Rate, start: Sequence[float], settle: bool) -> np.ndarray:
    """Return a state where `rate` is zero.

    rate: the time derivative of a state.
    start: the initial state.
    settle: True for the equilibrium that the system reaches from `start`, False for an equilibrium near `start`.

    Raises LfnoError if no equilibrium is found, or if the equilibrium is not the one that the system reaches from `start`.

    >>> equilibrium(lambda y: 2.0 - y, [0.0], settle=True)
    array([2.])
    """
    near = np.asarray(start, dtype=np.float64)
    if settle:
        near = solve_ivp(lambda t, y: rate(y), (0.0, SETTLING), near, "LSODA", rtol=1e-9, atol=1e-12).y[:, -1]
    found = root(rate, near, tol=1e-13).x
    size = 1.0 + np.abs(found).max()
    if not np.abs(rate(found)).max() < RESIDUAL * size or (settle and np.abs(found - near).max() > 0.1 * size):
        raise LfnoError("the system reaches no equilibrium under this constant input, so it has no small-signal modes there")
    return found


def jacobian_poles(rate: Rate, state: np.ndarray) -> np.ndarray:
    """Return the eigenvalues of ∂rate/∂state at `state` with Im ≥ 0, in 1/s, slowest decay first."""
    step = DIFFERENCE * (1.0 + np.abs(state).max())
    columns = [(rate(state + change) - rate(state - change)) / (2 * step) for change in step * np.eye(len(state))]
    return upper_half(np.linalg.eigvals(np.stack(columns, axis=1)))


def upper_half(poles: np.ndarray) -> np.ndarray:
    """Return the poles with Im ≥ 0, slowest decay first.

    >>> upper_half(np.array([-1 - 2j, -1 + 2j, -0.5]))
    array([-0.5+0.j, -1. +2.j])
    """
    kept = np.asarray(poles, dtype=np.complex128)
    kept = kept[kept.imag >= 0]
    return kept[np.lexsort((kept.imag, -kept.real))]
