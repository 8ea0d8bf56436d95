"""Mask the outputs after a long gap in the inputs. These outputs depend on inputs that were not measured."""

from __future__ import annotations

from dataclasses import replace
from typing import TypeVar

import numpy as np

from lfno.data.dataset import INPUT_GAPS, Dataset
from lfno.data.signals.record import Record

Data = TypeVar("Data", Record, Dataset)


def after_gaps(data: Data, memory: int | None = None) -> Data:
    """Return the data with a mask that is False for the outputs after each long gap in the inputs.

    memory: number of masked samples after a gap; None masks all samples to the end of the run.

    Use None for trajectories: a model computes a trajectory from its beginning, so every output after a gap is affected. For
    a record, use the memory of the system: an output that comes later no longer depends on the inputs in the gap.
    """
    gaps = data.provenance.get(INPUT_GAPS)
    if not gaps:
        return data
    mask = np.array(np.broadcast_to(True if data.mask is None else data.mask, data.outputs.shape))
    runs = mask if isinstance(data, Dataset) else mask[None]
    for sample, _, stop in gaps:
        runs[sample, ..., stop : None if memory is None else stop + memory] = False
    return replace(data, mask=mask)
