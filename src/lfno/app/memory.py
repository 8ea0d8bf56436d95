"""Memory of the page: what a model or a solution no longer needs goes back to the system.

The command line keeps freed memory for the next training step. A page trains in other processes and stays open for days,
so it does the opposite. Every connection is a thread, and the GNU C library gives threads pools of their own, which keep
what they once held: the page uses few of them.
"""

from __future__ import annotations

import ctypes

M_TRIM_THRESHOLD, M_MMAP_MAX, M_ARENA_MAX = -1, -4, -8  # as in malloc.h
TRIM_THRESHOLD = 4 * 2**20  # bytes at the end of the heap that are returned
MMAP_MAX = 65536  # large arrays at a time that are returned as soon as they are freed
ARENAS = 2  # pools of all threads


def return_freed_memory() -> bool:
    """Let freed memory return to the system; True if the C library accepted it, which only the GNU one does."""
    try:
        mallopt = ctypes.CDLL(None).mallopt
    except (AttributeError, OSError, TypeError):
        return False
    return bool(mallopt(M_MMAP_MAX, MMAP_MAX) and mallopt(M_TRIM_THRESHOLD, TRIM_THRESHOLD) and mallopt(M_ARENA_MAX, ARENAS))


def trim() -> None:
    """Return what is free now in the middle of the heap."""
    import gc

    gc.collect()
    try:
        ctypes.CDLL(None).malloc_trim(0)
    except (AttributeError, OSError, TypeError):
        return
