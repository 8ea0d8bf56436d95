"""The periodic steady state of a model with feedback.

P maps the state at the start of a period to the state at the end. A steady state is a fixed point x = P(x). The simulation
starts from rest and repeats the period, so x moves to the steady state that the system reaches from rest. With weak damping
this takes hundreds of periods. When x is near the steady state, Newton's method estimates the steady state,

    x + (1 − J)⁻¹ (P(x) − x),      J = ∂P/∂x.

The simulation then continues from the estimate, until the state no longer changes from period to period.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

#: largest number of simulated periods in the search for a steady state
MOST_PERIODS = 400
#: number of periods in which the change of the state from period to period must halve; otherwise there is no steady state
PATIENCE = 40
#: largest relative change of the state from one period to the next in a steady state
UNCHANGED = 1e-9
#: number of periods before the first estimate; the waiting time doubles after each estimate
FIRST = 4
#: largest first step of Newton's method, relative to the largest state of the period
NEAR = 0.1
#: largest ratio of the second to the first step of Newton's method; a larger ratio shows that P is not nearly linear
SHRINKS = 0.1
#: largest number of states (time × windows × states) in the memory for one estimate
MOST_STATES = 2**24
#: change of the state for the derivatives of P, relative to the largest value of each state in the period
SMALL = 1e-6

#: a function (initial states (windows, n), indices of the windows) → states (time + 1, windows, n) of one period
March = Callable[[np.ndarray, np.ndarray], np.ndarray]


def steady_states(march: March, start: np.ndarray, size: int) -> np.ndarray:
    """Return the states of one period of the steady state, (size, windows, n). A window without a steady state is NaN.

    march: simulates one period.
    start: the states from which the simulation begins, (windows, n).
    size: the number of samples in a period.

    The state x′ = −x + 1 has the steady state 1:

    >>> decay = lambda start, which: 1 + (start - 1) * np.exp(-0.1 * np.arange(11))[:, None, None]
    >>> steady_states(decay, np.zeros((1, 1)), 10).round(6).ravel()
    array([1., 1., 1., 1., 1., 1., 1., 1., 1., 1.])
    """
    answer, left = np.full((size, *start.shape), np.nan), np.arange(len(start))
    early, estimated = np.full(len(start), np.inf), FIRST
    for period in range(1, MOST_PERIODS + 1):
        states = march(start, left)
        change = np.abs(states[-1] - start).max(-1) / np.maximum(np.abs(states).max((0, 2)), 1e-300)
        settled = change < UNCHANGED
        answer[:, left[settled]] = states[:-1, settled]
        keep = ~settled & np.isfinite(change)
        if period % PATIENCE == 0:
            keep, early = keep & (change < early / 2), change
        left, early = left[keep], early[keep]
        if not len(left):
            break
        start = states[-1][keep]
        if period == estimated:
            estimated = 2 * period
            groups = range(0, len(left), max(MOST_STATES // (size * start.shape[1] * (start.shape[1] + 1)), 1))
            largest = np.abs(states[:, keep]).max(0)
            parts = [np.s_[k : k + groups.step] for k in groups]
            start = np.concatenate([_estimate(march, start[part], left[part], largest[part]) for part in parts])
    return answer


def _estimate(march: March, start: np.ndarray, which: np.ndarray, size: np.ndarray) -> np.ndarray:
    """Return the steady states (windows, n) where they are near; return `start` for the other windows.

    size: the largest value of each state in the period, (windows, n).

    A steady state is near if the first step of Newton's method is short, the second step is far shorter, and all eigenvalues
    of J lie in the unit circle at both places. Then the simulation would converge to this steady state too.
    """
    first, stable = _step(march, start, which, size)
    largest = size.max(-1)
    sure = stable & (np.abs(first).max(-1) <= NEAR * largest)
    found = start.copy()
    if sure.any():
        at = start[sure] + first[sure]
        second, stable = _step(march, at, which[sure], size[sure])
        shrinks = np.abs(second).max(-1) <= SHRINKS * np.abs(first[sure]).max(-1) + SMALL * largest[sure]
        sure[sure] = stable & shrinks
        found[sure] = (at + second)[stable & shrinks]
    return found


def _step(march: March, start: np.ndarray, which: np.ndarray, size: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the steps of Newton's method (windows, n), and whether all eigenvalues of J lie in the unit circle (windows,)."""
    windows, n = start.shape
    apart = SMALL * np.maximum(size, 1e-3 * size.max(-1, keepdims=True)) + 1e-300
    begin = np.concatenate([start[None], start[None] + apart.T[:, :, None] * np.eye(n)[:, None, :]])
    end = march(begin.reshape(-1, n), np.tile(which, n + 1))[-1].reshape(n + 1, windows, n)
    slopes = np.moveaxis((end[1:] - end[0]) / apart.T[:, :, None], 0, -1)
    known = np.isfinite(slopes).all((1, 2)) & np.isfinite(end[0]).all(-1)
    slopes[~known] = 2 * np.eye(n)
    stable = np.abs(np.linalg.eigvals(slopes)).max(-1) < 1
    rest = np.where(known[:, None], end[0] - start, 0.0)
    slopes[~stable] = 0.0
    return np.linalg.solve(np.eye(n) - slopes, rest[..., None])[..., 0], stable & known
