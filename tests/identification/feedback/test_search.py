"""The choice between candidates of a model with feedback."""

from dataclasses import replace

import numpy as np

from lfno.identification.feedback.candidate import Candidate, choose
from lfno.identification.feedback.hold import CAUSAL


def candidate(size: int, squares: np.ndarray) -> Candidate:
    """Return a candidate with `size` parameters and the mean squared errors `squares`. The choice does not use its law."""
    return Candidate(f"{size} parameters", None, None, CAUSAL[0], 1, np.zeros((1, 2)), 0.0, squares, size)


def test_many_more_parameters_are_chosen_only_for_a_clear_gain():
    """If a model has the same error on all validation windows, a small difference between two models is significant.

    But a small difference does not justify many more parameters.
    """
    floor = np.full(20, 1e-6)
    small, large = candidate(9, 1.1 * floor), candidate(25, floor)
    assert choose([small, large]) is small
    assert choose([replace(small, errors=1.3 * floor), large]) is large
    assert choose([small, candidate(10, floor)]).size == 10
