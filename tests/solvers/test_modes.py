"""Modes are orthonormal eigenfunctions with known eigenvalues."""

import numpy as np
import pytest
from scipy.optimize import brentq

from lfno.solvers.modes import difference_modes, galerkin_modes
from lfno.solvers.series import beam_shapes

LENGTH = 1.7
OUTPUTS = np.linspace(0, LENGTH, 23)
CLAMPED = [
    brentq(lambda z: np.cos(z) - 1 / np.cosh(z), (n + 0.5) * np.pi - 0.5, (n + 0.5) * np.pi + 0.5) for n in (1, 2, 3)
]
EXACT = {
    "dirichlet": (np.pi / LENGTH * np.array([1, 2, 3])) ** 2,
    "neumann": (np.pi / LENGTH * np.array([0, 1, 2])) ** 2,
    "supported": (np.pi / LENGTH * np.array([1, 2, 3])) ** 4,
    "clamped": (np.array(CLAMPED) / LENGTH) ** 4,
}


@pytest.mark.parametrize("ends", list(EXACT))
def test_galerkin_eigenvalues_are_exact_and_modes_orthonormal(ends):
    modes = galerkin_modes(LENGTH, ends, OUTPUTS, 48)
    np.testing.assert_allclose(modes.eigenvalues[:3], EXACT[ends], rtol=1e-11, atol=1e-11)
    # the highest modes are less accurate. This is no problem, because their responses are very small
    low = slice(0, 30)
    np.testing.assert_allclose(modes.project[low] @ modes.restore[:, low], np.eye(30), atol=1e-9)


def test_galerkin_dirichlet_modes_are_sines():
    modes = galerkin_modes(LENGTH, "dirichlet", OUTPUTS, 48)
    for n in range(1, 6):
        shape = np.sqrt(2 / LENGTH) * np.sin(n * np.pi * OUTPUTS / LENGTH)
        sign = np.sign(modes.sample[1, n - 1])
        np.testing.assert_allclose(sign * modes.sample[:, n - 1], shape, atol=1e-11)


@pytest.mark.parametrize("ends", list(EXACT))
def test_difference_modes_converge_at_second_order(ends):
    errors = [
        np.abs(difference_modes(LENGTH, ends, size).eigenvalues[2] / EXACT[ends][2] - 1) for size in (41, 81, 161)
    ]
    orders = np.log2(np.array(errors[:-1]) / errors[1:])
    assert np.all(np.abs(orders - 2) < 0.1), orders


def test_clamped_mode_shapes_satisfy_their_boundary_conditions_without_overflow():
    x = np.linspace(0, LENGTH, 20001)
    waves, shapes = beam_shapes(x, LENGTH, "clamped", 300)
    assert np.all(np.isfinite(shapes))
    np.testing.assert_allclose(shapes[[0, -1]], 0, atol=1e-9)
    slope = (shapes[1] - shapes[0]) / (x[1] - x[0]) / waves
    assert np.abs(slope[:20]).max() < 5e-3
    np.testing.assert_allclose(np.trapezoid(shapes[:, 40] ** 2, x), 1, rtol=1e-6)
