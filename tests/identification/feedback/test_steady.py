"""The steady state from Newton's method equals the state that a long simulation from rest reaches."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from lfno.identification.feedback.steady import steady_states

SIZE = 32


def period_of(slope, frequencies: np.ndarray, seen: list[int]):
    """Return a function that integrates x′ = slope(x, t) over one period of each window. `seen` counts the periods."""

    def march(start: np.ndarray, which: np.ndarray) -> np.ndarray:
        seen.append(1)
        period = 1 / frequencies[which]
        step, x, states = period[:, None] / (4 * SIZE), start, [start]
        for k in range(4 * SIZE):
            t = k * step
            a = slope(x, t, which)
            b = slope(x + step / 2 * a, t + step / 2, which)
            c = slope(x + step / 2 * b, t + step / 2, which)
            x = x + step / 6 * (a + 2 * b + 2 * c + slope(x + step * c, t + step, which))
            states.append(x)
        return np.stack(states)[::4]

    return march


def duffing(damping: float, linear: float, forces: np.ndarray, frequencies: np.ndarray):
    """Return the right-hand side of ẍ + c ẋ + k x + x³ = F cos 2πft."""

    def slope(x: np.ndarray, t: np.ndarray, which: np.ndarray) -> np.ndarray:
        drive = forces[which] * np.cos(2 * np.pi * frequencies[which] * t[:, 0])
        pull = damping * x[:, 1] + linear * x[:, 0] + x[:, 0] ** 3
        return np.stack([x[:, 1], drive - pull], axis=1)

    return slope


def test_weak_damping_takes_few_periods_and_the_branch_is_that_of_a_start_from_rest() -> None:
    """At 0.25 Hz and F = 0.3, the equation has two stable steady states. The motion from rest decides between them."""
    forces, frequencies = np.array([0.05, 0.3, 0.3, 1.0]), np.array([0.1, 0.2, 0.25, 0.3])
    seen: list[int] = []
    slope = duffing(0.04, 1.0, forces, frequencies)
    found = steady_states(period_of(slope, frequencies, seen), np.zeros((4, 2)), SIZE)
    assert len(seen) < 150  # e^{−0.02 t} falls to 1e-9 in 1036 s, which is more than 200 periods of 0.25 Hz
    for n in range(4):
        period, one = 1 / frequencies[n], np.array([n])
        late = solve_ivp(
            lambda t, x, one=one: slope(x[None], np.array([[t]]), one)[0], (0, 150 * period), np.zeros(2), "DOP853", rtol=1e-9,
            atol=1e-11, t_eval=149 * period + period / SIZE * np.arange(SIZE),
        )  # fmt: skip
        reached = 3 * np.exp(-0.02 * 149 * period)
        np.testing.assert_allclose(found[:, n], late.y.T, atol=max(reached, 1e-5) * np.abs(late.y).max())


def test_chaotic_motion_has_no_steady_state() -> None:
    """The oscillator with two wells moves chaotically for c = 0.3, k = −1, F = 0.5 and 2πf = 1.2. Its neighbours settle."""
    forces, frequencies = np.array([0.5, 0.01]), np.full(2, 1.2 / (2 * np.pi))
    found = steady_states(period_of(duffing(0.3, -1.0, forces, frequencies), frequencies, []), np.ones((2, 2)), SIZE)
    assert np.isnan(found[:, 0]).all()
    np.testing.assert_allclose(found[:, 1, 0], 1, atol=0.02)


@pytest.mark.parametrize("damping", [0.01, 0.05])
def test_a_linear_oscillator_has_its_exact_steady_state(damping: float) -> None:
    """x(t) = Re c e^{iωt} with c = 1/(1 − ω² + 2iζω)."""
    omega = 2 * np.pi * 0.1

    def slope(x: np.ndarray, t: np.ndarray, which: np.ndarray) -> np.ndarray:
        return np.stack([x[:, 1], np.cos(omega * t[:, 0]) - 2 * damping * x[:, 1] - x[:, 0]], axis=1)

    found = steady_states(period_of(slope, np.array([0.1]), []), np.zeros((1, 2)), SIZE)[:, 0, 0]
    exact = (np.exp(2j * np.pi * np.arange(SIZE) / SIZE) / (1 - omega**2 + 2j * damping * omega)).real
    np.testing.assert_allclose(found, exact, atol=1e-5)
