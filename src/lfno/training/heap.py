"""Memory that a step has freed stays with the process for the next one.

Every step needs the same large arrays again. The GNU C library returns each of more than 32 MB to the system at once, which
then has to clear its pages again: a third of the time of a training step on long series.
"""

from __future__ import annotations

import ctypes
from functools import cache

M_TRIM_THRESHOLD, M_MMAP_MAX = -1, -4  # as in malloc.h


@cache
def keep_freed_memory() -> bool:
    """Whether it was possible: other C libraries do as they do."""
    try:
        mallopt = ctypes.CDLL(None).mallopt
    except (AttributeError, OSError, TypeError):
        return False
    return bool(mallopt(M_MMAP_MAX, 0) and mallopt(M_TRIM_THRESHOLD, 2**31 - 1))
