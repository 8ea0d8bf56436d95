"""Modes with feedback as a model of a benchmark. The initial state is estimated from the first outputs of a record."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from lfno.challenges.fitted import Fitted, Settings, mean_score
from lfno.challenges.protocol import Question, Record, Training, figures
from lfno.core.grid import Grid
from lfno.data.stretches import PERIODIC, REST, UNKNOWN, Stretch
from lfno.identification.feedback import FeedbackModel, fit_feedback
from lfno.identification.feedback.observe import observed_state, state_prior
from lfno.identification.feedback.pieces import steady_response
from lfno.identification.feedback.refit import refit
from lfno.identification.feedback.windows import LENGTH

#: part of the user's time budget for modes with feedback
SHARE = 0.4
#: seconds for modes with feedback if the user gives no time budget
USUAL = 240.0
#: share of the time for modes with feedback that is left for the last fit, which uses all training records
REFIT = 0.2
#: number of samples of all training records together whose simulated states give the prior of the initial state
PRIOR = 20_000
#: samples; a period with more samples is cut into windows for the fit
LONG_PERIOD = 2 * LENGTH
#: number of training samples on which the model of the search is compared with the model of the last fit
COMPARED = 200_000
#: delays, in samples, of the copies of a rough input. With the neighbouring samples as inputs the model learns the
#: interpolation between samples from the data. A fixed hold is inaccurate near the Nyquist frequency
NEIGHBOURS = (0, -1, 1)
#: an input is rough if the ratio std(fourth differences) / std(input) exceeds this value; for a flat spectrum up to 0.4 times
#: the Nyquist frequency, the ratio is 0.67
ROUGH = 0.7
#: start of the high frequencies in the test for a band-limited input, relative to the Nyquist frequency
EDGE = 0.55
#: an input is band-limited if its high frequencies have less than this part of its power
LITTLE = 0.01
#: an input is piecewise constant, and needs no interpolation, if more than this part of neighbouring samples are equal
CONSTANT = 0.5


@dataclass(frozen=True)
class Feedback:
    """A fitted model of modes with feedback.

    model: the model with feedback.
    mean: mean of the states on the training records, (states,).
    spread: covariance of the states on the training records, (states, states).
    delays: delays of the copies of the input, in samples; (0,) for the input alone.
    """

    model: FeedbackModel
    mean: np.ndarray
    spread: np.ndarray
    delays: tuple[int, ...] = (0,)

    @property
    def description(self) -> str:
        """Return the model in words."""
        told = self.model.provenance["feedback"]["label"]
        more = "" if len(self.delays) == 1 else ", which sees neighbouring samples of the input"
        return f"modes with feedback, {self.model.parameters} parameters: {told}{more}"

    def simulate(self, question: Question) -> np.ndarray:
        """Return the outputs (channels, time).

        A periodic record gets the steady response. A record that begins at rest gets the response from rest. For any other
        record the initial state is estimated from the first outputs.
        """
        inputs, step = delayed(question.inputs, self.delays, question.period)[None], self.model.grid.steps[-1]
        if question.period:
            steady = steady_response(self.model, inputs[0, :, : question.period])
            return np.tile(steady, inputs.shape[-1] // question.period)
        start = None
        if not question.rest:
            start = observed_state(self.model, inputs[0], question.first_outputs, self.mean, self.spread)[None]
        return self.model.outputs(self.model.states(inputs, step, start), inputs)[0]


def delayed(inputs: np.ndarray, delays: tuple[int, ...], period: int = 0) -> np.ndarray:
    """Return delayed copies of the inputs, (delays · channels, time).

    Beyond its ends, a periodic record continues periodically. Any other record continues with its first or last value.

    Args:
        inputs: Inputs, (channels, time).
        delays: Delays in samples.
        period: The period of the record in samples; 0 for a record without a period.

    >>> delayed(np.array([[1.0, 2.0, 3.0]]), (0, -1, 1))
    array([[1., 2., 3.],
           [2., 3., 3.],
           [1., 1., 2.]])
    """
    size = inputs.shape[-1]
    places = [np.arange(size) - delay for delay in delays]
    return np.concatenate([inputs[:, at % size if period else np.clip(at, 0, size - 1)] for at in places])


@np.errstate(over="ignore", invalid="ignore")  # a candidate may diverge; a diverging candidate is not chosen
def fit_modes_with_feedback(training: Training, settings: Settings) -> Fitted:
    """Return modes with feedback. Held-out data choose the structure. Its parameters are then fitted to all training records.

    Of the models before and after this last fit, the function returns the one with the smaller error on training records.
    """
    kept, held = training.split()
    seconds = USUAL if settings.seconds is None else SHARE * settings.seconds
    delays = NEIGHBOURS if is_rough(kept) else (0,)
    first = _searched(kept, held, delays, (1 - REFIT) * seconds)
    validation = figures(first, held.records, training.skip, training.scale)
    whole = refit(first.model, [stretch(record, delays) for record in training.records], REFIT * seconds)
    again = _with_prior(whole, training, delays)
    # compare both models on whole training records: a model fitted to windows may drift over a long record
    records = compared(training)
    errors = [mean_score(figures(one, records, training.skip, training.scale), training) for one in (first, again)]
    final = again if errors[1] <= errors[0] else first
    return Fitted([final], validation, {"method": "feedback", "model": final.description}, first)


def compared(training: Training) -> list[Record]:
    """Return training records, evenly spread over all, with about COMPARED samples in total."""
    records = training.records
    count = int(np.clip(COMPARED // max(map(len, records)), 1, len(records)))
    return [records[int((n + 0.5) / count * len(records))] for n in range(count)]


def is_rough(training: Training) -> bool:
    """Return whether an input changes too fast between samples for interpolation by a polynomial through a few samples."""
    for channel in range(training.channels[0]):
        signals = [record.inputs[channel] for record in training.records]
        whole, first, fourth = (np.concatenate([np.diff(one, order) for one in signals]) for order in (0, 1, 4))
        if (first == 0).mean() < CONSTANT and fourth.std() > ROUGH * whole.std() and not is_band_limited(signals):
            return True
    return False


def is_band_limited(signals: Sequence[np.ndarray]) -> bool:
    """Return whether signals (time,) have hardly any power near the Nyquist frequency.

    The centred hold (see `identification.feedback.hold`) interpolates such signals accurately.
    """
    spectra = [np.abs(np.fft.rfft((one - one.mean()) * np.hanning(len(one)))) ** 2 for one in signals]
    high = sum(float(power[int(EDGE * len(power)) :].sum()) for power in spectra)
    return high < LITTLE * sum(float(power.sum()) for power in spectra)


def _searched(kept: Training, held: Training, delays: tuple[int, ...], seconds: float) -> Feedback:
    """Return a model whose structure is chosen on the held-out records, within a time budget."""
    grid = Grid.line(min(len(record) for record in kept.records), kept.step)
    logger = logging.getLogger("lfno")
    if len(delays) > 1:
        logger.info("feedback: the input changes fast between samples, so the model also gets the neighbours of each sample")
    model = fit_feedback(
        [stretch(record, delays) for record in kept.records], [stretch(record, delays) for record in held.records], grid,
        seconds=seconds, ahead=True, report=lambda text: logger.info(f"feedback: {text}"),
    )  # fmt: skip
    return _with_prior(model, kept, delays)


def _with_prior(model: FeedbackModel, training: Training, delays: tuple[int, ...]) -> Feedback:
    """Return the model with the mean and the covariance of its states on the training records."""
    size = max(PRIOR // len(training.records), 1)
    inputs = [delayed(record.inputs[:, :size], delays) for record in training.records]
    return Feedback(model, *state_prior(model, inputs), delays)


def stretch(record: Record, delays: tuple[int, ...] = (0,)) -> Stretch:
    """Return the record as a `Stretch` with delayed copies of its inputs. A periodic record is replaced by its mean period.

    A short period is fitted as a whole. A long period is treated as a record that begins in motion, so that the fit can
    use windows from many records.
    """
    if record.period:
        record = record.averaged()
    start = REST if record.rest else UNKNOWN
    if record.period:
        start = PERIODIC if record.period <= LONG_PERIOD else UNKNOWN
    return Stretch(delayed(record.inputs, delays, record.period), record.outputs, start=start, name=record.figure)
