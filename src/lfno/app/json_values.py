"""Convert results to JSON: plain numbers that JavaScript can read, and arrays as floats in base 64."""

from __future__ import annotations

import base64
import math
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


def jsonable(tree: Any) -> Any:
    """Return a tree of dictionaries and lists with plain Python numbers. Numbers that are not finite become None."""
    if isinstance(tree, dict):
        return {str(key): jsonable(value) for key, value in tree.items()}
    if isinstance(tree, (list, tuple)):
        return [jsonable(value) for value in tree]
    if isinstance(tree, np.ndarray):
        return jsonable(tree.tolist())
    if isinstance(tree, np.generic):
        return jsonable(tree.item())
    if isinstance(tree, float):
        return tree if math.isfinite(tree) else None
    return tree
