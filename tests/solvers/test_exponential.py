"""The exponential integrator: exact cases, its order, and error messages."""

import itertools
import math

import numpy as np
import pytest

from lfno.core.errors import LfnoError
from lfno.solvers.exponential import exponential_collocation, modal_response, phi


@pytest.mark.parametrize("order", [1, 2, 3, 6])
@pytest.mark.parametrize("z", [0.0, -1e-6, -0.3, -5.0, -9.01, -40.0, -1e6, 2.5j, 30.0j])
def test_phi_is_its_integral(order, z):
    """φ_k(z) = ∫₀¹ e^{(1−θ)z} θ^{k−1}/(k−1)! dθ. The panels of the quadrature become shorter towards θ = 1."""
    nodes, weights = np.polynomial.legendre.leggauss(40)
    edges = 1 - np.append(2.0 ** -np.arange(40), 0)
    total = 0
    for a, b in itertools.pairwise(edges):
        theta = a + (b - a) * (nodes + 1) / 2
        total += (weights * (b - a) / 2 * np.exp((1 - theta) * z) * theta ** (order - 1)).sum()
    np.testing.assert_allclose(phi(order, np.array([z]))[0], total / math.factorial(order - 1), rtol=1e-11)


def test_linear_response_to_a_decaying_wave_is_exact():
    rates = np.array([-0.5, -30.0, -1e5, 0.0])
    times = np.linspace(0, 1, 11)

    def load(t):
        return np.broadcast_to(np.exp(-2 * t), (1, 4, len(t)))

    with np.errstate(divide="ignore"):
        exact = (np.exp(-2 * times) - np.exp(np.outer(rates, times))) / (-2 - rates[:, None])
    np.testing.assert_allclose(modal_response(rates, load, times)[0], exact, atol=1e-13, rtol=1e-11)


def test_oscillator_as_a_complex_mode():
    """The solution of q″ + ω² q = cos 3t from rest is q = (cos 3t − cos ωt)/(ω² − 9)."""
    omega, times = np.array([1.0, 50.0]), np.linspace(0, 2, 41)
    z = modal_response(1j * omega, lambda t: np.broadcast_to(np.cos(3 * t), (1, 2, len(t))), times)
    exact = (np.cos(3 * times) - np.cos(np.outer(omega, times))) / (omega[:, None] ** 2 - 9)
    np.testing.assert_allclose(z[0].imag / omega[:, None], exact, atol=1e-12)


def _logistic(steps, stages):
    """Return the error for the logistic equation q′ = q − q², split into −q (linear) and 2q − q² (nonlinear)."""
    times = np.linspace(0, 2, steps + 1)
    still = np.zeros((stages, 1, 1))
    q = exponential_collocation(
        np.array([-1.0]), lambda t: still, lambda q: 2 * q - q**2, np.full((1, 1), 0.1), times, stages=stages
    )
    return float(abs(q[-1, 0, 0] - 1 / (1 + 9 * math.exp(-2))))


@pytest.mark.parametrize("stages", [2, 3])
def test_order_is_at_least_the_number_of_stages(stages):
    errors = np.array([_logistic(steps, stages) for steps in (8, 16, 32)])
    assert np.all(np.log2(errors[:-1] / errors[1:]) > stages - 0.1)


def test_a_step_too_long_is_refined_with_a_message():
    with pytest.warns(UserWarning, match="a time step of 1 is too long; it was refined"):
        stiff = exponential_collocation(
            np.array([0.0]), lambda t: np.zeros((5, 1, 1)), lambda q: -80 * q, np.ones((1, 1)), np.array([0.0, 1.0])
        )
    assert abs(stiff[-1, 0, 0] - math.exp(-80)) < 1e-8


def test_blow_up_is_an_error_that_says_when():
    """The solution of q′ = q² with q(0) = 1 is infinite at t = 1."""
    with pytest.raises(LfnoError, match=r"blows up at t = (0\.99|1\b)"):
        exponential_collocation(
            np.array([0.0]), lambda t: np.zeros((5, 1, 1)), lambda q: q**2, np.ones((1, 1)), np.array([0.0, 2.0])
        )


@pytest.mark.parametrize("rate", [0.0, 2000.0])
def test_a_sample_that_is_lost_stays_lost_and_the_others_are_exact(rate):
    """The solution of q′ = λ q + 1 + q² from 0 blows up. A load of −1 keeps the other sample at rest.

    For λ = 0, the solution is tan t, which is infinite at t = π/2. For λ = 2000, even e^{λh} overflows.
    """
    load = np.zeros((5, 2, 1))
    load[:, 1] = -1.0
    times = np.linspace(0, 3, 4)
    q = exponential_collocation(np.array([rate]), lambda t: load, lambda q: 1 + q**2, np.zeros((2, 1)), times, give_up=True)
    assert np.isnan(q[:, 0]).all()
    if not rate:
        assert np.abs(q[:, 1]).max() == 0
