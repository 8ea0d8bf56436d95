"""Arrays from outside: real numbers of the expected shape, or one sentence."""

from __future__ import annotations

from typing import Any

import numpy as np

from lfno.core.errors import LfnoError


def real_array(values: Any, what: str, axes: str = "", least: int = 0, finite: bool = False) -> np.ndarray:
    """`values` as an array of floats with at least `least` axes, which are called `axes` in the sentence.

    Whole numbers and truth values become floats: differences of unsigned ones would be wrong, of the others an error.

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
        raise LfnoError(f"{what} have the shape {array.shape}; {axes or f'at least {least} axes'} with values are needed")
    if finite and not np.isfinite(array).all():
        raise LfnoError(f"{what} contain NaN or infinite values; remove or fill them first")
    return array if array.dtype.kind == "f" else array.astype(np.float64)
