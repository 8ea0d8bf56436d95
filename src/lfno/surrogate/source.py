"""Convert data of any supported kind to samples, split into training, validation and test."""

from __future__ import annotations

from typing import Any

import numpy as np

from lfno.core.checks import real_array
from lfno.core.errors import LfnoError
from lfno.core.grid import Grid
from lfno.data import prepare as preparing
from lfno.data import split as splits
from lfno.data.dataset import Dataset
from lfno.data.make import dataset as builtin
from lfno.data.prepared import Prepared
from lfno.data.split import Split


def prepared_from(
    data: Any, dt: float | None, split: Split | None, fold: int, reading: dict[str, Any]
) -> tuple[Prepared, bool]:
    """Return data of any supported kind as samples with a split, and whether the data are the user's own.

    data, dt, split, fold: arguments of `fitting.fit`.
    reading: options for reading a file and for cutting a record.
    """
    if isinstance(data, str) and not preparing.is_own(data):
        if reading:
            raise LfnoError(f"option {next(iter(reading))} is for files and records; {data!r} is a built-in data set")
        made = builtin(data)
        return Prepared(made, split or splits.of(made, fold), []), False
    if isinstance(data, Prepared):
        return data, True
    if isinstance(data, Dataset) and "system" in data.provenance:
        return Prepared(data, split or splits.of(data, fold), []), False
    if isinstance(data, tuple):
        data, dt = as_dataset(data, dt), None
    prepared = preparing.prepare(data, fold=fold, **reading | ({} if dt is None else {"dt": dt}))
    if split is not None:
        prepared = Prepared(prepared.dataset, split, prepared.notes, prepared.warmup)
    return prepared, True


def as_dataset(arrays: tuple[Any, ...], dt: float | None) -> Dataset:
    """Return a pair of arrays (inputs, outputs) as a data set with the time step `dt`.

    Each array has the shape (samples, time) or (samples, channels, time).
    """
    if dt is None:
        raise LfnoError("arrays need their sampling interval: fit((inputs, outputs), dt=0.01)")
    if len(arrays) != 2:
        raise LfnoError(f"{len(arrays)} arrays were given; a pair (inputs, outputs) is needed")
    pair = zip(("the inputs", "the outputs"), arrays, strict=True)
    inputs, outputs = (real_array(values, name, finite=True).astype(np.float64) for name, values in pair)
    inputs, outputs = (values[:, None] if values.ndim == 2 else values for values in (inputs, outputs))
    if inputs.ndim != 3 or outputs.ndim != 3:
        raise LfnoError(
            f"the arrays have shapes {inputs.shape} and {outputs.shape}; (samples, time) or (samples, channels, time) "
            "is needed, or a Dataset for fields"
        )
    return Dataset(inputs, outputs, Grid.line(inputs.shape[-1], dt))
