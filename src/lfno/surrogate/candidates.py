"""The candidates of a fit, and the choice between them by their errors on validation data."""

from __future__ import annotations

import logging
import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from lfno.core.errors import LfnoError
from lfno.core.short import Short
from lfno.data.prepared import Prepared
from lfno.evaluation.metrics import in_deviations
from lfno.identification.field import FieldModel, identify_field, is_line
from lfno.identification.field_law import identify_law
from lfno.identification.modal import ModalModel, identify_signals
from lfno.surrogate.responses import responses
from lfno.surrogate.sum import Sum, network_of
from lfno.training.networks import Trained

LinearModel = ModalModel | FieldModel
#: two errors count as equal if the smaller error is at least this part of the larger error
WORTHWHILE = 0.98
#: a candidate with more parameters must be better by this many standard errors, because its training already used the
#: validation samples
SURE = 2.0
#: a simpler candidate is refused if its error is above this multiple of the lowest error. Without this limit, a few validation
#: samples, whose standard error is large, would keep a simple model with twice the error
LARGEST_LOSS = 1.2
#: the error of a sample is divided by the norm of the sample, or by this part of the mean norm if the norm is smaller
FAINT = 0.01
#: a linear model with a validation error below this value describes the system exactly, and no other model is fitted
EXACT = 1e-6
#: smallest number of errors in a comparison; fewer validation samples are cut into pieces
FEWEST_ERRORS = 8
#: smallest number of time steps in a piece of a validation sample
SHORTEST_PIECE = 16


@dataclass(frozen=True, repr=False)
class Candidate(Short):
    """A fitted model with its errors on the validation samples.

    name: the kind of model, for example "linear" or "LFNO".
    members: the networks of an ensemble, or a single model.
    errors: the relative error of each validation sample, (samples,); see `validation_errors`. It is empty if the validation
        samples have no measured outputs.
    parameters: the number of real parameters of one member.
    seconds: the duration of the fit.
    training: the trained networks and their history; None for other models.
    notes: warnings of the fit.
    """

    name: str
    members: list[Any]
    errors: np.ndarray
    parameters: int
    seconds: float
    training: Trained | None = None
    notes: list[str] = field(default_factory=list)

    @property
    def error(self) -> float:
        """Return the mean relative error over the validation samples; infinity if there are none, or one is not finite."""
        return float(self.errors.mean()) if len(self.errors) and np.isfinite(self.errors).all() else math.inf

    def to_dict(self) -> dict[str, Any]:
        """Return the row of this candidate in the table of candidates."""
        spread = float(self.errors.std(ddof=1)) if len(self.errors) > 1 else 0.0
        told: dict[str, Any] = {"validation": self.error, "spread": spread, "parameters": self.parameters}
        return told | {"seconds": self.seconds}


def preferred(candidates: Sequence[Candidate]) -> tuple[Candidate, str]:
    """Choose a candidate by its validation errors. Return the candidate and a sentence that gives the reason.

    candidates: fitted models, the simplest one first.

    The result is the simplest candidate whose mean error is close to the lowest mean error. An error is close if it is at most
    2 % larger. It is also close if it is at most 20 % larger and within two standard errors. For this, the difference of the
    two errors is computed for each sample, and its mean is compared with the standard error of this mean. If the validation
    samples have no measured outputs, the result is the simplest candidate. Raises LfnoError if no candidate has a finite error.

    >>> linear, richer = (Candidate(name, [], np.array(e), 4, 1.0) for name, e in [("linear", [1, 1.2]), ("LFNO", [0.1, 0.2])])
    >>> preferred([linear, richer])[0].name
    'LFNO'
    """
    best = min(candidates, key=lambda one: one.error)
    if not any(len(one.errors) for one in candidates):
        return candidates[0], f"{candidates[0].name} is chosen: {reason(candidates[0], candidates)}"
    if not math.isfinite(best.error):
        raise LfnoError("every model diverges on the validation data: check the signals for outliers and for wrong units")
    chosen = next(one for one in candidates if _as_good(one, best))
    if len(candidates) == 1:
        return chosen, f"validation error {chosen.name} {chosen.error:.3g}"
    return chosen, f"{chosen.name} is chosen: {reason(chosen, candidates)}"


def reason(chosen: Candidate, candidates: Sequence[Candidate]) -> str:
    """Return why a candidate was chosen by its validation error, as a part of a sentence whose subject is the candidate.

    >>> one, two = (Candidate(name, [], np.array([e]), 4, 1.0) for name, e in [("linear", 1.0), ("LFNO", 0.99)])
    >>> reason(one, [one, two])
    'it is simpler than LFNO, and its validation error is at most 2 % larger (linear 1, LFNO 0.99)'
    """
    if not len(chosen.errors):
        return "it is the simplest model, and the validation data have no measured outputs to compare models with"
    best = min(candidates, key=lambda one: one.error)
    figures = ", ".join(f"{one.name} {one.error:.3g}" for one in candidates)
    if chosen.error <= best.error:
        return f"it has the lowest validation error ({figures})"
    if best.error >= WORTHWHILE * chosen.error:
        return f"it is simpler than {best.name}, and its validation error is at most 2 % larger ({figures})"
    larger = 100 * (chosen.error / max(best.error, 1e-300) - 1)
    return (
        f"it is simpler than {best.name}, and its validation error is only {larger:.0f} % larger ({figures}), a difference "
        f"within two standard errors of {len(chosen.errors)} validation samples"
    )


def _as_good(one: Candidate, best: Candidate) -> bool:
    """Return whether the mean error of a candidate is close to the mean error of the best candidate (see `preferred`)."""
    if one is best or best.error >= WORTHWHILE * one.error:
        return True
    if not one.error <= LARGEST_LOSS * best.error:
        return False
    difference = one.errors - best.errors
    count = len(difference)
    return count > 2 and bool(difference.mean() <= SURE * difference.std(ddof=1) / math.sqrt(count))


def validation_errors(members: Sequence[Any], prepared: Prepared) -> np.ndarray:
    """Return the relative error of the mean prediction of the members on each validation sample, (samples,).

    The warm-up of a sample does not count. The error of a whole trajectory is relative to the deviation of this trajectory from
    the mean of all outputs. The error of a window of a record is relative to the standard deviation of all validation outputs.
    Otherwise windows with little motion would dominate. If there are few samples, they are cut into pieces, so that the spread
    of the errors is known. The result is empty if no output was measured.
    """
    held, warm = prepared.dataset[prepared.split.validation], prepared.warmup
    prediction = np.mean([responses(member, prepared, prepared.split.validation) for member in members], axis=0)[..., warm:]
    mask = None if held.mask is None else held.mask[..., warm:]
    if mask is not None and not mask.any():
        return np.zeros(0)
    prediction, truth, known = in_deviations(prediction, held.outputs[..., warm:], mask)
    axes = tuple(range(1, truth.ndim))
    count = min(math.ceil(FEWEST_ERRORS / len(truth)), max(truth.shape[-1] // SHORTEST_PIECE, 1))
    size = np.ones(len(truth)) if prepared.records else _rms(truth, known, axes)
    errors, masks = (np.array_split(values, count, axis=-1) for values in (prediction - truth, known))
    missed = np.stack([_rms(error, mask, axes) for error, mask in zip(errors, masks, strict=True)])
    kept = np.stack([mask.any(axes) for mask in masks])
    size = np.maximum(size, max(FAINT * float(size[kept.any(0)].mean()), 1e-300))
    return np.asarray((missed / size)[kept])


def _rms(values: np.ndarray, known: np.ndarray, axes: tuple[int, ...]) -> np.ndarray:
    """Return the root mean square of the measured values of each sample, (samples,); 0 for a sample without measured values."""
    total, count = np.where(known, values**2, 0.0).sum(axes), known.sum(axes)
    return np.asarray(np.sqrt(total / np.maximum(count, 1)))


def linear_candidate(prepared: Prepared) -> Candidate:
    """Return the linear model of the training part, for signals or for fields on a line."""
    start = time.monotonic()
    dataset = prepared.dataset
    model: LinearModel
    if dataset.grid.ndim == 1:
        model = identify_signals(prepared, ("train",))
    else:
        known = dataset[prepared.split.train]
        if known.mask is not None:
            raise LfnoError("fields with gaps have no linear model: fill the gaps first")
        told = {"data": {"name": dataset.name, "signals": dataset.provenance.get("signals", {})}}
        model = replace(identify_field(known.inputs, known.outputs, dataset.grid), provenance=told)
    taken = time.monotonic() - start
    return Candidate("linear", [model], validation_errors([model], prepared), count_parameters(model), taken, notes=model.notes)


def equation_candidate(prepared: Prepared, seconds: float | None, report: Callable[[str], object]) -> Candidate:
    """Identify the equation of a field on a line.

    seconds: time limit of the search.
    report: a function that is called with a message when the search finds a better equation.
    """
    begun, dataset, split = time.monotonic(), prepared.dataset, prepared.split
    if not is_line(dataset):
        raise LfnoError("an equation is identified for fields with one input and one output on a line with two ends")
    if dataset.mask is not None:
        raise LfnoError("an equation is identified for fields without gaps: fill the gaps first")
    train, validation = ((dataset.inputs[rows], dataset.outputs[rows]) for rows in (split.train, split.validation))
    law = identify_law(train, validation, dataset.grid, seconds=seconds, report=report)
    told = {**law.provenance, "data": {"name": dataset.name, "signals": dataset.provenance.get("signals", {})}}
    law = replace(law, provenance=told)
    return Candidate("equation", [law], validation_errors([law], prepared), law.parameters, time.monotonic() - begun)


def network_candidate(training: Trained, linear: LinearModel | None, prepared: Prepared, seconds: float) -> Candidate:
    """Return trained networks as a candidate.

    linear: the linear model whose residual the networks were trained on; None for networks without a linear model. Each member
        is then the sum of the linear model and a network, scaled by `scale_to_validation`. If the sum still has a larger
        validation error than the linear model alone, the network is multiplied by zero.
    seconds: the duration of the training.
    """
    name = type(training.models[0]).__name__
    members: list[Any] = list(training.models)
    if linear is not None:
        scale_to_validation(training, linear, prepared)
        members = [Sum(linear, network) for network in training.models]
    errors = validation_errors(members, prepared)
    if linear is not None and len(errors) and not errors.mean() <= validation_errors([linear], prepared).mean():
        multiply(training.models, 0.0)
        errors = validation_errors(members, prepared)
    return Candidate(name, members, errors, count_parameters(members[0]), seconds, training)


def scale_to_validation(training: Trained, linear: LinearModel, prepared: Prepared) -> float:
    """Multiply the outputs of networks that correct a linear model by one factor. Return this factor.

    The factor lies between 0 and 1 and gives the lowest mean squared validation error of the sum. This error is at most the
    error of the linear model, which is the sum with the factor 0. Networks that only fit the noise of their training samples
    get a small factor.
    """
    rows, warm = prepared.split.validation, prepared.warmup
    held = prepared.dataset[rows]
    mask = None if held.mask is None else held.mask[..., warm:]
    mean = np.mean([responses(network, prepared, rows) for network in training.models], axis=0)[..., warm:]
    truth = held.outputs[..., warm:]
    left = truth - responses(linear, prepared, rows)[..., warm:]
    # scale each channel and each sample as in `validation_errors`
    scale, size = _sizes(truth, mask)
    size = np.ones_like(size) if prepared.records else size
    mean, left = (np.where(True if mask is None else mask, values, 0.0) / scale / size for values in (mean, left))
    power = float((mean**2).sum())
    share = float(np.clip((mean * left).sum() / power, 0.0, 1.0)) if power > 0 and math.isfinite(power) else 0.0
    multiply(training.models, share)
    if share < 1:
        logging.getLogger("lfno").info(f"multiplied the outputs of the networks by {share:.2g} for the lowest validation error")
    return share


def multiply(networks: Sequence[Any], share: float) -> None:
    """Multiply the outputs of networks by `share`, through the scales of their output channels."""
    for network in networks:
        network.output_scale.mul_(share)
        network.output_offset.mul_(share)


def _sizes(truth: np.ndarray, mask: np.ndarray | None) -> tuple[np.ndarray, np.ndarray]:
    """Return the standard deviation of each channel, and the deviation of each sample in units of the standard deviations.

    Both results broadcast to the shape of `truth`.
    """
    _, deviations, known = in_deviations(truth, truth, mask)
    scale = truth.std((0, *range(2, truth.ndim)), keepdims=True, where=known)
    axes = tuple(range(1, truth.ndim))
    size = _rms(deviations, known, axes).reshape(-1, *[1] * len(axes))
    return np.where(scale > 0, scale, 1.0), np.maximum(size, FAINT)


def count_parameters(member: Any) -> int:
    """Return the number of real parameters of a network, a linear model, a model with feedback, an equation, or a sum."""
    network = network_of(member)
    own = 0 if network is None else sum(parameter.numel() for parameter in network.parameters())
    linear = member.linear if isinstance(member, Sum) else member
    if isinstance(linear, ModalModel):
        width = 2 * linear.modes.residues[..., 0].size if len(linear.modes.poles) else 0
        pairs = int((linear.modes.poles.imag != 0).sum())
        real = len(linear.modes.poles) - pairs
        own += pairs * (2 + width) + real * (1 + width // 2) + int(np.count_nonzero(linear.modes.direct))
    return own or int(getattr(member, "parameters", 0))
