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
    """A model and a safe model. The safe model predicts a record if the prediction of the first model leaves the trusted range.

    model: the model, which may diverge.
    safe: a model that does not diverge.
    middle: mean of the training outputs, (outputs, 1).
    reach: largest trusted distance of a prediction from the mean, (outputs, 1).
    """

    model: Model
    safe: Model
    middle: np.ndarray
    reach: np.ndarray

    @property
    def description(self) -> str:
        """Return the first model in words."""
        return self.model.description

    def simulate(self, question: Question) -> np.ndarray:
        """Return the prediction (outputs, time) of the model, or of the safe model."""
        with np.errstate(over="ignore", invalid="ignore"):
            answer = self.model.simulate(question)
            trusted = np.abs(answer - self.middle) <= self.reach
        if trusted.all():
            return answer
        logging.getLogger("lfno").warning(
            f"on one record, the prediction of the {self.model.description} is not finite, or {REACH:g} times as far "
            f"from the mean as any training output; the {self.safe.description} predicts this record instead"
        )
        return self.safe.simulate(question)


def guarded(model: Model, safe: Model, training: Training) -> Guarded:
    """Return a model that uses `model`, or `safe` if `model` diverges. Training outputs define the trusted range."""
    outputs = np.concatenate([record.outputs for record in training.records], axis=-1)
    middle = outputs.mean(-1, keepdims=True)
    return Guarded(model, safe, middle, REACH * np.abs(outputs - middle).max(-1, keepdims=True))
