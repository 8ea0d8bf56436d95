"""Check arrays that come from the user."""

from __future__ import annotations

from typing import Any

import numpy as np

from lfno.core.errors import LfnoError


def real_array(values: Any, what: str, axes: str = "", least: int = 0, finite: bool = False) -> np.ndarray:
    """Return `values` as an array of floating point numbers.

    values: anything that numpy can convert to an array.
    what: the name of the array in error messages, in the plural.
    axes: the expected axes, as text for error messages: "(samples, time)".
    least: the smallest number of axes. With `least` > 0, an empty array is an error.
    finite: whether NaN and infinite values are an error.

    Integers and booleans become float64, because differences of unsigned integers would wrap around. Raises LfnoError if
    `values` are not real numbers or break one of these rules.

    >>> real_array([[1, 2]], "inputs", "(samples, time)", 2).shape
    (1, 2)
    """
    try:
        array = np.asarray(values)
    except ValueError as error:
        raise LfnoError(f"{what} are not an array: their rows have different lengths") from error
    if array.dtype.kind not in "fiub":
        raise LfnoError(f"{what} have dtype {array.dtype}; real numbers are needed")
    if array.ndim < least or (least and array.size == 0):
        needed = axes or f"with at least {least} axes"
        raise LfnoError(f"{what} have the shape {array.shape}; an array {needed} that is not empty is needed")
    if finite and not np.isfinite(array).all():
        raise LfnoError(f"{what} contain NaN or infinite values; remove or fill them first")
    return array if array.dtype.kind == "f" else array.astype(np.float64)
