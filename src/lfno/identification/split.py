"""The split of a response into a transient and a steady part, for models whose steady part is known."""

from __future__ import annotations

import warnings

import numpy as np

from lfno.core.errors import LfnoError


def split_response(prediction: np.ndarray, steady: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the transient and the steady part of a response. Their sum is the response.

    A warning gives the number of samples without a steady state, whose parts are NaN.

    Args:
        prediction: The response, (samples, outputs, ...).
        steady: The response to the repeated input, in the same shape; NaN for a sample without a steady state.

    Raises:
        LfnoError: No sample has a steady state.

    >>> transient, steady = split_response(np.full((1, 1, 3), 3.0), np.ones((1, 1, 3)))
    >>> transient[0, 0].tolist()
    [2.0, 2.0, 2.0]
    """
    missing = int(np.isnan(steady).reshape(len(steady), -1).any(1).sum())
    if missing == len(steady):
        raise LfnoError("the response to the repeated input does not become periodic: there is no steady state")
    if missing:
        told = f"{missing} of {len(steady)} samples have no periodic steady state: their parts are NaN"
        warnings.warn(told, stacklevel=3)
    return prediction - steady, steady
