"""Help for tests: read JSON as the standard defines it."""

from __future__ import annotations

import json
from typing import Any


def strictly_read(text: str) -> Any:
    """Return the tree in a JSON text. Raise ValueError for the words NaN and Infinity, which JSON does not have."""

    def refuse(word: str) -> None:
        raise ValueError(word)

    return json.loads(text, parse_constant=refuse)
