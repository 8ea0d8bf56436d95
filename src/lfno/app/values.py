"""Check the values of a query (the options of a question): numbers, whole numbers and texts. A wrong value is an LfnoError."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from lfno.core.errors import LfnoError

Query = dict[str, Any]


def number(query: Query, name: str, low: float, high: float, default: float | None = None, label: str = "") -> float:
    """Return query[name] as a float between `low` and `high`. `label` is the name of the value in error messages.

    >>> number({"amplitude": 2}, "amplitude", 0, 5)
    2.0
    """
    value, label = query.get(name, default), label or name
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise LfnoError(f"the {label} {_short(value)} is not a number")
    try:
        given = float(value)
    except OverflowError:  # a whole number of more than 308 digits
        raise LfnoError(f"the {label} is too large; choose a value between {low:g} and {high:g}") from None
    if not (math.isfinite(given) and low <= given <= high):
        raise LfnoError(f"the {label} {given:g} is not allowed; choose a value between {low:g} and {high:g}")
    return given


def whole(query: Query, name: str, high: int = 2**31, default: int = 0) -> int:
    """Return query[name] as a whole number from 0 to `high`."""
    value = query.get(name, default)
    if isinstance(value, bool) or not isinstance(value, int):
        raise LfnoError(f"{name} = {_short(value)} is not a whole number")
    if not 0 <= value <= high:
        raise LfnoError(f"{name} is not between 0 and {high}")
    return value


def word(query: Query, name: str, choices: Sequence[str] = ()) -> str:
    """Return query[name] as text. If `choices` are given, the text must be one of them."""
    value = query.get(name)
    if not isinstance(value, str):
        raise LfnoError(f"{name} = {_short(value)} is not a text")
    if choices and value not in choices:
        raise LfnoError(f"{name} {_short(value)} is not known; choose {', '.join(choices)}")
    return value


def _short(value: Any) -> str:
    """Return a value as text of at most 60 characters."""
    try:
        text = repr(value)
    except ValueError:  # a whole number with more digits than Python can convert to text
        return "given"
    return text if len(text) <= 60 else f"{text[:57]}…"
