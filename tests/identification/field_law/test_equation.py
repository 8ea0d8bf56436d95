"""Solutions of equations of fields: exact solutions, order of convergence, periodic steady states."""

import numpy as np
import pytest

from lfno.identification.field_law.equation import Equation, at_rest, march
from lfno.identification.field_law.spectrum import eigenvalues
from lfno.identification.field_law.terms import Line

LINE = Line.of("sine", 6, 2.0)


def solved(equation, inputs, step, line=LINE, start=None, **options):
    modes = np.zeros(len(line.waves)) if start is None else start
    state = np.tile(at_rest(equation.rates(line.waves), modes), (len(inputs), 1))
    return march(equation, line, inputs, step, state, **options)[0]


@pytest.mark.parametrize("damping", [0.0, -0.8, -40.0])
def test_a_beam_without_input_swings_as_its_closed_form(damping):
    beam = Equation(2, ("y_xxxx", "y_t"), np.array([-1.0, damping]))
    start = np.array([1.0, 0, 0.5, 0, 0, 0])
    times = 0.05 * np.arange(40)
    found = solved(beam, np.zeros((1, 6, 40)), 0.05, start=start)[0]
    for k in (0, 2):
        roots = np.roots([1.0, -damping, LINE.waves[k] ** 4])
        # q(0) = q₀ and q′(0) = 0
        shares = np.linalg.solve([[1, 1], roots], [start[k], 0])
        expected = (shares[:, None] * np.exp(roots[:, None] * times)).sum(0).real
        assert found[k] == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize("order", [1, 2])
def test_smooth_inputs_converge_with_the_fourth_order_of_the_spline(order):
    law = Equation(order, ("y_xx", "y²", "f", *(("y_t",) if order == 2 else ())), np.array([0.3, 0.7, 1.0, -0.5][: order + 2]))

    def end(points):
        t = np.linspace(0, 2, points)
        forces = np.sin(np.arange(1, 7)[:, None] * t) * np.exp(-np.arange(6))[:, None]
        return solved(law, forces[None], t[1])[0, :, -1]

    exact = end(321)
    errors = [np.linalg.norm(end(points) - exact) for points in (11, 21, 41)]
    assert np.log2(errors[0] / errors[1]) > 3.5
    assert np.log2(errors[1] / errors[2]) > 3.5


def test_a_uniform_field_with_free_ends_follows_the_logistic_function():
    line = Line.of("cosine", 5, 1.0)
    growth = Equation(1, ("y", "y²", "y_xx"), np.array([1.0, -1.0, 0.2]))
    start = np.array([0.1, 0, 0, 0, 0])
    found = solved(growth, np.zeros((1, 5, 30)), 0.1, line, start)[0]
    times = 0.1 * np.arange(30)
    assert found[0] == pytest.approx(1 / (1 + 9 * np.exp(-times)), abs=1e-8)
    assert np.abs(found[1:]).max() < 1e-12


def test_a_field_that_grows_without_bounds_is_nan_and_the_others_are_not():
    growth = Equation(1, ("y_xx", "y²", "f"), np.array([0.5, 1.0, 1.0]))
    forces = np.zeros((2, 6, 60))
    forces[0, 0], forces[1, 0] = 0.2, 60.0
    found = solved(growth, forces, 0.1)
    assert np.isfinite(found[0]).all()
    assert np.isnan(found[1]).all()


def test_the_steady_state_is_the_limit_of_a_repeated_input():
    law = Equation(1, ("y_xx", "y³", "f"), np.array([0.8, -1.0, 1.0]))
    t = 0.1 * np.arange(50)
    force = np.zeros((1, 6, 50))
    force[0, 0], force[0, 1] = 2 * np.sin(2 * np.pi * t / 5), np.cos(4 * np.pi * t / 5)
    state = np.zeros((1, 6))
    for _ in range(30):
        period, state = march(law, LINE, force, 0.1, state, periodic=True)
    many = solved(law, np.tile(force, 31), 0.1)
    # the last samples are left out, because the spline of `many` has no next period there
    assert many[..., -50:-5] == pytest.approx(period[..., :-5], abs=1e-6)


def test_small_motion_has_the_eigenvalues_of_the_linearised_equation():
    line = Line.of("cosine", 8, 2.0)
    # y = 1 is an equilibrium of y′ = y_xx + y − y³, where the reaction has the slope −2
    law = Equation(1, ("y_xx", "y", "y³"), np.array([0.5, 1.0, -1.0]))
    found, places = eigenvalues(law, line, np.array([1.0, *np.zeros(7)]))
    order = np.argsort(places)
    assert found[order].real == pytest.approx(-0.5 * line.waves**2 - 2, rel=1e-6)


def test_eigenvalues_do_not_depend_on_the_unit_of_the_field():
    line = Line.of("cosine", 8, 2.0)
    unit = 1e-6  # y′ = y_xx + y − y³/unit² has the equilibrium y = unit
    law = Equation(1, ("y_xx", "y", "y³"), np.array([0.5, 1.0, -1.0 / unit**2]))
    for start, slope in ((0.0, 1.0), (unit, -2.0)):
        found, places = eigenvalues(law, line, np.array([start, *np.zeros(7)]))
        assert found[np.argsort(places)].real == pytest.approx(slope - 0.5 * line.waves**2, rel=1e-9)
