"""Parse options of the form `name=value` from a command line into Python values."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import Any

from lfno.core.errors import LfnoError

#: words that stand for a Python value, in lower case
WORDS = {"true": True, "false": False, "none": None}


def parse(words: Sequence[str] | None) -> dict[str, Any]:
    """Return name of the option -> value. A value is a number, true, false, none, text, or several values separated by commas.

    words: options of the form `name=value`. Raises LfnoError for another form.

    >>> parse(["width=24", "steady=exact", "modes=8,8", "skip=true"])
    {'width': 24, 'steady': 'exact', 'modes': (8, 8), 'skip': True}
    """
    values: dict[str, Any] = {}
    for word in words or []:
        name, equals, text = (part.strip() for part in word.partition("="))
        if not (name and equals and text):
            raise LfnoError(f"--set {word} is not of the form name=value, as in --set width=24")
        try:
            values[name] = ast.literal_eval(text)
        except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
            values[name] = WORDS.get(text.lower(), text)
    return values
