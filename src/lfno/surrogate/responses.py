"""Predictions of a model for the samples of prepared data.

A window of a record does not start at rest. A network sees only the inputs of the window, so its first outputs are wrong and
are not scored (warm-up). Linear models and modes with feedback have a state. They also get the inputs before the window, as far
back as the system remembers. Without these inputs, a network that only makes up for the missing past would look better than a
correct linear model. For samples that are whole periods of a steady state, the prediction is the steady part of the response.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from lfno.data.prepared import Prepared
from lfno.data.signals.record import Record
from lfno.data.stretches import PERIODIC, REST, SAMPLE_START
from lfno.identification.modal import INTEGRATES, ModalModel
from lfno.models.operator import Operator
from lfno.surrogate.sum import parts_of

#: number of windows that are predicted at once
BATCH = 64
#: number of samples at the beginning of a record that are predicted in one pass
WHOLE = 2**18
#: number of inputs before a window that a model with a state gets, in units of the memory of the system
PAST = 2
#: at the end of the memory of the system, the free motion of a pole should have decayed to this part of its first value. If
#: not, it is set to zero from there on
FADED = 0.05
#: smallest number of measured samples for each coefficient of a free motion
FEWEST_PER_NUMBER = 4


def responses(member: Any, prepared: Prepared, rows: np.ndarray) -> np.ndarray:
    """Return the predictions (rows, outputs, *space, time) of a member for the samples `rows` of prepared data."""
    if prepared.dataset.provenance.get(SAMPLE_START) == PERIODIC:
        return _in_steady_state(member, prepared, rows)
    total: np.ndarray | None = None
    for part in parts_of(member):
        alone = isinstance(part, Operator) or not prepared.records or prepared.dataset.grid.ndim > 1
        answer = _from_rest(part, prepared, rows) if alone else _with_past(part, prepared, rows)
        total = answer if total is None else total + answer
    assert total is not None
    return total


def _in_steady_state(member: Any, prepared: Prepared, rows: np.ndarray) -> np.ndarray:
    """Return the predictions (rows, outputs, time) for samples that are periods of a steady state."""
    dataset = prepared.dataset
    return np.concatenate([member.decompose(np.array(dataset.inputs[[row]]), dataset.grid)[1] for row in rows])


def _from_rest(part: Any, prepared: Prepared, rows: np.ndarray) -> np.ndarray:
    """Return the predictions from rest for the inputs of the samples alone, (rows, outputs, *space, time)."""
    dataset = prepared.dataset
    batches = [np.array(dataset.inputs[rows[first : first + BATCH]]) for first in range(0, len(rows), BATCH)]
    return np.concatenate([part.predict(batch, dataset.grid) for batch in batches])


def _with_past(part: Any, prepared: Prepared, rows: np.ndarray) -> np.ndarray:
    """Return the predictions of a model with a state for windows of records, with the inputs before each window."""
    dataset = prepared.dataset
    window, past = dataset.grid.shape[-1], _past(prepared)
    numbers, starts = (dataset.parameters[name][rows].astype(int) for name in ("record", "start"))
    result = np.empty((len(rows), part.channels[1], window))
    for number in np.unique(numbers):
        record = prepared.records[number]
        own = np.flatnonzero(numbers == number)
        first_pass = max(past, WHOLE)
        early, late = own[starts[own] <= first_pass], own[starts[own] > first_pass]
        if len(early):
            whole = _beginning(part, record.part(0, int(starts[early].max()) + window), prepared, int(number))
            for k in early:
                result[k] = whole[:, starts[k] : starts[k] + window]
        for first in range(0, len(late), BATCH):
            chosen = late[first : first + BATCH]
            inputs = np.stack([record.inputs[:, starts[k] - past : starts[k] + window] for k in chosen])
            result[chosen] = part.predict(inputs, record.grid)[..., -window:]
    return result


def _beginning(part: Any, record: Record, prepared: Prepared, number: int) -> np.ndarray:
    """Return the prediction (outputs, time) for the beginning of a record, which may start in motion."""
    answer = np.asarray(part.predict(np.array(record.inputs[None]), record.grid)[0])
    return answer + initial_motion(part, record, prepared, number)


def initial_motion(member: Any, record: Record, prepared: Prepared, number: int, start: int = 0) -> np.ndarray:
    """Return the free motion (outputs, time) that follows from the state at the first sample of a record.

    Validation and test add this motion to the prediction from rest. The motion is zero if the record begins at rest, and for a
    member without a linear model of signals.

    record: a part of a record of the prepared data.
    number: the index of the record that `record` is a part of.
    start: the index of the first sample of the part.
    """
    at_rest = any(span.record == number and span.start == start and span.state == REST for span in prepared.spans)
    linear = [part for part in parts_of(member) if isinstance(part, ModalModel)]
    if at_rest or not linear:
        return np.zeros((member.channels[1], len(record)))
    answer = np.asarray(linear[0].predict(np.array(record.inputs[None]), record.grid)[0])
    if not linear[0].provenance.get(INTEGRATES):
        return free_motion(linear[0], record, answer, prepared.warmup, _past(prepared))
    # the motion never ends, so all training samples from here on determine it
    spans = [span for span in prepared.spans if span.record == number and span.part == "train" and span.start <= start]
    known = min(max((span.stop - start for span in spans), default=0), len(record))
    return free_motion(linear[0], record, answer, max(known, prepared.warmup), len(record))


def _past(prepared: Prepared) -> int:
    """Return the number of samples that the system remembers, with a margin."""
    return PAST * max(prepared.memory, prepared.warmup)


def free_motion(model: ModalModel, record: Record, answer: np.ndarray, count: int, past: int) -> np.ndarray:
    """Return the free motion (outputs, time), estimated from the first samples of a record.

    The motion of output o is Re Σ_n c_on e^{μ_n t} with the poles μ_n of the model. The coefficients c are a least-squares fit
    to the difference between the measured outputs and the prediction from rest. With too few measured samples, the motion is
    zero.

    answer: the prediction from rest, (outputs, time).
    count: number of first samples in the fit.
    past: number of samples that the system remembers. If the motion of a pole has not decayed after `past` samples, it is set
        to zero from there on. Such a pole is an artefact or hardly damped, and would continue the errors of the estimate
        through the whole record.
    """
    time = np.arange(len(record)) * record.grid.steps[-1]
    columns = [part for pole in model.modes.poles for part in _swings(pole, time, past)]
    motion = np.zeros(answer.shape)
    for k, (truth, own) in enumerate(zip(record.outputs, answer, strict=True)):
        known = np.ones(count, bool) if record.mask is None else record.mask[k, :count]
        if len(columns) and known.sum() >= FEWEST_PER_NUMBER * len(columns):
            matrix = np.stack(columns, axis=1)
            left = (truth[:count] - own[:count])[known]
            motion[k] = matrix @ np.linalg.lstsq(matrix[:count][known], left, rcond=1e-8)[0]
    return motion


def _swings(pole: complex, time: np.ndarray, past: int) -> list[np.ndarray]:
    """Return the real and the imaginary part of e^{μ t} over time, set to zero after `past` samples if the motion lasts."""
    swing = np.exp(pole * time)
    if past < len(time) and abs(swing[past]) > FADED:
        swing[past:] = 0
    return [swing.real, swing.imag] if pole.imag else [swing.real]
