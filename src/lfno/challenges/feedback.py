"""Modes with feedback as a model of a benchmark: the initial state comes from the first outputs of a record."""

from __future__ import annotations

import logging
from dataclasses import dataclass

import numpy as np

from lfno.challenges.fitted import Fitted, Settings
from lfno.challenges.protocol import Question, Record, Training, figures
from lfno.core.grid import Grid
from lfno.data.stretches import PERIODIC, REST, UNKNOWN, Stretch
from lfno.identification.feedback import FeedbackModel, fit_feedback
from lfno.identification.feedback.observe import observed_state, state_prior

#: share of the time budget that the compact model may take
SHARE = 0.4
#: samples of the training records whose simulated states make the prior of an initial state
PRIOR = 20_000


@dataclass(frozen=True)
class Feedback:
    """A fitted model with the mean and the covariance of its states on the training records."""

    model: FeedbackModel
    mean: np.ndarray
    spread: np.ndarray

    @property
    def description(self) -> str:
        told = self.model.provenance["feedback"]["label"]
        return f"modes with feedback, {self.model.parameters} parameters: {told}"

    def simulate(self, question: Question) -> np.ndarray:
        """The steady response for a periodic record, else the response from the state that the first outputs show."""
        inputs, step = question.inputs[None], self.model.grid.steps[-1]
        if question.period:
            steady = self.model.decompose(inputs[..., : question.period])[1][0]
            return np.tile(steady, inputs.shape[-1] // question.period)
        start = None
        if not question.rest:
            start = observed_state(self.model, question.inputs, question.first_outputs, self.mean, self.spread)[None]
        return self.model.outputs(self.model.states(inputs, step, start), inputs)[0]


def fit_modes_with_feedback(training: Training, settings: Settings) -> Fitted:
    """Fit to the beginning of each record (or to most realisations) and choose the structure on the rest."""
    kept, held = training.split()
    grid = Grid.line(min(len(record) for record in kept.records), training.step)
    logger = logging.getLogger("lfno")
    model = fit_feedback(
        [stretch(record) for record in kept.records], [stretch(record) for record in held.records], grid,
        seconds=None if settings.seconds is None else SHARE * settings.seconds,
        report=lambda text: logger.info(f"feedback: {text}"),
    )  # fmt: skip
    size = max(PRIOR // len(kept.records), 1)
    whole = Feedback(model, *state_prior(model, [record.inputs[:, :size] for record in kept.records]))
    validation = figures(whole, held.records, training.skip, training.scale)
    return Fitted([whole], validation, {"method": "feedback", "model": whole.description})


def stretch(record: Record) -> Stretch:
    """The record as a stretch of measurement; of a record in steady state its mean period."""
    if record.period:
        record = record.averaged()
    start = PERIODIC if record.period else REST if record.rest else UNKNOWN
    return Stretch(record.inputs, record.outputs, start=start, name=record.figure)
