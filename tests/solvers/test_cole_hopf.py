"""Burgers' equation: the exact solution for a ramp, quadrature and a Fourier method agree."""

import numpy as np
import pytest
import torch

from lfno.core.errors import LfnoError
from lfno.solvers.cole_hopf import periodic_solution, ramp_solution
from lfno.solvers.etdrk4 import ETDRK4

NU = 0.01 / np.pi
TIMES = 0.02 * np.arange(50)
SYMMETRIC = -np.pi + np.pi / 25 * np.arange(50)
POSITIVE = np.pi / 25 * np.arange(50)


def test_standing_shock_against_values_computed_independently():
    u = ramp_solution(np.array([2.0]), SYMMETRIC, TIMES, NU, -np.pi, 2 * np.pi)[0]
    found = u[[10, 30, 49], [49, 25, 49]]
    np.testing.assert_allclose(found, [-1.2736186433, 0.6283185307, 2.0377898294], atol=1e-9)


def test_moving_shock_against_values_computed_independently():
    u = ramp_solution(np.array([2.4]), POSITIVE, TIMES, NU, 0.0, 2 * np.pi)[0]
    found = u[[10, 20, 45], [49, 25, 49]]
    np.testing.assert_allclose(found, [5.3984408367, 9.5961375601, 8.5475313248], atol=1e-9)


def test_on_the_symmetric_domain_the_middle_of_the_shock_stays_at_the_end():
    u = ramp_solution(np.array([1.6, 2.4]), SYMMETRIC, TIMES, NU, -np.pi, 2 * np.pi)
    np.testing.assert_allclose(u[:, 0, 0], [-1.6 * np.pi, -2.4 * np.pi])
    np.testing.assert_allclose(u[:, 0, 1:], 0, atol=1e-12)
    np.testing.assert_allclose(u[:, 1:25], -u[:, :25:-1], atol=1e-12)  # odd about x = 0


@pytest.mark.parametrize("points", [SYMMETRIC, POSITIVE], ids=["standing", "moving"])
def test_quadrature_agrees_with_the_exact_solution_for_a_ramp(points):
    slopes = np.array([1.6, 2.0, 2.4])
    exact = ramp_solution(slopes, points, TIMES, NU, points[0], 2 * np.pi)
    found = periodic_solution(lambda s: slopes[:, None] * s, points, TIMES, NU, 2 * np.pi)
    np.testing.assert_allclose(found, exact, atol=1e-10)


def test_quadrature_agrees_with_a_fourier_method_for_large_viscosity():
    size, nu, end = 256, 0.1, 1.0
    x = 2 * np.pi / size * np.arange(size)
    wave = torch.fft.rfftfreq(size, 1 / size, dtype=torch.float64)
    initial = 0.3 + np.sin(x) + 0.5 * np.cos(2 * x)
    step = ETDRK4(-nu * wave**2, end / 2000)
    series = torch.fft.rfft(torch.from_numpy(initial))
    for _ in range(2000):
        series = step(series, lambda w: -0.5j * wave * torch.fft.rfft(torch.fft.irfft(w, n=size) ** 2))
    found = periodic_solution(
        lambda s: (0.3 + np.sin(s) + 0.5 * np.cos(2 * s))[None], x[::4], np.array([0.0, end]), nu, 2 * np.pi
    )
    np.testing.assert_allclose(found[0, :, 1], torch.fft.irfft(series, n=size).numpy()[::4], atol=1e-9)


def test_a_constant_added_to_the_initial_state_moves_the_solution():
    """If w solves the equation, then u(x, t) = c + w(x − ct, t) solves it, too."""
    wind = np.pi / 25 / 0.02  # one grid point per output step
    still = periodic_solution(lambda s: np.sin(s)[None], POSITIVE, TIMES, NU, 2 * np.pi)[0]
    moving = periodic_solution(lambda s: wind + np.sin(s)[None], POSITIVE, TIMES, NU, 2 * np.pi)[0]
    for n in (1, 20, 49):
        np.testing.assert_allclose(moving[:, n] - wind, np.roll(still[:, n], n), atol=1e-9)


def test_a_ramp_with_negative_slope_is_refused():
    with pytest.raises(LfnoError, match=r"U = -1"):
        ramp_solution(np.array([-1.0]), SYMMETRIC, TIMES, NU, -np.pi, 2 * np.pi)
