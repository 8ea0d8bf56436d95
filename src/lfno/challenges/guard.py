"""Answer by a safe model where a nonlinear one leaves its range.

A nonlinear model may diverge on inputs that are stronger than all training inputs. Its own answer shows it, without any
measured output: values that are not finite, or much larger than every output seen in training.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass

import numpy as np

from lfno.challenges.protocol import Model, Question, Training

#: an answer is trusted up to this multiple of the largest distance of a training output from the mean output
REACH = 10.0


@dataclass(frozen=True)
class Guarded:
    """A model, and the safe one that answers where the first leaves the trusted range.

    middle, reach: (outputs, 1), mean of the training outputs and trusted distance from it.
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
    """The model with a safe one behind it; the trusted range comes from the training records."""
    outputs = np.concatenate([record.outputs for record in training.records], axis=-1)
    middle = outputs.mean(-1, keepdims=True)
    return Guarded(model, safe, middle, REACH * np.abs(outputs - middle).max(-1, keepdims=True))
