"""Return freed memory of the page to the operating system.

The command line keeps freed memory for the next training step. The page trains in other processes and stays open for
days, so the page returns freed memory at once. Every connection has a thread. The GNU C library gives threads separate
memory pools (arenas), and a pool keeps its freed memory. The page therefore limits the number of pools.
"""

from __future__ import annotations

import ctypes

M_TRIM_THRESHOLD, M_MMAP_MAX, M_ARENA_MAX = -1, -4, -8  # numbers of the options in malloc.h
TRIM_THRESHOLD = 4 * 2**20  # bytes; a larger free block at the end of the heap is returned
MMAP_MAX = 65536  # large arrays with a mapping of their own, at most; a mapping is returned when its array is freed
ARENAS = 2  # memory pools of all threads together


def return_freed_memory() -> bool:
    """Set the memory options of the C library. Return True if they were accepted; only the GNU C library has them."""
    try:
        mallopt = ctypes.CDLL(None).mallopt
    except (AttributeError, OSError, TypeError):
        return False
    return bool(mallopt(M_MMAP_MAX, MMAP_MAX) and mallopt(M_TRIM_THRESHOLD, TRIM_THRESHOLD) and mallopt(M_ARENA_MAX, ARENAS))


def trim() -> None:
    """Return free memory in the middle of the heap to the operating system."""
    import gc

    gc.collect()
    try:
        ctypes.CDLL(None).malloc_trim(0)
    except (AttributeError, OSError, TypeError):
        return
