"""A linear model behind a sensor that is blind to the sign: outputs = |linear model|, as a pulse counter measures a speed.

The sign of the output changes where its absolute value touches zero. A first guess of the sign changes at every deep minimum
of the measured values. A linear model is fitted to the signed values, its answer gives better signs, and so on.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from lfno.challenges.linear import LinearModes, fit_modes
from lfno.challenges.protocol import Question, Record, Training

#: outputs that fall below zero by more than this part of their range have a sign
NEGATIVE = 0.1
#: depths of the minima, as parts of the largest value, at which the first guess changes its sign
DEPTHS = (0.05, 0.1, 0.2, 0.3)
#: times that the signs are taken from the model and the model is fitted again
ROUNDS = 6


@dataclass(frozen=True)
class Rectified:
    """outputs = |signed|."""

    signed: LinearModes

    @property
    def description(self) -> str:
        return f"absolute value of a {self.signed.description}"

    def simulate(self, question: Question) -> np.ndarray:
        """The answer for the signs of the first outputs that the model explains best."""
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
    """Guesses of the signs of outputs (channels, time): a change at deep minima, or none, each with both signs at first."""
    found = [np.ones_like(outputs)]
    for depth in DEPTHS:
        found.append(np.stack([changing(row, depth) for row in outputs]))
    return [sign * guess for guess in found for sign in (1.0, -1.0)]


def changing(values: np.ndarray, depth: float) -> np.ndarray:
    """Signs ±1 that change at every minimum below `depth` times the largest value; one change for each dip.

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
    """Whether all outputs are absolute values as far as one can see: never far below zero, and often near it."""
    outputs = np.concatenate([record.outputs for record in training.records], axis=-1)
    largest = outputs.max(-1)
    touches = (outputs < DEPTHS[1] * largest[:, None]).mean(-1)
    return bool((outputs.min(-1) > -NEGATIVE * largest).all() and (touches > 0.02).all())


def fit_rectified(training: Training) -> Rectified:
    """The best linear model of signed outputs, over several first guesses of the signs."""
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
    """The training records with these signs of the outputs. The mean of signed outputs is zero where inputs have no offset."""
    signed = [replace(record, outputs=record.outputs * sign) for record, sign in zip(training.records, signs, strict=True)]
    return replace(training, records=tuple(signed))


def _signed_answer(model: LinearModes, record: Record, signs: np.ndarray) -> np.ndarray:
    """The answer of the linear model over a whole record, with the signed outputs of its first tenth for the state."""
    few = max(len(record) // 10, 10)
    return model.simulate(Question(record.inputs, (record.outputs * signs)[:, :few], record.period, record.rest))
