"""Ask the C library to keep freed memory for the next training step.

The GNU C library returns every array of more than 32 MB to the operating system as soon as the array is freed. The next
training step needs an array of the same size, and the operating system must clear new memory pages. On long series this takes a
third of the training time. The setting holds for the whole process. Therefore only the command line uses this module.
"""

from __future__ import annotations

from functools import cache

from lfno.core.allocator import M_MMAP_MAX, M_TRIM_THRESHOLD, set_options

NEVER = 2**31 - 1  # bytes; the largest value of an option


@cache
def keep_freed_memory() -> bool:
    """Make the C library keep freed memory. Returns False if the C library has no such setting or refuses it."""
    return set_options({M_MMAP_MAX: 0, M_TRIM_THRESHOLD: NEVER})
