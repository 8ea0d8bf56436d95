"""The error of the split into transient and steady, measured on repeated periods or on test samples."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from lfno.core.grid import Grid
from lfno.data.dataset import Dataset
from lfno.data.signals.record import Record
from lfno.evaluation.repeats import MeasuredSplit, measure_split

if TYPE_CHECKING:
    from lfno.surrogate.model import Surrogate

#: words that explain the errors in the sentences for the user
SCALE = "RMS, relative to the response"


def split_trust(model: Surrogate, data: Record | Dataset, known: bool = True) -> tuple[str, MeasuredSplit | None]:
    """Return a sentence on the error of the split of `model` for these data, and the measured errors if there are any.

    data: inputs, with or without outputs.
    known: whether the outputs in `data` were measured.

    A record with repeated inputs contains a measured steady state. If the record starts at rest, it also contains a measured
    transient. For other data, the sentence gives the errors on the test samples, if the model file holds such errors.
    """
    if known and isinstance(data, Record):
        found = measure_split(_Members(model), data, model.signals.from_rest)
        if found is not None:
            return _measured(found), found
    told = model.provenance.get("split_errors")
    if isinstance(told, dict):
        names = {"prediction": "prediction", "steady": "steady part", "transient": "transient part"}
        errors = ", ".join(f"{name} {100 * float(told[key]):.2g} %" for key, name in names.items())
        return f"Errors on the test samples of the data set: {errors} ({SCALE}).", None
    error = model.accuracy
    best = f" The parts are no more accurate than the prediction, whose error is {100 * error:.2g} %." if error else ""
    return f"The error of the split was not measured: this needs outputs and repeated periods of the input.{best}", None


def _measured(found: MeasuredSplit) -> str:
    """Return the measured errors as one sentence."""
    count = "a settled period" if found.periods == 1 else f"the mean of {found.periods} settled periods"
    told = f"The steady part of the model differs from {count} of the record by {100 * found.steady:.2g} % ({SCALE})."
    if found.transient is not None:
        told += f" The transient part differs from the measured transient by {100 * found.transient:.2g} %."
    noise = "" if found.noise is None else f" Measurement noise alone causes a difference of {100 * found.noise:.2g} %."
    return told + noise


class _Members:
    """A model whose method `decompose` gives no warnings about the split."""

    def __init__(self, model: Surrogate) -> None:
        self.model = model

    def decompose(self, inputs: Any, /, *, grid: Grid) -> tuple[np.ndarray, np.ndarray]:
        return self.model.decompose(inputs, grid=grid, warn=False)
