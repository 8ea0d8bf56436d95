"""Choose the length of the windows of a record.

A model computes every window from rest, but inside a record the system is in motion at the beginning of a window. The resulting
error decays within the memory of the system. The first samples of a window, the warm-up, are therefore not scored.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from lfno.core.errors import LfnoError, Option
from lfno.data.signals.record import Record
from lfno.data.system_memory import memory

USUAL = 512  # samples: length of a window if the memory is short and the record is long
LEAST = 16  # samples: length of the shortest window
SMALL = 32  # windows: if the memory is short, a window is so short that at least this many fit into all data
LARGE = 8  # windows: if the memory is long, a window is so short that at least this many fit into all data


def choose_windows(
    records: Sequence[Record], window: int | None = None, warmup: int | None = None
) -> tuple[int, int, int, str]:
    """Return (window, warm-up, memory, note): three lengths in samples and a sentence for the user.

    window, warmup: lengths in samples that the user gives; None to choose them from the data.

    The memory is estimated on the longest record. The warm-up is as long as the memory, and the scored part of a window is at
    least as long as the warm-up. If the memory is too long for this, up to three quarters of a window are warm-up, or up to
    half of a window that the user gives. A chosen window is at most 1/LARGE of all samples, and at most the median length of
    several runs, but at least LEAST samples longer than the warm-up. The returned memory is at least the warm-up.
    Raises LfnoError if the longest record is shorter than the shortest window, or if `window` or `warmup` is longer than all
    data.
    """
    record = max(records, key=len)
    step, unit, size = record.grid.axes[-1].step, record.grid.axes[-1].unit, sum(map(len, records))
    if len(record) < LEAST:
        raise LfnoError(f"a record of {len(record)} samples is too short: the shortest window has {LEAST} samples")
    most = max(window or 0, warmup or 0)
    if most > size:
        raise LfnoError(
            f"a window or warm-up of {most} samples is longer than all data ({size} samples); shorten it: ",
            Option("window", "SAMPLES"),
        )
    usual, longest = min(USUAL, max(size // SMALL, LEAST)), max(size // LARGE, LEAST)
    if len(records) > 1:
        longest = max(min(longest, int(np.median([len(one) for one in records]))), LEAST)
        usual = min(usual, longest)
    why, found = "as given", memory(record)
    if warmup is None:
        room = longest - max(longest // 4, LEAST) if window is None and longest >= 2 * LEAST else (window or longest) // 2
        warmup = min(found, room)
        why = f"the memory of the system is about {found * step:.3g} {unit}"
        if found > warmup:
            why += ", too long for this record"
    if window is None:
        window = max(min(max(usual, 2 * warmup), longest), warmup + LEAST)
    text = f"windows of {window} samples ({window * step:.4g} {unit}), the first {warmup} are warm-up and not scored: {why}"
    return window, warmup, max(found, warmup), text
