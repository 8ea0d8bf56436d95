"""RK4: order of convergence, exact solutions, refinement of steps, and messages for steps that are too long."""

import numpy as np
import pytest

from lfno.core.errors import LfnoError
from lfno.solvers.rk4 import fixed_step, rk4


def oscillator(state, force):
    """Return the right-hand side of ẍ + x = f. For f = cos t, the solution from rest is x = (t/2) sin t."""
    x, v = state
    return v, force - x


def cosine(instants):
    return np.cos(instants)[None]


def resonance_error(substeps: int) -> float:
    """Return the largest error for f = cos t."""
    states, _ = fixed_step(oscillator, np.zeros((2, 1)), cosine, 0.0, 0.5, 41, substeps)
    t = 0.5 * np.arange(41)
    return float(np.abs(states[0, 0] - t / 2 * np.sin(t)).max())


def test_halving_the_step_shows_order_four():
    errors = [resonance_error(n) for n in (4, 8, 16, 32)]
    orders = np.log2(np.array(errors[:-1]) / errors[1:])
    assert np.all(np.abs(orders - 4) < 0.15)


def test_a_cubic_in_time_is_integrated_exactly():
    """For ẏ = f(t), RK4 is Simpson's rule, which is exact for cubics."""
    states = rk4(lambda y, f: [f], np.zeros((1, 1)), lambda t: (4 * t**3 - t)[None], -1.0, 0.25, 17)
    t = -1 + 0.25 * np.arange(17)
    np.testing.assert_allclose(states[0, 0], t**4 - t**2 / 2 - 0.5, atol=1e-12)


def test_samples_do_not_influence_each_other():
    def force(t):
        return np.stack([np.cos(t), np.zeros_like(t), 3 * np.cos(t)])

    start = np.zeros((2, 3))
    together = rk4(oscillator, start, force, 0.0, 0.1, 50)
    alone = rk4(oscillator, start[:, :1], cosine, 0.0, 0.1, 50)
    np.testing.assert_array_equal(together[:, 0], alone[:, 0])
    np.testing.assert_allclose(together[:, 2], 3 * together[:, 0], rtol=1e-12, atol=1e-15)


def test_a_solution_over_several_blocks_of_times_is_exact():
    states = rk4(oscillator, np.zeros((2, 1)), cosine, 0.0, 0.01, 3000)
    t = 0.01 * np.arange(3000)
    np.testing.assert_allclose(states[0, 0], t / 2 * np.sin(t), atol=1e-9)


def test_an_unstable_step_is_refined_with_a_message():
    """For ẏ = −1000 (y − f), RK4 with the step 0.1/8 is unstable. `rk4` refines the step."""

    def stiff(y, f):
        return [-1000.0 * (y[0] - f)]

    def force(t):
        return np.ones((1, len(t)))

    plain, _ = fixed_step(stiff, np.zeros((1, 1)), force, 0.0, 0.1, 20, 8)
    assert not np.isfinite(plain).all() or np.abs(plain).max() > 1e6
    with pytest.warns(UserWarning, match="sub-steps"):
        states = rk4(stiff, np.zeros((1, 1)), force, 0.0, 0.1, 20)
    np.testing.assert_allclose(states[0, 0, 1:], 1.0, atol=1e-7)


def test_a_solution_that_blows_up_is_refused():
    """The solution of ẏ = y² with y(0) = 1 is infinite at t = 1."""
    with pytest.raises(LfnoError, match="not finite before t = "):
        rk4(lambda y, f: [y[0] ** 2], np.ones((1, 1)), lambda t: np.zeros((1, len(t))), 0.0, 0.1, 50)


def test_a_jump_of_the_forcing_is_reported():
    """If f jumps from 0 to 1 at t = 0.987, ẏ = f is solved with first order only. A message says so."""
    with pytest.warns(UserWarning, match="not smooth"):
        states = rk4(lambda y, f: [f], np.zeros((1, 1)), lambda t: 1.0 * (t > 0.987)[None], 0.0, 0.02, 200)
    np.testing.assert_allclose(states[0, 0], np.maximum(0.02 * np.arange(200) - 0.987, 0), atol=1e-3)
