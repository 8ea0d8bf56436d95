"""Options of the memory allocation of the GNU C library."""

from __future__ import annotations

import ctypes

M_TRIM_THRESHOLD = -1  # number of the option in malloc.h: a larger free block at the end of the heap, in bytes, is returned
M_MMAP_MAX = -4  # number of the option in malloc.h: largest number of arrays with their own memory mapping
M_ARENA_MAX = -8  # number of the option in malloc.h: largest number of memory pools for threads


def set_options(options: dict[int, int]) -> bool:
    """Set options of `mallopt` for the whole process.

    Args:
        options: The number of an option → its value. The numbers are the constants of this module.

    Returns:
        True if the GNU C library accepts all options; False for another C library, or if the library refuses an option.

    >>> accepted = set_options({M_ARENA_MAX: 8})
    """
    try:
        mallopt = ctypes.CDLL(None).mallopt
    except (AttributeError, OSError, TypeError):
        return False
    return all(mallopt(option, value) for option, value in options.items())
