"""Limits on the memory of an array. Larger arrays are stored in files on disk."""

from __future__ import annotations

import math
import os
import shutil
import tempfile
from pathlib import Path

import numpy as np

from lfno.core.errors import LfnoError

#: bytes that are read, converted or scanned at once
BLOCK = 32 * 2**20
#: share of the free memory that one array may take
SHARE = 0.25
#: compressed data that expand to fewer bytes than this are always accepted
BOMB_SIZE = 2**30
#: larger data are refused as a decompression bomb if they expand by more than this factor
BOMB_RATIO = 200


def available() -> int:
    """Return the number of bytes of memory that this process can still take, on the machine and in its container.

    If the system does not state the free memory, the result is half of the physical memory. If the physical memory is unknown,
    too, the result is 4 GB.
    """
    try:
        lines = Path("/proc/meminfo").read_text().splitlines()
        free = next(int(line.split()[1]) * 1024 for line in lines if line.startswith("MemAvailable"))
    except (OSError, StopIteration, ValueError):
        free = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // 2 if hasattr(os, "sysconf") else 4 * 2**30
    try:
        limit = int(Path("/sys/fs/cgroup/memory.max").read_text())
        used = int(Path("/sys/fs/cgroup/memory.current").read_text())
    except (OSError, ValueError):
        return free
    return min(free, limit - used)


def free_disk(path: Path) -> int:
    """Return the number of free bytes on the disk of `path`. The file or folder `path` need not exist yet."""
    return shutil.disk_usage(next(place for place in (path, *path.resolve().parents) if place.exists())).free


def human(size: float) -> str:
    """Format a number of bytes. 1 kB is 1024 bytes.

    >>> human(3 * 2**30)
    '3.0 GB'
    """
    for unit in ("bytes", "kB", "MB", "GB"):
        if size < 1024 or unit == "GB":
            return f"{size:.0f} {unit}" if unit == "bytes" else f"{size:.1f} {unit}"
        size /= 1024
    return ""


def allocate(shape: tuple[int, ...], notes: list[str], what: str, keep_double: bool = False) -> np.ndarray:
    """Return an array without values: float64 in memory if it fits, else float32 in memory, else a file on disk.

    An array fits into memory if it takes at most the share SHARE of the free memory. The file holds float32 values. With
    `keep_double`, float32 is never used, and the file holds float64 values.

    shape: the shape of the array.
    notes: a list of messages to the user. A message is added if the array is not float64 in memory.
    what: the name of the array in messages.
    keep_double: whether the array must be float64. Time stamps need this precision.

    The file on disk has no name and disappears with the array. Raises LfnoError if the disk has too little free space.
    """
    count, budget = math.prod(shape), SHARE * available()
    double = 8 * count
    if double <= budget:
        return np.empty(shape)
    dtype = np.dtype(np.float64 if keep_double else np.float32)
    size = dtype.itemsize * count
    if size <= budget:
        notes.append(f"{what} would take {human(double)} of memory as float64 and is kept as float32 ({human(size)})")
        return np.empty(shape, dtype)
    directory = tempfile.gettempdir()
    stats = os.statvfs(directory) if hasattr(os, "statvfs") else None
    if stats is not None and stats.f_bavail * stats.f_frsize < size:
        raise LfnoError(
            f"{what} takes {human(size)}, more than a quarter of the free memory and more than is free in {directory}; "
            "set TMPDIR to a larger disk or use a part of the file"
        )
    notes.append(f"{what} takes {human(size)}, over a quarter of the free memory: streamed to a {dtype} file on disk")
    with tempfile.TemporaryFile(dir=directory) as file:
        return np.memmap(file, dtype, "w+", shape=shape)


def refuse_bomb(where: str, stored: int, expanded: int) -> None:
    """Raise LfnoError if compressed data of `stored` bytes expand to an implausible number of bytes.

    where: the file, and the variable if it has a name, for the error message.
    stored: the number of compressed bytes in the file.
    expanded: the number of bytes after decompression, as the file states it. Nothing has been decompressed yet.
    """
    if expanded > BOMB_SIZE and expanded > BOMB_RATIO * max(stored, 1):
        raise LfnoError(
            f"{where} says that {human(stored)} expand to {human(expanded)}, which no measurement does: "
            "the file is damaged or hostile; write it again without compression"
        )
