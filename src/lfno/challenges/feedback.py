"""Modes with feedback as a model of a benchmark: the initial state comes from the first outputs of a record."""

from __future__ import annotations

import logging
from dataclasses import dataclass

import numpy as np

from lfno.challenges.fitted import Fitted, Settings, mean_score
from lfno.challenges.protocol import Question, Record, Training, figures
from lfno.core.grid import Grid
from lfno.data.stretches import PERIODIC, REST, UNKNOWN, Stretch
from lfno.identification.feedback import FeedbackModel, fit_feedback
from lfno.identification.feedback.observe import observed_state, state_prior
from lfno.identification.feedback.refit import refit

#: share of the time budget that the compact model may take
SHARE = 0.4
#: seconds for the compact model without a budget
USUAL = 300.0
#: share of that time for the last fit to all training records
REFIT = 0.2
#: samples of the training records whose simulated states make the prior of an initial state
PRIOR = 20_000
#: delays in samples of the copies of a rough input. A model that sees the neighbours of a sample interpolates between the
#: samples as its data show, which a fixed hold cannot do near the Nyquist frequency
NEIGHBOURS = (0, -1, 1)
#: ratio of the fourth differences of an input to the input itself, above which it is rough; a flat spectrum up to two fifths
#: of the Nyquist frequency has about 0.7
ROUGH = 0.7
#: share of equal neighbouring samples above which an input is piecewise constant: it needs no interpolation
CONSTANT = 0.5


@dataclass(frozen=True)
class Feedback:
    """A fitted model with the mean and the covariance of its states on the training records, and its delays of the input."""

    model: FeedbackModel
    mean: np.ndarray
    spread: np.ndarray
    delays: tuple[int, ...] = (0,)

    @property
    def description(self) -> str:
        told = self.model.provenance["feedback"]["label"]
        more = "" if len(self.delays) == 1 else ", which sees neighbouring samples of the input"
        return f"modes with feedback, {self.model.parameters} parameters: {told}{more}"

    def simulate(self, question: Question) -> np.ndarray:
        """The steady response for a periodic record, else the response from the state that the first outputs show."""
        inputs, step = delayed(question.inputs, self.delays, question.period)[None], self.model.grid.steps[-1]
        if question.period:
            steady = self.model.decompose(inputs[..., : question.period])[1][0]
            return np.tile(steady, inputs.shape[-1] // question.period)
        start = None
        if not question.rest:
            start = observed_state(self.model, inputs[0], question.first_outputs, self.mean, self.spread)[None]
        return self.model.outputs(self.model.states(inputs, step, start), inputs)[0]


def delayed(inputs: np.ndarray, delays: tuple[int, ...], period: int = 0) -> np.ndarray:
    """Copies of inputs (channels, time) with these delays; beyond the ends the record is constant, or goes on periodically.

    >>> delayed(np.array([[1.0, 2.0, 3.0]]), (0, -1, 1))
    array([[1., 2., 3.],
           [2., 3., 3.],
           [1., 1., 2.]])
    """
    size = inputs.shape[-1]
    places = [np.arange(size) - delay for delay in delays]
    return np.concatenate([inputs[:, at % size if period else np.clip(at, 0, size - 1)] for at in places])


@np.errstate(over="ignore", invalid="ignore")  # a model may diverge; it is not chosen then
def fit_modes_with_feedback(training: Training, settings: Settings) -> Fitted:
    """Fit to the beginning of each record (or to most realisations), choose on the rest, then fit to all records."""
    kept, held = training.split()
    seconds = USUAL if settings.seconds is None else SHARE * settings.seconds
    delays = NEIGHBOURS if is_rough(kept) else (0,)
    first = _searched(kept, held, delays, (1 - REFIT) * seconds)
    validation = figures(first, held.records, training.skip, training.scale)
    whole = refit(first.model, [stretch(record, delays) for record in training.records], REFIT * seconds)
    again = _with_prior(whole, training, delays)
    # both simulate whole training records: a fit to windows may drift over a long record
    errors = [mean_score(figures(one, training.records, training.skip, training.scale), training) for one in (first, again)]
    final = again if errors[1] <= errors[0] else first
    return Fitted([final], validation, {"method": "feedback", "model": final.description}, first)


def is_rough(training: Training) -> bool:
    """Whether an input changes so much from sample to sample that a polynomial through a few samples does not follow it."""
    for channel in range(training.channels[0]):
        signals = [record.inputs[channel] for record in training.records]
        whole, first, fourth = (np.concatenate([np.diff(one, order) for one in signals]) for order in (0, 1, 4))
        if (first == 0).mean() < CONSTANT and fourth.std() > ROUGH * whole.std():
            return True
    return False


def _searched(kept: Training, held: Training, delays: tuple[int, ...], seconds: float) -> Feedback:
    grid = Grid.line(min(len(record) for record in kept.records), kept.step)
    logger = logging.getLogger("lfno")
    if len(delays) > 1:
        logger.info("feedback: the input is rough, so the model sees the neighbours of each sample")
    model = fit_feedback(
        [stretch(record, delays) for record in kept.records], [stretch(record, delays) for record in held.records], grid,
        seconds=seconds, report=lambda text: logger.info(f"feedback: {text}"),
    )  # fmt: skip
    return _with_prior(model, kept, delays)


def _with_prior(model: FeedbackModel, training: Training, delays: tuple[int, ...]) -> Feedback:
    size = max(PRIOR // len(training.records), 1)
    inputs = [delayed(record.inputs[:, :size], delays) for record in training.records]
    return Feedback(model, *state_prior(model, inputs), delays)


def stretch(record: Record, delays: tuple[int, ...] = (0,)) -> Stretch:
    """The record as a stretch of measurement with copies of its inputs; of a record in steady state its mean period."""
    if record.period:
        record = record.averaged()
    start = PERIODIC if record.period else REST if record.rest else UNKNOWN
    return Stretch(delayed(record.inputs, delays, record.period), record.outputs, start=start, name=record.figure)
