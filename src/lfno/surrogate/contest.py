"""Does the model earn its keep? Its test error beside that of the mean, of persistence and of the best linear model."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from lfno.core.errors import LfnoError
from lfno.data.dataset import Dataset
from lfno.data.prepare import Prepared
from lfno.evaluation.baselines import fit_baselines
from lfno.evaluation.metrics import in_own_units, relative_l2, scores
from lfno.identification.linear import LinearModel, fit_record
from lfno.identification.modal import MOST, ModalModel, identify_signals
from lfno.surrogate.model import Surrogate
from lfno.surrogate.responses import responses
from lfno.surrogate.running_mean import RunningMean
from lfno.surrogate.verdict import MODAL, NAMES, worth


@dataclass(frozen=True)
class Contest:
    """`rows`: for the model and every baseline its `scores` on the same test data; `outputs` names the channels.

    `inputs`, `truth`, `prediction` and `linear` are those data, (samples, channels, *grid), for figures; `mask` is True where
    the truth was measured, None if all of it was. `candidates` and `noise_floor` are those of `Scores`.
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

    def to_dict(self) -> dict[str, Any]:
        """Return what metrics.json holds of the test."""
        told: dict[str, Any] = {"test": self.rows, "verdict": self.verdict, "outputs": self.outputs}
        told |= {"candidates": self.candidates} if self.candidates else {}
        return told | ({"noise_floor": self.noise_floor} if self.noise_floor else {})

    def judged(self, verdict: str, candidates: dict[str, dict[str, Any]]) -> Contest:
        """Return the contest with another verdict and the table of the candidates."""
        return replace(self, verdict=verdict, candidates=candidates)


def contest(surrogate: Surrogate, prepared: Prepared, label: str, rivals: Mapping[str, Surrogate] | None = None) -> Contest:
    """Score a model, its rivals and the baselines on the test part of prepared data."""
    if prepared.record is None:
        result = contest_samples(surrogate, prepared, label, rivals or {})
    else:
        result = contest_record(surrogate, prepared, label, rivals or {})[0]
    floor = prepared.noise_floor
    return result if floor is None else replace(result, noise_floor=np.asarray(floor, dtype=float).tolist())


def contest_samples(
    surrogate: Surrogate, prepared: Prepared, label: str, rivals: Mapping[str, Surrogate] | None = None
) -> Contest:
    """On the test samples; baselines see all the samples that the model saw, validation included."""
    dataset, split = prepared.dataset, prepared.split
    known = np.sort(np.concatenate([split.train, split.validation]))
    parameters = _parameter(dataset)
    given = None if parameters is None else parameters[known]
    inputs, truth = dataset.inputs[split.test], dataset.outputs[split.test]
    prediction, spread = _answered(surrogate, prepared)
    mask = None if dataset.mask is None else dataset.mask[split.test]

    def scored(answer: np.ndarray) -> dict[str, Any]:
        return scores(answer, truth, mask) | {"spread": spread_of(relative_l2(*in_own_units(answer, truth, mask)))}

    rows = {label: scored(prediction)}
    rows |= {name: scored(_answered(rival, prepared)[0]) for name, rival in (rivals or {}).items()}
    linear, train = truth, dataset[known]
    for name, predict in fit_baselines(train.inputs, train.outputs, given, dataset.grid, train.mask).items():
        answer = predict(inputs, None if parameters is None else parameters[split.test])
        rows[NAMES[name]] = scored(answer)
        linear = answer if name == "linear" else linear
    if MODAL not in rows and (modal := _modal(prepared)):
        rows[MODAL] = scored(responses(modal, prepared, split.test))
    return Contest(rows, worth(rows, label), inputs, truth, prediction, linear, _names(dataset), spread, mask)


def _answered(model: Surrogate, prepared: Prepared) -> tuple[np.ndarray, np.ndarray | None]:
    """The answers to the test samples and the spread of the members; windows of records have their past."""
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
    """On the test stretch of a record, after its warm-up; the linear model is fitted to what came before (or after).

    Of a very long record at most MOST samples on each side count.
    """
    assert prepared.record is not None
    assert prepared.test is not None
    record, test, warm = prepared.record, prepared.test, prepared.warmup
    start, stop = prepared.stretch or (len(record), len(record))
    if len(test) > MOST:
        test, stop = test.part(0, MOST), start + MOST
    if start >= len(record) - stop:
        first = max(0, start - MOST)
        known, record = record.part(first, start), record.part(first, min(stop, len(record)))
        start, stop = start - first, stop - first
    else:
        known = record.part(stop, min(stop + MOST, len(record)))
    spread = surrogate.ask(test).spread

    def answered(model: Surrogate) -> np.ndarray:
        """The answer over the test; a model with memory gets the past that the test really had."""
        if model.has_memory and prepared.stretch is not None:
            return model.ask(record).values[..., start:stop]
        return model.ask(test).values

    prediction = answered(surrogate)
    truth = test.outputs[None, ..., warm:]
    mask = None if test.mask is None else test.mask[None, ..., warm:]

    def scored(answer: np.ndarray) -> dict[str, Any]:
        """Errors of (channels, *space, time) over the test, after the warm-up, where outputs were measured."""
        whole = np.broadcast_to(answer, test.outputs.shape)[None, ..., warm:]
        errors = relative_l2(*in_pieces(*in_own_units(whole, truth, mask), prepared.dataset.grid.shape[-1]))
        return scores(whole, truth, mask) | {"spread": spread_of(errors)}

    rows = {label: scored(prediction)}
    rows |= {name: scored(answered(rival)) for name, rival in (rivals or {}).items()}
    mean = known.outputs.mean(-1, keepdims=True, where=True if known.mask is None else known.mask)
    mean = np.where(np.isfinite(mean), mean, 0.0)  # of a channel that was never measured
    rows[NAMES["mean"]] = scored(mean)
    # the last value before the test, where there is one
    before = known.outputs if prepared.stretch is None else record.outputs[..., :start]
    held = before[..., -1:] if before.shape[-1] else known.outputs[..., :1]
    rows[NAMES["persistence"]] = scored(held)
    linear, answer = None, np.broadcast_to(mean, test.outputs.shape)[None]
    if record.grid.ndim == 1:
        # through the whole record, so that the test begins with the past it really had
        whole, piece = (test, slice(None)) if prepared.stretch is None else (record, slice(start, stop))
        try:
            linear = fit_record(known.inputs, known.outputs, known.grid, known.mask)
        except LfnoError:  # too short a record to choose a linear model: the other opponents remain
            linear = None
        if linear is not None:
            answer = linear.predict(whole.inputs[None])[..., piece]
            rows[NAMES["linear"]] = scored(answer[0])
        if MODAL not in rows and (modal := _modal(prepared)):
            rows[MODAL] = scored(modal.predict(whole.inputs[None], whole.grid)[0, ..., piece])
    band = spread if spread is None else spread[None, ..., warm:]
    result = Contest(rows, worth(rows, label), test.inputs[None, ..., warm:], truth, prediction[None, ..., warm:],
                     np.asarray(answer)[..., warm:], _names(prepared.dataset), band, mask)  # fmt: skip
    return result, linear


def in_pieces(
    prediction: np.ndarray, truth: np.ndarray, mask: np.ndarray, length: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(1, channels, *space, time) → (pieces, channels, *space, length): a record in pieces, without the rest at its end."""
    length = min(length, truth.shape[-1])
    count = truth.shape[-1] // length

    def cut(values: np.ndarray) -> np.ndarray:
        return np.stack(np.split(values[0, ..., : count * length], count, axis=-1))

    return cut(prediction), cut(truth), cut(mask)


def spread_of(errors: np.ndarray) -> float:
    """The standard deviation of the errors of several samples; 0 for a single one."""
    known = errors[np.isfinite(errors)]
    return float(known.std(ddof=1)) if len(known) > 1 else 0.0


def _modal(prepared: Prepared) -> ModalModel | None:
    """The model of `lfno fit --linear`, which is one of the opponents; None for fields and where it cannot be fitted."""
    if prepared.dataset.grid.ndim > 1:
        return None
    try:
        return identify_signals(prepared)
    except LfnoError:  # too little data for modes: the other opponents remain
        return None


def _names(dataset: Dataset) -> list[str]:
    """Output channels as the axis of a figure is labelled."""
    return [channel.label for channel in dataset.output_channels]


def _parameter(dataset: Dataset) -> np.ndarray | None:
    """The one number that tells the samples apart, if there is exactly one; windows of a record have none."""
    if "length" in dataset.provenance or len(dataset.parameters) != 1:
        return None
    values = next(iter(dataset.parameters.values()))
    return values if values.ndim == 1 else None
