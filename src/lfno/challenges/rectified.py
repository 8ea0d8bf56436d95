"""A linear model for a sensor that does not measure the sign: outputs = |linear model|. Example: speed from a pulse counter.

The sign of the true output changes where the absolute value reaches zero. In an initial guess, the sign changes at every deep
minimum of the measured values. A linear model is fitted to the signed values, and its prediction gives better signs. The fit
and the update of the signs are repeated until the signs stay the same.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from lfno.challenges.linear import LinearModes, fit_modes
from lfno.challenges.protocol import Question, Record, Training

#: the method does not apply if an output falls below −NEGATIVE times the largest output: such a sensor measures the sign
NEGATIVE = 0.1
#: thresholds, relative to the largest value; in an initial guess, the sign changes at every minimum below the threshold
DEPTHS = (0.05, 0.1, 0.2, 0.3)
#: largest number of fits with an update of the signs
ROUNDS = 6


@dataclass(frozen=True)
class Rectified:
    """A model that predicts |signed|, the absolute value of the linear model `signed`."""

    signed: LinearModes

    @property
    def description(self) -> str:
        """Return the model in words."""
        return f"absolute value of a {self.signed.description}"

    def simulate(self, question: Question) -> np.ndarray:
        """Return the prediction (outputs, time) with the smallest error on the first outputs, over several guesses of signs."""
        first, answers = question.first_outputs, []
        for signs in patterns(first):
            for _ in range(ROUNDS):
                answer = self.signed.simulate(replace(question, first_outputs=first * signs))
                before, signs = signs, np.where(answer[:, : first.shape[-1]] < 0, -1.0, 1.0)
                answers.append(np.abs(answer))
                if np.array_equal(before, signs):
                    break
        return min(answers, key=lambda answer: float(((answer[:, : first.shape[-1]] - first) ** 2).sum()))


def patterns(outputs: np.ndarray) -> list[np.ndarray]:
    """Return guesses of the signs of outputs (channels, time). Each guess also occurs with all signs reversed.

    In the first guess the signs are constant. In each other guess, the signs change at every minimum below one of the DEPTHS.
    """
    found = [np.ones_like(outputs)]
    for depth in DEPTHS:
        found.append(np.stack([changing(row, depth) for row in outputs]))
    return [sign * guess for guess in found for sign in (1.0, -1.0)]


def changing(values: np.ndarray, depth: float) -> np.ndarray:
    """Return signs ±1, (time,), that change once in every interval with values below `depth` times the largest value.

    The sign changes directly after the smallest value of the interval.

    >>> changing(np.array([2.0, 1.0, 0.1, 1.0, 2.0]), 0.2)
    array([ 1.,  1.,  1., -1., -1.])
    """
    signs = np.ones(len(values))
    low = values < depth * values.max(initial=0.0)
    edges = np.flatnonzero(np.diff(np.concatenate([[0], low.astype(int), [0]])))
    for begin, end in zip(edges[::2], edges[1::2], strict=True):
        signs[begin + int(values[begin:end].argmin()) + 1 :] *= -1
    return signs


def applies(training: Training) -> bool:
    """Return whether the outputs look like absolute values: never far below zero, and often near zero.

    Often means: more than 2 % of the samples of each output are below DEPTHS[1] times its largest value.
    """
    outputs = np.concatenate([record.outputs for record in training.records], axis=-1)
    largest = outputs.max(-1)
    touches = (outputs < DEPTHS[1] * largest[:, None]).mean(-1)
    return bool((outputs.min(-1) > -NEGATIVE * largest).all() and (touches > 0.02).all())


def fit_rectified(training: Training) -> Rectified:
    """Return the best of several linear models of signed outputs. Each model begins with another guess of the signs."""
    found: list[tuple[float, int, Rectified]] = []
    for depth in DEPTHS:
        signs = [np.stack([changing(row, depth) for row in record.outputs]) for record in training.records]
        for _ in range(ROUNDS):
            model = Rectified(fit_modes(with_signs(training, signs)))
            answers = [_signed_answer(model.signed, record, sign) for record, sign in zip(training.records, signs, strict=True)]
            errors = [np.abs(a) - record.outputs for a, record in zip(answers, training.records, strict=True)]
            found.append((float(np.mean([np.mean(error**2) for error in errors])), len(found), model))
            better = [np.where(answer < 0, -1.0, 1.0) for answer in answers]
            if all(np.array_equal(new, old) for new, old in zip(better, signs, strict=True)):
                break
            signs = better
    return min(found)[2]


def with_signs(training: Training, signs: Sequence[np.ndarray]) -> Training:
    """Return the training records with signed outputs.

    Args:
        training: The training records.
        signs: The signs of each record, (channels, time).
    """
    signed = [replace(record, outputs=record.outputs * sign) for record, sign in zip(training.records, signs, strict=True)]
    return replace(training, records=tuple(signed))


def _signed_answer(model: LinearModes, record: Record, signs: np.ndarray) -> np.ndarray:
    """Return the prediction of the linear model for a record. The first tenth of the signed outputs gives the initial state."""
    few = max(len(record) // 10, 10)
    return model.simulate(Question(record.inputs, (record.outputs * signs)[:, :few], record.period, record.rest))
