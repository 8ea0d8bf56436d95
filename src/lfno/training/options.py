"""Options as words: `name=value` from a command line to Python values."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import Any

from lfno.errors import LfnoError


def parse(words: Sequence[str]) -> dict[str, Any]:
    """["width=24", "steady=exact", "modes=(8, 8)"] → {"width": 24, "steady": "exact", "modes": (8, 8)}"""
    values: dict[str, Any] = {}
    for word in words:
        name, equals, text = word.partition("=")
        if not equals or not name.strip():
            raise LfnoError(f"{word!r} is not of the form name=value")
        try:
            values[name.strip()] = ast.literal_eval(text.strip())
        except (ValueError, SyntaxError):
            values[name.strip()] = text.strip()
    return values
