"""Eigenvalues of linearised equations: formulas of textbooks, and small oscillations of the nonlinear equation."""

import numpy as np
import pytest

from lfno.core.errors import LfnoError
from lfno.core.grid import Grid
from lfno.systems import Beam, Brusselator, Burgers, Duffing, Heat, Lorenz, Pendulum, ReactionDiffusion


@pytest.mark.parametrize("level", [0.0, 2.0])
def test_duffing_about_the_level_of_a_constant_force(level):
    """At the equilibrium x₀ + x₀³ = f, the stiffness is 1 + 3 x₀²."""
    rest = np.roots([1, 0, 1, -level])
    rest = rest[np.abs(rest.imag) < 1e-9].real[0]
    expected = -0.25 + 1j * np.sqrt(1 + 3 * rest**2 - 0.25**2)
    assert Duffing(c=0.5).linearised_poles(level) == pytest.approx([expected], rel=1e-6)


def test_lorenz_about_the_fixed_point_that_is_reached():
    """The fixed point is x = y = √(β(ρ−1)), z = ρ−1. Textbooks give the matrix of the linearised equation."""
    x = np.sqrt(8 / 3 * 4)
    true = np.linalg.eigvals([[-10, 10, 0], [1, -1, -x], [x, x, -8 / 3]])
    found = Lorenz(rho=5).linearised_poles()
    assert found == pytest.approx([true[true.imag > 0][0], true[true.imag == 0][0]], rel=1e-6)


def test_an_undamped_oscillator_keeps_its_frequency():
    assert Duffing(c=0).linearised_poles() == pytest.approx([1j], abs=1e-6)


def test_fields_have_the_eigenvalues_of_their_boundary_conditions():
    length = 49 * 0.08
    waves = (np.pi * np.arange(1, 9) / length) ** 2
    assert Heat(D=2.0).linearised_poles() == pytest.approx(-2 * waves, rel=1e-9)
    assert ReactionDiffusion(D=1.0).linearised_poles() == pytest.approx(-waves, rel=1e-9)
    waves = np.sqrt(1.334 / 78.5) * (np.pi * np.arange(1, 9) / (49 * 0.03)) ** 2
    assert Beam().linearised_poles() == pytest.approx(1j * waves, rel=1e-9)


def test_a_small_oscillation_of_the_pendulum_has_the_frequency_of_its_eigenvalue():
    """After a weak pulse, the nonlinear pendulum passes zero twice in each period 2π / Im μ."""
    grid = Grid.line(2000, dt=0.01)
    angle = Pendulum(c=0.2, ratio=9.81).solve(lambda t: 1e-3 * np.exp(-(((t - 0.5) / 0.1) ** 2)), grid)[0, 0, 200:]
    [pole] = Pendulum(c=0.2, ratio=9.81).linearised_poles()
    crossings = np.flatnonzero(np.diff(np.sign(angle)))
    times = crossings + angle[crossings] / (angle[crossings] - angle[crossings + 1])
    assert np.pi / (np.diff(times).mean() * 0.01) == pytest.approx(pole.imag, rel=1e-4)


@pytest.mark.parametrize("system", [Brusselator(), Burgers()])
def test_a_system_without_an_equilibrium_says_so(system):
    with pytest.raises(LfnoError, match="not known"):
        system.linearised_poles()


def test_a_pendulum_that_turns_for_ever_has_no_equilibrium():
    with pytest.raises(LfnoError, match="reaches no equilibrium"):
        Pendulum(c=0.5).linearised_poles(operating=3.0)
