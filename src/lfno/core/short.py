"""`Short`: a `repr` of one short line for dataclasses with large fields."""

from __future__ import annotations

import math
from dataclasses import fields
from typing import Any

#: largest number of characters of a `repr`; a longer `repr` is cut
LONGEST = 140
#: largest number of characters of a word in a `repr`; a longer word is left out
LONGEST_WORD = 30


class Short:
    """A base class for dataclasses: its `repr` shows numbers and short words, shapes of arrays and sizes of collections.

    Decorate the subclass with `@dataclass(repr=False)`. Floats have four digits. All other kinds of fields are left out, also
    None, empty fields, words of more than LONGEST_WORD characters, and fields whose name begins with `_`.

    >>> from dataclasses import dataclass
    >>> import numpy as np
    >>> @dataclass(repr=False)
    ... class Curve(Short):
    ...     name: str
    ...     values: np.ndarray
    ...     notes: list[str]
    >>> Curve("force", np.zeros((2, 1000)), ["smoothed"])
    Curve(name='force', values: 2 × 1000, notes: 1 item)
    """

    def __repr__(self) -> str:
        told = [_told(each.name, getattr(self, each.name)) for each in fields(self) if each.repr]  # type: ignore[arg-type]
        return shortened(f"{type(self).__name__}({', '.join(filter(None, told))})")


def shortened(line: str) -> str:
    """Return a line that ends in a bracket, cut to LONGEST characters."""
    return line if len(line) <= LONGEST else f"{line[: LONGEST - 2]}…)"


def _told(name: str, value: Any) -> str:
    """Return the text of one field; empty if the field is left out."""
    if value is None or name.startswith("_"):
        return ""
    if isinstance(value, (bool, int, complex)):
        return f"{name}={value}"
    if isinstance(value, float):
        return f"{name}={value:.4g}" if math.isfinite(value) else f"{name}={value}"
    if isinstance(value, str):
        return f"{name}={value!r}" if 0 < len(value) <= LONGEST_WORD else ""
    if isinstance(shape := getattr(value, "shape", None), tuple):
        return f"{name}: {' × '.join(map(str, shape))}" if shape else ""
    if isinstance(value, (list, tuple, dict)):
        return f"{name}: {len(value)} item{'' if len(value) == 1 else 's'}" if value else ""
    return ""
