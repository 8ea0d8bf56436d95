"""Ask the C library to keep freed memory for the next training step.

The GNU C library returns every array of more than 32 MB to the system as soon as it is freed. The next training step
needs an array of the same size, and the system clears its pages again. This costs a third of a step on long series.
The setting holds for the whole process, so only the command line, which owns its process, makes it.
"""

from __future__ import annotations

import ctypes
from functools import cache

M_TRIM_THRESHOLD, M_MMAP_MAX = -1, -4  # as in malloc.h


@cache
def keep_freed_memory() -> bool:
    """Return True if the C library accepted the setting; only the GNU C library knows it."""
    try:
        mallopt = ctypes.CDLL(None).mallopt
    except (AttributeError, OSError, TypeError):
        return False
    return bool(mallopt(M_MMAP_MAX, 0) and mallopt(M_TRIM_THRESHOLD, 2**31 - 1))
