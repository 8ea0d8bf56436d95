"""Modes, responses and backbones of a model with feedback, compared with the equation that made the training data."""

from __future__ import annotations

import numpy as np
import pytest

from lfno.core.errors import LfnoError
from lfno.core.grid import Grid
from lfno.data.stretches import Stretch
from lfno.evaluation.response import system_response
from lfno.identification.feedback import FeedbackModel, fit_feedback
from lfno.identification.feedback.law import Law
from lfno.identification.feedback.structure import Structure
from lfno.identification.feedback.terms import Terms
from lfno.surrogate import Surrogate
from lfno.systems import Duffing
from tests.evaluation.test_response import free_duffing

GRID = Grid.line(500, dt=0.05)


@pytest.fixture(scope="module")
def model() -> Surrogate:
    """Return a model with feedback, fitted to the responses of ẍ + 0.5 ẋ + x + x³ = f to three sines f."""
    size = np.array([[0.5], [1.0], [2.0]])
    motion = Duffing(c=0.5).solve(lambda t: size * np.sin(t), GRID)
    force = size * np.sin(0.05 * np.arange(500))
    data = [Stretch(u[None], y, start="rest") for u, y in zip(force, motion, strict=True)]
    fitted = fit_feedback(data, data[1:2], GRID)
    assert isinstance(fitted, FeedbackModel)
    return Surrogate([fitted])


def test_small_signal_modes_equal_the_modes_of_the_linearised_equation(model: Surrogate) -> None:
    [mode] = model.modes()
    assert mode.pole == pytest.approx(Duffing(c=0.5).linearised_poles()[0], rel=1e-3)


def test_modes_about_a_constant_input_are_refused(model: Surrogate) -> None:
    """A model with feedback is linearised about its state of rest only. The modes about f = 1 are different."""
    with pytest.raises(LfnoError, match="about its state of rest only"):
        model.modes(operating=1.0)


def test_the_frequency_response_equals_the_response_of_the_equation(model: Surrogate) -> None:
    frequencies, amplitudes = [0.08, 0.15, 0.3], [0.2, 1.0]
    truth = system_response(Duffing(c=0.5), frequencies, amplitudes)
    found = model.response(frequencies, amplitudes)
    assert truth.unique is not None
    assert truth.unique.all()
    np.testing.assert_allclose(found.harmonics[..., 1], truth.harmonics[..., 1], atol=0.01 * np.abs(truth.harmonics).max())


def test_the_backbone_equals_the_backbone_of_the_free_oscillator(model: Surrogate) -> None:
    curve = model.backbone()
    exact, first = free_duffing(np.linspace(0.01, 2.5, 400))
    inside = curve.amplitude < first[-1]
    assert inside.sum() > 10
    np.testing.assert_allclose(curve.frequency[inside], np.interp(curve.amplitude[inside], first, exact), rtol=0.01)


def test_the_stabilisation_diagram_has_the_mode_at_every_order(model: Surrogate) -> None:
    found = model.stabilisation(most=8)
    near = np.abs(found.pole - Duffing(c=0.5).linearised_poles()[0]) < 0.02
    assert set(found.order[near]) == {2, 4, 6, 8}


def test_the_steady_part_equals_the_response_after_many_repeats(model: Surrogate) -> None:
    feedback = model.members[0]
    assert isinstance(feedback, FeedbackModel)
    time = GRID.axes[0].points
    forces = np.stack([0.1 * np.sin(2 * np.pi * time / 25), np.zeros(500)])[:, None]
    steady = feedback.steady(forces)
    assert np.isfinite(steady).all()
    late = feedback.predict(np.tile(forces, 12))[..., -500:]
    np.testing.assert_allclose(steady, late, atol=1e-6 * np.abs(late).max())


def test_the_backbone_of_a_model_without_nonlinear_terms_is_constant() -> None:
    """ẍ + 0.5 ẋ + x = f: frequency 1/2π Hz and damping ratio 0.25 at every amplitude."""
    poles = np.array([-0.25 + 1j * np.sqrt(1 - 0.25**2)])
    terms = Terms(1)
    law = Law(
        poles, np.ones((1, 1), complex), np.zeros((2, 0)), np.zeros((1, 2)), np.zeros(0), np.array([[0.0, 1.0]]),
        np.zeros((1, 1)), np.zeros(1), np.zeros(2), np.array([[-1.0, 1.0]]), terms,
    )  # fmt: skip
    rest = np.zeros((1, 2)), np.eye(5), np.ones(1)
    one = FeedbackModel(law, Structure(0, 1, terms), np.zeros(1), GRID, "cubic", 0.05, *rest)
    curve = Surrogate([one]).backbone()
    np.testing.assert_allclose(curve.frequency, 1 / (2 * np.pi), rtol=0.01)
    np.testing.assert_allclose(curve.damping_ratio, 0.25, rtol=0.05)
