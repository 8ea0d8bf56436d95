"""Replace the prediction of a diverging nonlinear model by the prediction of a safe model.

A nonlinear model may diverge on inputs that are stronger than all training inputs. The prediction itself shows the
divergence, without any measured output: some values are not finite, or much larger than every training output.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass

import numpy as np

from lfno.challenges.protocol import Model, Question, Training

#: a prediction is trusted up to this multiple of the largest distance between a training output and the mean output
REACH = 10.0


@dataclass(frozen=True)
class Guarded:
    """A model and a safe model. The safe model predicts a record if the first model leaves the trusted range.

    middle: mean of the training outputs, (outputs, 1).
    reach: trusted distance from the mean, (outputs, 1).
    """

    model: Model
    safe: Model
    middle: np.ndarray
    reach: np.ndarray

    @property
    def description(self) -> str:
        return self.model.description

    def simulate(self, question: Question) -> np.ndarray:
        with np.errstate(over="ignore", invalid="ignore"):
            answer = self.model.simulate(question)
            trusted = np.abs(answer - self.middle) <= self.reach
        if trusted.all():
            return answer
        logging.getLogger("lfno").warning(
            f"the {self.model.description} left the range of its training outputs {REACH:g}-fold on one record: "
            f"the {self.safe.description} answers this record"
        )
        return self.safe.simulate(question)


def guarded(model: Model, safe: Model, training: Training) -> Guarded:
    """Return the model, guarded by a safe model. The trusted range is computed from the training records."""
    outputs = np.concatenate([record.outputs for record in training.records], axis=-1)
    middle = outputs.mean(-1, keepdims=True)
    return Guarded(model, safe, middle, REACH * np.abs(outputs - middle).max(-1, keepdims=True))
