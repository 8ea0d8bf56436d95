"""Keep the memory of a training step for the next one, on a CPU.

A step frees its fields in the backward pass. glibc then gives the memory back to the operating system, and the next step
faults every page of it in again, which takes a sixth of a step of the default LFNO.
"""

from __future__ import annotations

import ctypes
import sys
from functools import cache

#: parameters of glibc's mallopt
TRIM_THRESHOLD, MMAP_THRESHOLD = -1, -3
#: bytes that stay with the process after they were freed: more than the fields of a step of the default networks
KEPT = 2**29
#: bytes from which on an array has pages of its own, which go back when it is freed: glibc's own largest value
LARGE = 2**25


@cache
def keep_freed_memory() -> None:
    """Ask the allocator of this process to keep up to KEPT bytes. Does nothing where the C library has no such parameter."""
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None) if sys.platform == "linux" else None
    if mallopt is not None:
        mallopt(MMAP_THRESHOLD, LARGE)
        mallopt(TRIM_THRESHOLD, KEPT)
