"""Pack arrays for the page: floats in base 64, which are shorter than decimal numbers."""

from __future__ import annotations

import base64
from typing import Any

import numpy as np


def packed(values: np.ndarray, double: bool = False) -> dict[str, Any]:
    """Return an array as its shape and its little-endian floats in base 64, which is shorter than decimal numbers.

    double: True for floats of 64 bits, False for 32 bits.

    >>> packed(np.zeros((1, 2)))
    {'shape': [1, 2], 'data': 'AAAAAAAAAAA=', 'double': False}
    """
    array = np.ascontiguousarray(values, dtype="<f8" if double else "<f4")
    return {"shape": list(array.shape), "data": base64.b64encode(array.tobytes()).decode(), "double": double}
