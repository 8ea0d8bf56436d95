"""Figures of a nonlinearity: the curve in the figure is the restoring force of the model."""

import numpy as np

from lfno.core.grid import Grid
from lfno.identification.feedback.law import Law
from lfno.identification.feedback.model import FeedbackModel
from lfno.identification.feedback.structure import Structure
from lfno.identification.feedback.terms import Terms
from lfno.plots.characteristic import characteristic_figure, loop_figure


def first_order() -> FeedbackModel:
    """Return the model y′ = −y − y³ + u with z = y. The input that keeps y constant is y + y³."""
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


def test_the_loop_of_a_slow_input_follows_the_restoring_force() -> None:
    z, force = loop_figure(first_order(), 2.0, 2e-2).axes[0].lines[0].get_data()
    assert np.abs(force - (z + z**3)).max() < 0.3
