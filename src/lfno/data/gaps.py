"""Mask the outputs after a long gap in the inputs, because they depend on inputs that were not measured."""

from __future__ import annotations

from dataclasses import replace
from typing import TypeVar

import numpy as np

from lfno.data.dataset import Dataset
from lfno.data.signals.record import INPUT_GAPS, Record

Data = TypeVar("Data", Record, Dataset)


def after_gaps(data: Data, memory: int | None = None) -> Data:
    """Return the data with the outputs masked for `memory` steps after each long gap; None masks to the end of the run.

    A model computes a trajectory as a whole, from rest, so no output after the gap can be scored. A model computes a record in
    windows with a warm-up as long as the memory of the system, so outputs that come later than the memory are scored again.
    """
    gaps = data.provenance.get(INPUT_GAPS)
    if not gaps:
        return data
    mask = np.array(np.broadcast_to(True if data.mask is None else data.mask, data.outputs.shape))
    runs = mask if isinstance(data, Dataset) else mask[None]
    for sample, _, stop in gaps:
        runs[sample, ..., stop : None if memory is None else stop + memory] = False
    return replace(data, mask=mask)
