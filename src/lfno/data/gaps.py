"""After a long gap in the inputs the outputs depend on inputs that nobody knows: they do not count for a while."""

from __future__ import annotations

from dataclasses import replace
from typing import TypeVar

import numpy as np

from lfno.data.dataset import Dataset
from lfno.data.signals.record import INPUT_GAPS, Record

Data = TypeVar("Data", Record, Dataset)


def after_gaps(data: Data, memory: int | None = None) -> Data:
    """Mask the outputs for `memory` steps after each long gap of the inputs; None: to the end of the run.

    Trajectories are answered whole, from rest, so nothing after the gap can be judged. A record is answered in windows
    with a warm-up as long as the memory of the system, so what comes later than that counts again.
    """
    gaps = data.provenance.get(INPUT_GAPS)
    if not gaps:
        return data
    mask = np.array(np.broadcast_to(True if data.mask is None else data.mask, data.outputs.shape))
    runs = mask if isinstance(data, Dataset) else mask[None]
    for sample, _, stop in gaps:
        runs[sample, ..., stop : None if memory is None else stop + memory] = False
    return replace(data, mask=mask)
