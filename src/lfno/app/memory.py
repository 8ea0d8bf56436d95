"""Return the freed memory of the server of the page to the operating system.

The server can run for days, and models are trained in other processes. Therefore the server returns freed memory at once. Every
connection has a thread. The GNU C library gives threads separate memory pools (arenas), and a pool keeps its freed memory.
Therefore the server also limits the number of pools.
"""

from __future__ import annotations

import ctypes

from lfno.core.allocator import M_ARENA_MAX, M_MMAP_MAX, M_TRIM_THRESHOLD, set_options

TRIM_THRESHOLD = 4 * 2**20  # bytes; a larger free block at the end of the heap is returned
MMAP_MAX = 65536  # largest number of arrays with their own memory mapping, which is returned when the array is freed
ARENAS = 2  # largest number of memory pools


def return_freed_memory() -> bool:
    """Set the memory options of the GNU C library. Return False if this is another C library, or if it refuses an option."""
    return set_options({M_MMAP_MAX: MMAP_MAX, M_TRIM_THRESHOLD: TRIM_THRESHOLD, M_ARENA_MAX: ARENAS})


def trim() -> None:
    """Return free memory in the middle of the heap to the operating system."""
    import gc

    gc.collect()
    try:
        ctypes.CDLL(None).malloc_trim(0)
    except (AttributeError, OSError, TypeError):
        return
