"""Figures of a nonlinearity: the curve in the figure is the restoring force of the model."""

import numpy as np
import pytest

from lfno.core.errors import LfnoError
from lfno.core.grid import Grid
from lfno.identification.feedback.law import Law
from lfno.identification.feedback.model import FeedbackModel
from lfno.identification.feedback.structure import Structure
from lfno.identification.feedback.terms import Terms
from lfno.plots.characteristic import characteristic_figure, loop_figure


def first_order() -> FeedbackModel:
    """Return the model y′ = −y − y³ + u. The input that keeps y constant, the restoring force, is y + y³."""
    terms = Terms(1, powers=((3,),))
    one = np.ones((1, 1))
    law = Law(
        np.array([-1.0 + 0j]), one + 0j, -one, one, np.zeros(0), one, 0 * one, np.zeros(1), np.zeros(1),
        np.array([[-4.0, 4.0]]), terms,
    )  # fmt: skip
    structure = Structure(1, 0, terms)
    size = sum(structure.sizes(1, 1).values())
    visited, covariance = np.array([[-2.0, 2.0]]), 1e-4 * np.eye(size)
    return FeedbackModel(law, structure, np.zeros(1), Grid.line(10, 0.1), "linear", 0.1, visited, covariance, np.zeros(1))


def test_the_curve_is_the_restoring_force() -> None:
    panel = characteristic_figure(first_order()).axes[0]
    z, force = next(line for line in panel.lines if line.get_label() == "model").get_data()
    assert np.abs(force - (z + z**3)).max() < 1e-12
    assert z[0] == -2
    assert z[-1] == 2


def test_each_curved_actuator_has_a_panel() -> None:
    """The second actuator has the curve w + w² with w = u − 5. Input and effective input are equal at the ends of the range."""
    terms, one = Terms(2, powers=((0, 2),)), np.ones((1, 1))
    law = Law(
        np.array([-1.0 + 0j]), np.ones((1, 2), complex), 0 * one, np.eye(2), np.zeros(0), one, np.zeros((1, 2)), np.zeros(1),
        np.zeros(1), np.array([[-4.0, 4.0]] * 2), terms, actuator=np.array([[1.0, 0, 0], [0, 1, 1]]),
    )  # fmt: skip
    structure = Structure(1, 0, terms, actuator=(0, 1))
    size = sum(structure.sizes(2, 1).values())
    visited = np.array([[-1.0, 1.0], [0.0, 2.0]])
    model = FeedbackModel(
        law, structure, np.array([0.0, 5.0]), Grid.line(10, 0.1), "zero", 0.1, visited, 1e-4 * np.eye(size), np.zeros(1)
    )
    [panel] = characteristic_figure(model).axes
    u, v = next(line for line in panel.lines if line.get_label() == "model").get_data()
    np.testing.assert_allclose(v, 5 + ((u - 5) + (u - 5) ** 2) / 3)
    assert (v[0], v[-1]) == (u[0], u[-1]) == (5, 7)
    with pytest.raises(LfnoError, match="input 1 has no curve; the inputs with a curve are 2"):
        model.characteristic(channel=0)


def test_the_loop_of_a_slow_input_follows_the_restoring_force() -> None:
    z, force = loop_figure(first_order(), 2.0, 2e-2).axes[0].lines[0].get_data()
    assert np.abs(force - (z + z**3)).max() < 0.3
