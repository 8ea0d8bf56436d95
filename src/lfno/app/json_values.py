"""Results as JSON can hold them: numbers that JavaScript can read, arrays as floats in base 64."""

from __future__ import annotations

import base64
import math
from typing import Any

import numpy as np


def packed(values: np.ndarray, double: bool = False) -> dict[str, Any]:
    """An array as its shape and its little-endian floats, of 32 bits or `double`; a tenth of the size of decimal numbers.

    >>> packed(np.zeros((1, 2)))
    {'shape': [1, 2], 'data': 'AAAAAAAAAAA=', 'double': False}
    """
    array = np.ascontiguousarray(values, dtype="<f8" if double else "<f4")
    return {"shape": list(array.shape), "data": base64.b64encode(array.tobytes()).decode(), "double": double}


def jsonable(tree: Any) -> Any:
    """The same tree with plain Python numbers; what is not finite becomes None, for which JSON has a word."""
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
