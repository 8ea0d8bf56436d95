"""Heat, beam, reaction–diffusion and Brusselator: solutions against exact solutions, other solvers and known values."""

import numpy as np
import pytest

from lfno.core.errors import LfnoError
from lfno.solvers.series import beam_series, heat_series
from lfno.systems import Beam, Brusselator, Heat, ReactionDiffusion
from lfno.systems.interval import interval_grid

# pairs (index of time, index of x) of the values below, which were computed by an independent program
EARLY, LATE = [(49, 6), (25, 20), (49, 44)], [(49, 10), (25, 25), (49, 40)]


def paper(system, *amplitudes):
    """Return the inputs of the paper's family with these amplitudes."""
    return type(system).families["paper"].signal({"A": np.array(amplitudes, dtype=float)})


def at(field, places):
    return [field[0, j, n] for n, j in places]


@pytest.mark.parametrize(
    ("system", "amplitude", "places", "values", "tolerance"),
    [
        (Heat(), 1, EARLY, [0.6035367707, -0.6599717798, -0.4958523601], 1e-9),
        (Beam(), 1, LATE, [-0.0561145777, -0.0363457544, -0.0214634987], 1e-9),
        (Beam(ends="clamped"), 1, LATE, [-0.0359210917, -0.0424772368, -0.0346518108], 1e-9),
        (ReactionDiffusion(), 1, EARLY, [0.4148127504, -0.6709472942, -0.339279233], 1e-8),
        (ReactionDiffusion(), 10, EARLY, [1.5711367339, -7.3422272437, -4.1430742295], 1e-8),
        (ReactionDiffusion(D=1), 1, EARLY, [0.3568393486, -0.6218571672, -0.3118722444], 1e-8),
        (ReactionDiffusion(D=1), 10, EARLY, [1.235352789, -7.2149299209, -3.9570465459], 1e-8),
        (Brusselator(), 1, LATE, [-0.2130116887, -0.1243209914, 0.352254407], 1e-8),
        (Brusselator(), 10, LATE, [-10.3432712402, -6.1056998453, -1.2707627144], 1e-8),
    ],
)
def test_the_equation_against_values_computed_independently(system, amplitude, places, values, tolerance):
    np.testing.assert_allclose(at(system.solve(paper(system, amplitude))[0], places), values, atol=tolerance)


@pytest.mark.parametrize(
    ("system", "amplitude", "places", "values"),
    [
        (Heat(discretisation="semi"), 1, EARLY, [0.606882002, -0.6627889875, -0.498698634]),
        (Beam(discretisation="semi"), 1, LATE, [-0.0561350234, -0.0362863351, -0.021357533]),
        (Beam(discretisation="semi", ends="clamped"), 1, LATE, [-0.0359164172, -0.0422140799, -0.0339218045]),
        (ReactionDiffusion(discretisation="semi", D=1), 1, EARLY, [0.3596911044, -0.6242063189, -0.3131615069]),
        (ReactionDiffusion(discretisation="semi", D=1), 10, EARLY, [1.2513646673, -7.2231891453, -3.9664695546]),
        (Brusselator(discretisation="semi"), 1, LATE, [-0.2127921079, -0.1242832246, 0.3525066044]),
        (Brusselator(discretisation="semi"), 10, LATE, [-10.3373806841, -6.1037450513, -1.2658884813]),
    ],
)
def test_the_semi_discrete_equation_against_values_computed_independently(system, amplitude, places, values):
    np.testing.assert_allclose(at(system.solve(paper(system, amplitude))[0], places), values, atol=1e-7)


def test_heat_agrees_with_the_exact_solution_at_all_points():
    x, t = (axis.points for axis in Heat.grid.axes)
    exact = (np.pi**2 - 1) * heat_series(x, t, x[-1], np.pi, 1.0)
    np.testing.assert_allclose(Heat().solve(paper(Heat(), 1, 3))[:, 0], np.stack([exact, 3 * exact]), atol=1e-11)


@pytest.mark.parametrize("ends", ["supported", "clamped"])
def test_beam_agrees_with_the_exact_solution_at_all_points(ends):
    x, t = (axis.points for axis in Beam.grid.axes)
    exact = -99 * beam_series(x, t, x[-1], ends, 1.334, 78.5, 10.0)
    np.testing.assert_allclose(Beam(ends=ends).solve(paper(Beam(), 1))[0, 0], exact, atol=1e-11)


def test_reaction_diffusion_finds_a_manufactured_solution():
    """We choose y = t sin πx. With f = y_xx + y² − y_t, this y is the solution from rest."""

    def source(x, t):
        wave = np.sin(np.pi * x)
        return -(np.pi**2) * t * wave + (t * wave) ** 2 - wave

    grid = interval_grid(0.05, 0.02, size=21)
    x, t = (axis.points for axis in grid.axes)
    found = ReactionDiffusion(D=1).solve(source, grid)[0, 0]
    np.testing.assert_allclose(found, np.outer(np.sin(np.pi * x), t), atol=1e-11)


@pytest.mark.parametrize(
    "system", [Heat(), Beam(), Beam(ends="clamped"), ReactionDiffusion(), Brusselator()], ids=lambda s: s.title
)
@pytest.mark.parametrize("family", ["paper", "rich"])
def test_agrees_with_the_independent_reference(system, family):
    chosen = type(system).families[family]
    signal = chosen.signal(chosen.draw(9, np.random.default_rng(3)))[7:8]
    fast, slow = system.solve(signal), system.reference(signal, system.grid)
    assert np.abs(fast - slow).max() <= system.accuracy * np.abs(slow).max()


@pytest.mark.parametrize("system", [Heat, Beam, ReactionDiffusion, Brusselator], ids=lambda s: s.title)
def test_finite_differences_converge_to_the_equation_at_second_order(system):
    length = (system.grid.axes[0].size - 1) * system.grid.axes[0].step
    errors = []
    for size in (51, 101, 201):
        grid = interval_grid(length / (size - 1), 0.02, size, 20)
        exact, semi = (system(discretisation=kind).solve(paper(system(), 2), grid) for kind in ("exact", "semi"))
        errors.append(np.abs(exact - semi)[..., 10:].max())
    orders = np.log2(np.array(errors[:-1]) / errors[1:])
    assert np.all(np.abs(orders - 2) < 0.25), orders


@pytest.mark.parametrize("system", [Heat, ReactionDiffusion, Brusselator, Beam], ids=lambda s: s.title)
def test_a_finer_grid_gives_the_same_solution(system):
    coarse, (x, t) = system.grid, system.grid.axes
    fine = coarse.change("x", size=2 * x.size - 1, step=x.step / 2).change("t", size=2 * t.size - 1, step=t.step / 2)
    signal = paper(system(), 5)
    here, there = system().solve(signal, coarse), system().solve(signal, fine)
    assert np.abs(there[..., ::2, ::2] - here).max() < 2e-7 * np.abs(here).max()


def test_a_function_and_its_samples_give_nearly_the_same_response():
    def pull(x, t):
        return np.sin(np.pi * x / 3.92) * np.cos(9 * t)

    system = Heat()
    measured = pull(*system.grid.mesh())
    np.testing.assert_allclose(system.solve(measured), system.solve(pull), atol=1e-6)


def test_a_brusselator_without_forcing_is_uniform_in_space_and_follows_the_ordinary_equation():
    from scipy.integrate import solve_ivp

    def mixed(t, state):
        u, v = state
        return [1 - 4 * u + v * u * u, 3 * u - v * u * u]

    times = Brusselator.grid.axes[1].points
    exact = solve_ivp(mixed, (0, times[-1]), [0.5, 1.0], "DOP853", times, rtol=1e-12, atol=1e-12).y[0]
    found = Brusselator().solve(lambda x, t: 0 * x * t)[0, 0]
    np.testing.assert_allclose(found, np.broadcast_to(exact, found.shape), atol=1e-10)


def test_error_messages_name_the_wrong_value():
    with pytest.raises(LfnoError, match=r"D = -8\.3"):
        ReactionDiffusion(D=1 - 0.95 * np.pi**2)
    with pytest.raises(LfnoError, match=r"D = 0"):
        Heat(D=0)
    with pytest.raises(LfnoError, match=r"ends = 'free'"):
        Beam(ends="free")
    with pytest.raises(LfnoError, match=r"k = 1\.0.*blows up"):
        ReactionDiffusion().solve(lambda x, t: -40 * np.sin(np.pi * x / 3.92) + 0 * t)
    with pytest.raises(LfnoError, match=r"'x' has 3 points"):
        Heat().solve(lambda x, t: 0 * x * t, interval_grid(1.0, 0.1, 3, 5))


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("family", ["rich", "out"])
def test_random_forcings_are_too_weak_for_a_blow_up(seed, family):
    chosen = ReactionDiffusion.families[family]
    signal = chosen.signal(chosen.draw(380, np.random.default_rng(seed)))
    assert np.abs(ReactionDiffusion().solve(signal[:64])).max() < 20
