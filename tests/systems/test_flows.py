"""Burgers and Navier–Stokes: exact solutions, independent solvers, distributions of random inputs, error messages."""

import numpy as np
import pytest

from lfno.core.errors import LfnoError
from lfno.core.grid import Axis
from lfno.systems import Burgers, NavierStokes, NavierStokesRandom
from lfno.systems.navier_stokes import torus_grid
from lfno.systems.navier_stokes_random import PRINTED_VORTICITY, STANDARD_VORTICITY


def draw(system, family, count, seed=0):
    """Return `count` random inputs of a family of a system."""
    chosen = system.families[family]
    return chosen.signal(chosen.draw(count, np.random.default_rng(seed)))


@pytest.mark.parametrize("family", ["paper", "rich", "out"])
def test_burgers_agrees_with_its_reference(family):
    grid = Burgers.grid.change("t", size=4, step=0.3).change("x", size=20, step=np.pi / 10)
    signal = draw(Burgers, family, 3)
    fast, slow = Burgers().solve(signal, grid), Burgers().reference(signal, grid)
    assert np.abs(fast - slow).max() <= Burgers.accuracy * np.abs(slow).max()


def test_a_moving_shock_has_independently_computed_values():
    grid = Burgers.grid.change("x", origin=0.0)
    signal = Burgers.families["paper"].signal({"U": np.array([2.4])})
    u = Burgers().solve(signal, grid)[0, 0]
    np.testing.assert_allclose(u[[10, 20, 45], [49, 25, 49]], [5.3984408367, 9.5961375601, 8.5475313248], atol=1e-9)


def test_the_flow_of_the_paper_decays_exponentially():
    """w0 = V sin x cos y is an eigenfunction of the Laplacian, so that w = w0 e^(−2νt)."""
    signal = NavierStokes.families["paper"].signal({"V": np.array([0.8, 1.0])})
    w = NavierStokes().solve(signal)[:, 0]
    x, y, t = NavierStokes.grid.mesh()
    exact = np.sin(x) * np.cos(y) * np.exp(-0.002 * t)
    np.testing.assert_allclose(w, np.stack([0.8 * exact, exact]), atol=1e-12)
    assert w[1, 5, 3, 49] == pytest.approx(0.6906645332, abs=1e-9)  # computed independently


def test_a_flow_close_to_the_exact_solution_is_solved_with_time_steps_and_stays_close():
    """With a small disturbance, w0 is not an eigenfunction, so the closed form is not used."""

    def nearly(x, y):
        return np.sin(x) * np.cos(y) + 1e-9 * np.sin(3 * x)

    x, y, t = NavierStokes.grid.mesh()
    exact = np.sin(x) * np.cos(y) * np.exp(-0.002 * t)
    found = NavierStokes().solve(nearly)[0, 0]
    assert 0 < np.abs(found - exact).max() < 3e-9


@pytest.mark.parametrize("family", ["rich", "out"])
def test_flows_that_move_agree_with_the_reference(family):
    signal = draw(NavierStokes, family, 2)
    fast, slow = NavierStokes().solve(signal), NavierStokes().reference(signal, NavierStokes.grid)
    assert np.abs(fast - slow).max() <= 1e-5 * np.abs(slow).max()


@pytest.mark.parametrize(
    ("law", "factor", "root_mean_square"), [(STANDARD_VORTICITY, 2 * 7**3, 0.262), (PRINTED_VORTICITY, 7**1.5, 0.043)]
)
def test_random_vorticity_has_the_variance_of_its_distribution(law, factor, root_mean_square):
    """The variance is Σ_k factor · (4π²|k|² + 49)^(−5/2) over |k_x|, |k_y| ≤ 31, k ≠ 0."""
    k = np.arange(-31, 32)
    eigenvalues = factor * (4 * np.pi**2 * (k[:, None] ** 2 + k**2) + 49) ** -2.5
    eigenvalues[31, 31] = 0
    fields = law.signal(law.draw(400, np.random.default_rng(0)))
    side = np.arange(16) / 16
    values = fields(side[:, None], side[None])
    assert np.mean(values**2) == pytest.approx(eigenvalues.sum(), rel=0.1)
    assert np.sqrt(eigenvalues.sum()) == pytest.approx(root_mean_square, rel=0.02)


def test_the_inputs_of_the_benchmark_are_ten_frames_and_the_outputs_are_later_frames():
    grid = torus_grid(16, 1.0, Axis("t", 3, 1.0, 11.0, unit="s", time=True))
    signal = draw(NavierStokesRandom, "paper", 2)
    system = NavierStokesRandom()
    inputs, outputs = system.record(signal, grid)
    assert inputs.shape == (2, 10, 16, 16, 1)
    assert outputs.shape == (2, 1, 16, 16, 3)
    np.testing.assert_allclose(outputs, system.solve(signal, grid), atol=1e-9)
    first = system.solve(signal, grid.change("t", size=1, origin=1.0))
    np.testing.assert_allclose(inputs[:, :1], first, atol=1e-12)


def test_from_rest_the_benchmark_has_a_closed_form():
    w = NavierStokesRandom().solve(lambda x, y: 0 * x * y, NavierStokesRandom.grid.change("t", size=1, origin=50.0))
    assert w[0, 0, 0, 0, 0] == pytest.approx(1.2420757424, abs=1e-10)  # computed independently


def test_error_messages_name_the_wrong_value():
    with pytest.raises(LfnoError, match=r"nu = -0\.001"):
        NavierStokes(nu=-1e-3)
    with pytest.raises(LfnoError, match="square"):
        NavierStokes().solve(lambda x, y: x * y, NavierStokes.grid.change("x", size=16))
    with pytest.raises(LfnoError, match="period 1"):
        NavierStokesRandom().solve(lambda x, y: 0 * x * y, torus_grid(16, 1.5, NavierStokesRandom.grid.axes[2]))
    with pytest.raises(LfnoError, match="no time before it for 10 input frames"):
        NavierStokesRandom().record(lambda x, y: 0 * x * y, NavierStokesRandom.grid.change("t", origin=2.0))
