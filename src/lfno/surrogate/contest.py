"""Compare the test error of a model with the baselines: mean, persistence, interpolation and the linear baseline."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from lfno.core.errors import LfnoError
from lfno.core.short import Short
from lfno.data.dataset import Dataset
from lfno.data.prepare import Prepared
from lfno.data.stretches import PERIODIC, SAMPLE_START
from lfno.evaluation.baselines import fit_baselines
from lfno.evaluation.comparison import ratio_interval, squared_errors
from lfno.evaluation.metrics import scores
from lfno.identification.linear import LinearModel, fit_record
from lfno.identification.modal import MOST, ModalModel, identify_signals
from lfno.surrogate.model import Surrogate
from lfno.surrogate.responses import initial_motion, responses
from lfno.surrogate.running_mean import RunningMean
from lfno.surrogate.verdict import MODAL, NAMES, RATIO, worth

SQUARES = "squares"  # key of the squared errors of each test sample in a row, until all rows are compared


@dataclass(frozen=True, repr=False)
class Contest(Short):
    """The errors of a model and of the baselines on the same test data.

    rows: the `scores` of the model, of other models and of each baseline, by name (see `Scores`).
    verdict: sentences that say whether the model is better than the baselines.
    inputs, truth: the test data, (samples, channels, *grid).
    prediction: the prediction of the model, (samples, channels, *grid).
    linear: the prediction of the linear baseline, (samples, channels, *grid). For a record without a linear model: the mean.
    outputs: labels of the output channels.
    spread: the standard deviation of the predictions of an ensemble, (samples, channels, *grid); None for a single model.
    mask: True where the truth was measured; None if the truth has no gaps.
    candidates, noise_floor: fields of `Scores`.
    builtin: whether the data set is built in. For a built-in data set, the paper gives relative L2 errors.
    """

    rows: dict[str, dict[str, Any]]
    verdict: str
    inputs: np.ndarray
    truth: np.ndarray
    prediction: np.ndarray
    linear: np.ndarray
    outputs: list[str]
    spread: np.ndarray | None = None
    mask: np.ndarray | None = None
    candidates: dict[str, dict[str, Any]] = field(default_factory=dict)
    noise_floor: list[float] | None = None
    builtin: bool = False

    def to_dict(self) -> dict[str, Any]:
        """Return the test errors in the form of metrics.json."""
        told: dict[str, Any] = {"test": self.rows, "verdict": self.verdict, "outputs": self.outputs}
        told |= {"candidates": self.candidates} if self.candidates else {}
        return told | ({"noise_floor": self.noise_floor} if self.noise_floor else {})

    def judged(self, verdict: str, candidates: dict[str, dict[str, Any]]) -> Contest:
        """Return a copy of the contest with another verdict and with the table of the candidates."""
        return replace(self, verdict=verdict, candidates=candidates)


def contest(surrogate: Surrogate, prepared: Prepared, label: str, rivals: Mapping[str, Surrogate] | None = None) -> Contest:
    """Return the test errors of a model, of other models (`rivals`) and of the baselines on prepared data.

    label: the name of the model in the table of errors.
    """
    if prepared.record is None:
        result = contest_samples(surrogate, prepared, label, rivals or {})
    else:
        result = contest_record(surrogate, prepared, label, rivals or {})[0]
    floor = prepared.noise_floor
    noise = None if floor is None else np.asarray(floor, dtype=float).tolist()
    return replace(result, noise_floor=noise, builtin="system" in prepared.dataset.provenance)


def contest_samples(
    surrogate: Surrogate, prepared: Prepared, label: str, rivals: Mapping[str, Surrogate] | None = None
) -> Contest:
    """Return the errors of models on the test samples. Baselines are fitted to the training and validation samples."""
    dataset, split = prepared.dataset, prepared.split
    known = np.sort(np.concatenate([split.train, split.validation]))
    parameters = _parameter(dataset)
    given = None if parameters is None else parameters[known]
    inputs, truth = dataset.inputs[split.test], dataset.outputs[split.test]
    prediction, spread = _answered(surrogate, prepared)
    mask = None if dataset.mask is None else dataset.mask[split.test]

    def scored(answer: np.ndarray) -> dict[str, Any]:
        return scores(answer, truth, mask) | {SQUARES: squared_errors(answer, truth, mask)}

    rows = {label: scored(prediction)}
    rows |= {name: scored(_answered(rival, prepared)[0]) for name, rival in (rivals or {}).items()}
    linear, train = truth, dataset[known]
    periods = dataset.provenance.get(SAMPLE_START) == PERIODIC
    fitted = _steady_baselines(train) if periods else fit_baselines(
        train.inputs, train.outputs, given, dataset.grid, train.mask
    )  # fmt: skip
    for name, predict in fitted.items():
        answer = predict(inputs, None if parameters is None else parameters[split.test])
        rows[NAMES[name]] = scored(answer)
        linear = answer if name == "linear" else linear
    if MODAL not in rows and (modal := _modal(prepared)):
        rows[MODAL] = scored(responses(modal, prepared, split.test))
    _compare(rows, label)
    return Contest(rows, worth(rows, label), inputs, truth, prediction, linear, _names(dataset), spread, mask)


def _steady_baselines(train: Dataset) -> dict[str, Callable[..., np.ndarray]]:
    """Fit the baselines to periods of a steady state, and return name → predict.

    Baselines simulate from rest. Each period is therefore repeated, and only the second repetition counts.
    """
    size, axis = train.grid.shape[-1], train.grid.axes[-1]
    known = np.ones(train.outputs.shape, dtype=bool) if train.mask is None else train.mask
    mask = np.concatenate([np.zeros_like(known), known], axis=-1)

    def twice(values: np.ndarray) -> np.ndarray:
        return np.concatenate([values, values], axis=-1)

    def second(predict: Callable[..., np.ndarray]) -> Callable[..., np.ndarray]:
        return lambda inputs, parameters: predict(twice(inputs), parameters)[..., size:]

    grid = train.grid.change(axis.name, size=2 * size)
    fitted = fit_baselines(twice(train.inputs), twice(train.outputs), None, grid, mask)
    return {name: second(predict) for name, predict in fitted.items()}


def _answered(model: Surrogate, prepared: Prepared) -> tuple[np.ndarray, np.ndarray | None]:
    """Return the predictions of the test samples, and the spread of the members of an ensemble.

    If the samples are windows of a record, the model also gets the inputs before each window.
    """
    if not prepared.records:
        told = model.ask(prepared.dataset[prepared.split.test])
        return told.values, told.spread
    mean = RunningMean()
    for member in model.members:
        mean.add(responses(member, prepared, prepared.split.test))
    return mean.mean, mean.spread


def contest_record(
    surrogate: Surrogate, prepared: Prepared, label: str, rivals: Mapping[str, Surrogate] | None = None
) -> tuple[Contest, LinearModel | None]:
    """Return the errors of models on the test part of a record, after its warm-up.

    The mean and the linear baseline are fitted to the samples of the record before the test part, or to the samples after
    it, whichever are more. At most MOST of these samples and the first MOST samples of the test part are used. Returns the
    contest and the linear baseline. For fields, and for a record that is too short for a linear model, None replaces the linear
    baseline.
    """
    assert prepared.record is not None
    assert prepared.test is not None
    record, test, warm = prepared.record, prepared.test, prepared.warmup
    start, stop = prepared.stretch or (len(record), len(record))
    if len(test) > MOST:
        test, stop = test.part(0, MOST), start + MOST
    first = 0
    if start >= len(record) - stop:
        first = max(0, start - MOST)
        known, record = record.part(first, start), record.part(first, min(stop, len(record)))
        start, stop = start - first, stop - first
    else:
        known = record.part(stop, min(stop + MOST, len(record)))
    spread = surrogate.ask(test).spread
    # a model with memory predicts the whole record, so that it is in the correct state at the first test sample
    whole, piece = (test, slice(None)) if prepared.stretch is None else (record, slice(start, stop))
    tested = next(span for span in prepared.spans if span.part == "test")
    begun = first if prepared.stretch is not None else tested.start

    def moved(members: Sequence[Any]) -> np.ndarray:
        """Return the free motion in the test part that follows from the state at the first sample of `whole`."""
        if whole.grid.ndim > 1:
            return np.zeros(1)
        each = [initial_motion(member, whole, prepared, tested.record, begun) for member in members]
        return np.mean(each, axis=0)[..., piece]

    def answered(model: Surrogate) -> np.ndarray:
        """Predict the test part. A model with memory also gets the inputs before the test part."""
        if model.has_memory:
            return model.ask(whole).values[..., piece] + moved(model.members)
        return model.ask(test).values

    prediction = answered(surrogate)
    truth = test.outputs[None, ..., warm:]
    mask = None if test.mask is None else test.mask[None, ..., warm:]

    def scored(answer: np.ndarray) -> dict[str, Any]:
        """Return the errors of a prediction (channels, *space, time) after the warm-up, over the measured points."""
        whole = np.broadcast_to(answer, test.outputs.shape)[None, ..., warm:]
        squares = squared_errors(whole, truth, mask, prepared.dataset.grid.shape[-1])
        return scores(whole, truth, mask) | {SQUARES: squares}

    rows = {label: scored(prediction)}
    rows |= {name: scored(answered(rival)) for name, rival in (rivals or {}).items()}
    mean = known.outputs.mean(-1, keepdims=True, where=True if known.mask is None else known.mask)
    mean = np.where(np.isfinite(mean), mean, 0.0)  # NaN belongs to a channel that was never measured
    rows[NAMES["mean"]] = scored(mean)
    # the last value before the test; the first known value if the test comes first
    before = known.outputs if prepared.stretch is None else record.outputs[..., :start]
    held = before[..., -1:] if before.shape[-1] else known.outputs[..., :1]
    rows[NAMES["persistence"]] = scored(held)
    linear, answer = None, np.broadcast_to(mean, test.outputs.shape)[None]
    if record.grid.ndim == 1:
        try:
            linear = fit_record(known.inputs, known.outputs, known.grid, known.mask)
        except LfnoError:  # the record is too short for a linear model; the other baselines are still scored
            linear = None
        if linear is not None:
            answer = linear.predict(whole.inputs[None])[..., piece]
            rows[NAMES["linear"]] = scored(answer[0])
        if MODAL not in rows and (modal := _modal(prepared)):
            rows[MODAL] = scored(modal.predict(whole.inputs[None], whole.grid)[0, ..., piece] + moved([modal]))
    _compare(rows, label)
    band = spread if spread is None else spread[None, ..., warm:]
    result = Contest(rows, worth(rows, label), test.inputs[None, ..., warm:], truth, prediction[None, ..., warm:],
                     np.asarray(answer)[..., warm:], _names(prepared.dataset), band, mask)  # fmt: skip
    return result, linear


def _compare(rows: dict[str, dict[str, Any]], label: str) -> None:
    """Replace the squared errors of each row by the spread of the errors, and by an interval of the ratio of two errors.

    The ratio is the RMSE of the row `label`, divided by the RMSE of the other row.
    """
    squares = {name: row.pop(SQUARES) for name, row in rows.items()}
    for name, row in rows.items():
        row["spread"] = spread_of(np.sqrt(squares[name]))
        interval = None if name == label else ratio_interval(squares[label], squares[name])
        row |= {} if interval is None else {RATIO: list(interval)}


def spread_of(errors: np.ndarray) -> float:
    """Return the standard deviation of the errors of several samples; 0 for a single one."""
    known = errors[np.isfinite(errors)]
    return float(known.std(ddof=1)) if len(known) > 1 else 0.0


def _modal(prepared: Prepared) -> ModalModel | None:
    """Return the model of `lfno fit --linear` as a baseline; None for fields, or if the data are too few for modes."""
    if prepared.dataset.grid.ndim > 1:
        return None
    try:
        return identify_signals(prepared)
    except LfnoError:  # too few data for modes
        return None


def _names(dataset: Dataset) -> list[str]:
    """Return the labels of the output channels for plots."""
    return [channel.label for channel in dataset.output_channels]


def _parameter(dataset: Dataset) -> np.ndarray | None:
    """Return the parameter of each sample, (samples,), if the data set has exactly one parameter; else None. The index of a
    window or of a period is not a parameter.
    """
    counted = "length" in dataset.provenance or dataset.provenance.get(SAMPLE_START) == PERIODIC
    if counted or len(dataset.parameters) != 1:
        return None
    values = next(iter(dataset.parameters.values()))
    return values if values.ndim == 1 else None
