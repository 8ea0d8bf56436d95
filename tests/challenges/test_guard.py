"""The safe model predicts a record if, and only if, the nonlinear model diverges on this record."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest

from lfno.challenges.guard import REACH, guarded
from lfno.challenges.protocol import Question, Record, Training


@dataclass(frozen=True)
class Gain:
    """A model that multiplies the inputs by a constant gain."""

    gain: float
    description: str = "gain"

    def simulate(self, question: Question) -> np.ndarray:
        return self.gain * question.inputs if self.gain else np.zeros_like(question.inputs)


def training() -> Training:
    """Return training records with outputs between −1 and 3. The mean is 1, and the largest distance from the mean is 2."""
    outputs = np.tile([-1.0, 3.0], 20)[None]
    return Training((Record("training", outputs, outputs),), 1.0, 0)


@pytest.mark.parametrize(("level", "safe"), [(0.99, False), (1.01, True), (np.inf, True), (np.nan, True)])
def test_the_safe_model_replaces_predictions_outside_the_trusted_range(level: float, safe: bool):
    """The distance of the nonlinear model's prediction from the mean is `level` times the largest trusted distance."""
    model = guarded(Gain(1.0), Gain(0.0), training())
    inputs = np.array([[0.0, 1.0 + level * REACH * 2.0]])
    answer = model.simulate(Question(inputs, inputs[:, :0]))
    np.testing.assert_array_equal(answer, [[0.0, 0.0]] if safe else inputs)
