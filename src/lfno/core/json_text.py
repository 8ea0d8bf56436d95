"""Write JSON. This module is the only one that turns results into JSON text.

JSON has no infinity and no NaN. A number that is not finite becomes null, which means: this number does not exist, or it is not
known. The ruff rule TID251 (see pyproject.toml) forbids `json.dumps` in all other modules.
"""

from __future__ import annotations

import json
import math
from typing import Any


def to_json(tree: Any, **layout: Any) -> str:
    """Return a tree of dictionaries, lists and numbers as JSON text.

    Args:
        tree: The tree; see `jsonable`.
        layout: The options `indent`, `separators`, `sort_keys` and `ensure_ascii` of `json.dumps`.

    Raises:
        TypeError: An entry of the tree is neither text nor a number.

    >>> import numpy as np
    >>> to_json({"error": np.float32("inf"), "errors": np.array([0.5, np.nan])})
    '{"error": null, "errors": [0.5, null]}'
    """
    return json.dumps(jsonable(tree), allow_nan=False, **layout)  # noqa: TID251


def jsonable(tree: Any) -> Any:
    """Return a tree with plain Python dictionaries, lists and numbers. A number that is not finite becomes None.

    Args:
        tree: Dictionaries, lists, tuples, sets, arrays, tensors, numbers, text, booleans and None.

    Raises:
        TypeError: An entry of the tree is none of these.

    >>> jsonable((3, float("nan"), {1: True}))
    [3, None, {'1': True}]
    """
    if isinstance(tree, dict):
        return {str(key): jsonable(value) for key, value in tree.items()}
    if isinstance(tree, (list, tuple, set, frozenset)):
        return [jsonable(value) for value in tree]
    if hasattr(tree, "tolist"):  # an array, a tensor, or a number of NumPy
        return jsonable(tree.tolist())
    if isinstance(tree, float):
        return tree if math.isfinite(tree) else None
    if tree is None or isinstance(tree, (str, int)):
        return tree
    raise TypeError(f"JSON has no form for {type(tree).__name__}")


def with_nan(tree: Any) -> Any:
    """Return a tree of numbers that was read from JSON, with NaN in place of None.

    >>> with_nan({"l2": [0.5, None]})
    {'l2': [0.5, nan]}
    """
    if isinstance(tree, dict):
        return {key: with_nan(value) for key, value in tree.items()}
    if isinstance(tree, list):
        return [with_nan(value) for value in tree]
    return math.nan if tree is None else tree
