"""Duffing, pendulum and Lorenz: values of a high-order solver, exact solutions, conservation of energy."""

import numpy as np
import pytest

from lfno.core.errors import LfnoError
from lfno.core.grid import Grid
from lfno.systems import REGISTRY, Duffing, Lorenz, Pendulum, find

# x at t = 5, 10 and 20.47 for A = 1 and A = 10, computed with an independent high-order solver
VALUES = {
    "duffing-c0": {
        1: [-0.1868740211, -0.1307583625, 0.1764222103],
        10: [0.3482542272, -0.241029717, -0.4890708802],
    },
    "duffing-c05": {
        1: [-0.0583844828, -0.0008431364, -0.0130015874],
        10: [0.244589875, -0.0097615163, -0.1466956181],
    },
    "lorenz-rho5": {
        1: [3.1552113573, 3.2309988048, 3.2052323405],
        10: [2.5830711834, 2.8268838893, 2.6303727216],
    },
    "lorenz-rho10": {
        1: [5.1192533385, 4.7801981252, 4.977404259],
        10: [-1.3831897165, -1.4641400267, -5.6694975227],
    },
    "pendulum-c05": {
        1: [-0.0592479471, -7.67826e-05, -0.0130298713],
        10: [-0.5614766027, 0.1611872588, -0.1403021373],
    },
}


@pytest.mark.parametrize("name", VALUES)
def test_values_of_an_independent_solver(name):
    entry = find(name)
    amplitudes = np.array([1.0, 10.0])
    found = entry.system(**entry.parameters).solve(entry.family.signal({"A": amplitudes}))[:, 0]
    expected = np.array([VALUES[name][1], VALUES[name][10]])
    error = np.abs(found[:, [500, 1000, 2047]] - expected).max(axis=1) / np.abs(found).max(axis=1)
    assert error.max() < entry.accuracy


@pytest.mark.parametrize("name", [n for n in REGISTRY if n.startswith(("duffing", "lorenz", "pendulum"))])
def test_a_sample_of_every_data_set_agrees_with_the_reference(name):
    """The reference solver is DOP853. The first quarter of the window of one sample is compared."""
    entry = find(name)
    system = entry.system(**entry.parameters)
    draws = entry.family.draw(5, np.random.default_rng(1))
    signal = entry.family.signal(draws)[2:3]
    grid = entry.grid.change("t", size=entry.grid.shape[0] // 4)
    found, true = system.solve(signal, grid), system.reference(signal, grid)
    assert np.abs(found - true).max() / np.abs(true).max() < entry.accuracy


def test_the_data_sets_of_the_paper_have_small_error_bounds():
    promised = {name: find(name).accuracy for name in VALUES}
    assert promised.pop("lorenz-rho10") <= 1e-5
    assert max(promised.values()) <= 1e-8


def test_lorenz_changes_its_fixed_point_once():
    """Over the 380 amplitudes, the fixed point that is reached changes once, near A = 7.3710424."""
    entry = find("lorenz-rho10")
    draws = entry.family.draw(380, np.random.default_rng(0))
    final = Lorenz(rho=10).solve(entry.family.signal(draws))[:, 0, -1]
    flips = np.flatnonzero(np.diff(np.sign(final)))
    assert flips.tolist() == [278]
    assert draws["A"][278] < 7.3710424 < draws["A"][279]
    assert (final > 0).sum() == 279


def test_linear_duffing_is_exact():
    """With β = 0, c = 0, α = 1 and f = cos t, the solution is x = (t/2) sin t."""
    grid = Grid.line(1000, dt=0.02)
    t = grid["t"].points
    found = Duffing(c=0, beta=0).solve(np.cos, grid)
    np.testing.assert_allclose(found[0, 0], t / 2 * np.sin(t), atol=1e-8)


def test_a_pendulum_with_a_small_angle_is_a_linear_oscillator():
    small, grid = 1e-5, Grid.line(500, dt=0.02)

    def force(t):
        return small * np.sin(2 * t)

    linear = Duffing(c=0.5, alpha=1, beta=0).solve(force, grid)
    np.testing.assert_allclose(Pendulum(c=0.5).solve(force, grid), linear, atol=1e-3 * small)


def test_undriven_duffing_keeps_its_energy():
    """After the forcing ends, ẋ²/2 + x²/2 + x⁴/4 is constant. All maxima of |x|, where ẋ = 0, are therefore equal."""

    def kick(t):
        return 5 * np.exp(-0.5 * ((t - 1) / 0.2) ** 2)

    x = Duffing(c=0).solve(kick, Grid.line(4000, dt=0.005))[0, 0]
    inner = (np.abs(x[1:-1]) > np.abs(x[:-2])) & (np.abs(x[1:-1]) > np.abs(x[2:]))
    index = np.flatnonzero(inner) + 1
    index = index[index > 800]
    # maximum of the parabola through three points
    left, middle, right = np.abs(x[index - 1]), np.abs(x[index]), np.abs(x[index + 1])
    tops = middle + (right - left) ** 2 / (8 * (2 * middle - left - right))
    assert len(tops) > 5
    assert np.ptp(tops) / tops.mean() < 1e-7


def test_a_finer_grid_gives_the_same_solution_at_common_points():

    def force(t):
        return np.sin(3 * t)

    coarse = Duffing().solve(force, Grid.line(100, dt=0.1))
    fine = Duffing().solve(force, Grid.line(397, dt=0.025))
    np.testing.assert_allclose(fine[..., ::4], coarse, atol=1e-9)


def test_inputs_above_1e100_are_refused():
    with pytest.raises(LfnoError, match="above 1e100"):
        Duffing().solve(np.linspace(0, 1e300, 20)[None], Grid.line(20, 0.05))
