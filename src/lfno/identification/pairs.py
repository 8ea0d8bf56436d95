"""Check the arrays of inputs and outputs before a linear model is fitted."""

from __future__ import annotations

import numpy as np

from lfno.core.checks import real_array
from lfno.core.errors import LfnoError
from lfno.data.dataset import full_mask

# largest magnitude of a signal: a sum of squares of larger numbers overflows in float64
LARGEST = 1e100


def measured_moments(mask: np.ndarray | None, outputs: np.ndarray) -> np.ndarray | None:
    """Return a mask (samples, time), True where all output channels were measured; None if no output is missing.

    A moment is one time step of one sample. If one output is missing at a moment, this moment does not count for any output.

    mask: True where an output was measured, in the shape of the outputs `(samples, channels, time)` or a shape that broadcasts.

    Raises LfnoError if the shapes do not fit, or if there is no moment at which all outputs were measured.

    >>> measured_moments(np.array([True, True, False]), np.zeros((1, 2, 3)))
    array([[ True,  True, False]])
    """
    full = full_mask(mask, outputs)
    if full is None:
        return None
    moments: np.ndarray = np.asarray(full.all(axis=1))
    if not moments.any():
        raise LfnoError("there is no moment at which all outputs were measured: fit the outputs one by one")
    return moments


def signal_pair(inputs: np.ndarray, outputs: np.ndarray, axes: str = "(samples, channels, time)") -> tuple[np.ndarray, ...]:
    """Return inputs and outputs as float64. Raise LfnoError if their shapes or values do not suit a fit.

    axes: the required axes. Inputs and outputs must have equal numbers of samples and of time steps. Values must be finite, and
        their magnitude must be at most `LARGEST`.

    >>> [values.shape for values in signal_pair(np.ones((5, 1, 40)), np.ones((5, 2, 40)))]
    [(5, 1, 40), (5, 2, 40)]
    """
    pair = tuple(
        real_array(values, f"the {name}").astype(np.float64) for name, values in (("inputs", inputs), ("outputs", outputs))
    )
    count = axes.count(",") + 1
    if any(values.ndim != count or not values.size for values in pair):
        raise LfnoError(f"signals {axes} are needed, not inputs {pair[0].shape} and outputs {pair[1].shape}")
    if pair[0].shape[-1] != pair[1].shape[-1] or (count == 3 and len(pair[0]) != len(pair[1])):
        raise LfnoError(f"inputs {pair[0].shape} and outputs {pair[1].shape} do not fit together as {axes}")
    if not all(np.isfinite(values).all() for values in pair):
        raise LfnoError("the signals contain missing or infinite values: drop or repair these samples first")
    if max(np.abs(values).max() for values in pair) > LARGEST:
        raise LfnoError("the signals reach beyond 1e100, too large to be squared and added up; use other units")
    return pair
