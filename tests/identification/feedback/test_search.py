"""The choice between candidates of a model with feedback."""

from dataclasses import replace

import numpy as np

from lfno.identification.feedback.candidate import Candidate, choose
from lfno.identification.feedback.hold import CAUSAL


def candidate(size: int, squares: np.ndarray) -> Candidate:
    """A candidate with so many parameters and these mean squared errors; its law does not matter for the choice."""
    return Candidate(f"{size} parameters", None, None, CAUSAL[0], 1, np.zeros((1, 2)), 0.0, squares, size)


def test_many_parameters_must_earn_their_place():
    """A floor that all candidates share makes small differences significant; they do not justify many more parameters."""
    floor = np.full(20, 1e-6)
    small, large = candidate(9, 1.1 * floor), candidate(25, floor)
    assert choose([small, large]) is small
    assert choose([replace(small, errors=1.3 * floor), large]) is large
    assert choose([small, candidate(10, floor)]).size == 10

