"""Ask the C library to keep freed memory for the next training step.

The GNU C library returns every array of more than 32 MB to the operating system as soon as the array is freed. The next
training step needs an array of the same size, and the operating system must clear new memory pages. On long series this takes a
third of the training time. The setting holds for the whole process. Therefore only the command line uses this module.
"""

from __future__ import annotations

import ctypes
from functools import cache

M_TRIM_THRESHOLD = -1  # number of an option in malloc.h: bytes that may stay free before memory is returned
M_MMAP_MAX = -4  # number of an option in malloc.h: how many arrays may have a memory mapping of their own
NEVER = 2**31 - 1  # bytes; the largest value of an option


@cache
def keep_freed_memory() -> bool:
    """Make the C library keep freed memory. Returns False if the C library has no such setting or refuses it."""
    try:
        mallopt = ctypes.CDLL(None).mallopt
    except (AttributeError, OSError, TypeError):
        return False
    return bool(mallopt(M_MMAP_MAX, 0) and mallopt(M_TRIM_THRESHOLD, NEVER))
