"""Errors of the transient part and of the steady part of a model, compared with the true parts of the system."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from lfno.core.errors import LfnoError
from lfno.core.short import Short
from lfno.data.dataset import Dataset

BATCH = 32  # samples: this many are decomposed at once


@dataclass(frozen=True, repr=False)
class SplitErrors(Short):
    """Relative L2 errors of each sample, (sample,).

    prediction: the error of transient part + steady part, divided by the norm of the response.
    steady, transient: the errors of the two parts, divided by the norm of the steady state or of the response, whichever is
        larger. They are NaN for samples without a periodic steady state.
    """

    prediction: np.ndarray
    steady: np.ndarray
    transient: np.ndarray

    def means(self) -> dict[str, float]:
        """Return the mean of each error over the samples whose error is not NaN."""
        return {name: float(np.nanmean(values)) for name, values in vars(self).items()}


class Decomposes(Protocol):
    """A model with `decompose(inputs)` → (transient, steady), two arrays (sample, channel, *grid)."""

    def decompose(self, inputs: Any, /) -> tuple[np.ndarray, np.ndarray]: ...


def score_split(model: Decomposes, data: Dataset) -> SplitErrors:
    """Return the errors of the two parts of a model on the samples of a data set with steady states.

    `dataset(name, steady=True)` makes such a data set. Raises LfnoError if the data set has no steady states.
    """
    if data.steady is None:
        raise LfnoError(f"{data.name} has no steady states to compare with: make it with steady=True")
    parts = [model.decompose(np.array(data.inputs[k : k + BATCH])) for k in range(0, len(data), BATCH)]
    transient, steady = (np.concatenate(part).reshape(data.outputs.shape) for part in zip(*parts, strict=True))
    return split_errors(transient, steady, data.outputs, data.steady)


def split_errors(transient: np.ndarray, steady: np.ndarray, response: np.ndarray, true_steady: np.ndarray) -> SplitErrors:
    """Return the errors of the two parts of a prediction. All arrays are (sample, channel, *grid).

    transient, steady: the predicted parts.
    response: the true response from rest.
    true_steady: the true periodic steady state; NaN for a sample without one. The true transient is response − true_steady.
    Raises LfnoError if the shapes differ.

    >>> response, steady = np.full((1, 1, 4), 2.0), np.ones((1, 1, 4))
    >>> errors = split_errors(response - steady, 1.1 * steady, response, steady).means()
    >>> {name: round(error, 6) for name, error in errors.items()}
    {'prediction': 0.05, 'steady': 0.05, 'transient': 0.0}
    """
    shapes = {np.shape(values) for values in (transient, steady, response, true_steady)}
    if len(shapes) > 1:
        raise LfnoError(f"the parts, the response and the steady state have the shapes {sorted(shapes)}: they must be equal")

    def size(values: np.ndarray) -> np.ndarray:
        """Return the L2 norm of each sample."""
        return np.linalg.norm(np.asarray(values, np.float64).reshape(len(values), -1), axis=1)

    tiny = np.finfo(np.float64).tiny
    own = size(response)
    larger = np.maximum(np.maximum(own, size(true_steady)), tiny)
    return SplitErrors(
        size(transient + steady - response) / np.maximum(own, tiny),
        size(steady - true_steady) / larger,
        size(transient - (response - true_steady)) / larger,
    )
