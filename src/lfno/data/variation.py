"""Find constant signals. A model cannot learn a constant output, and an output cannot depend on a constant input."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from lfno.core.errors import LfnoError, Option
from lfno.data.dataset import Dataset, compact
from lfno.data.files.variables import listing
from lfno.data.signals.record import Record
from lfno.data.signals.runs import Runs

Signals = Record | Dataset | Runs

#: advice in the error message for constant inputs
FREE = "choose another input; for free motion, choose the initial state as the input, a variable with one number for each run"


def check_variation(data: Signals) -> list[str]:
    """Return one note for each constant input. Raises LfnoError if an output is constant, or if all inputs are constant.

    >>> from lfno.core.grid import Grid
    >>> inputs = np.stack([np.zeros((5, 20)), np.ones((5, 20)).cumsum(-1)], 1)
    >>> check_variation(Dataset(inputs, np.ones((5, 1, 20)).cumsum(-1), Grid.line(20, 0.1)))
    ["the input 'input0' is constant (0): the outputs cannot depend on it"]
    """
    where = f"{data.provenance['source']}: " if data.provenance.get("source") else ""
    found: dict[str, list[tuple[str, float]]] = {}
    for role in ("input", "output"):
        found[role] = [
            (channel.name, low)
            for k, channel in enumerate(getattr(data, f"{role}_channels"))
            if (low := _constant(_pieces(data, f"{role}s", k))) is not None
        ]
    for name, value in found["output"]:
        raise LfnoError(f"{where}the output {name!r} is constant ({value:g}): there is nothing to learn; leave it out")
    if len(found["input"]) == len(data.input_channels):
        names = listing([name for name, _ in found["input"]])
        said = f"{where}the input {names} is constant, so a model cannot learn the response to it; {FREE}: "
        raise LfnoError(said, Option("input", "NAME"))
    return [f"the input {name!r} is constant ({value:g}): the outputs cannot depend on it" for name, value in found["input"]]


def without_constant_outputs(data: Signals) -> tuple[Signals, list[str]]:
    """Leave out the outputs that are constant in all runs, and return (data, one note for each of them).

    This is for outputs that were found by their names. If all outputs are constant, they stay.
    """
    values = [_constant(_pieces(data, "outputs", k)) for k in range(len(data.output_channels))]
    kept = [channel.name for channel, value in zip(data.output_channels, values, strict=True) if value is None]
    if not kept or len(kept) == len(values):
        return data, []
    notes = [
        f"{channel.name!r} is constant ({value:g}) and was left out"
        for channel, value in zip(data.output_channels, values, strict=True)
        if value is not None
    ]
    return with_outputs(data, kept), notes


def with_outputs(data: Signals, names: list[str]) -> Signals:
    """Return the data with these outputs only; unchanged if one of the names is not an output of the data."""
    own = [channel.name for channel in data.output_channels]
    if names == own or not {*names} <= {*own}:
        return data
    if isinstance(data, Runs):
        return replace(data, records=tuple(_with(record, names) for record in data.records))
    kept: Record | Dataset = _with(data, names)
    return kept


def _with(data: Record | Dataset, names: list[str]) -> Any:
    """Return `with_outputs` of one record or of trajectories of one length, which must have these outputs."""
    index = [[channel.name for channel in data.output_channels].index(name) for name in names]
    axis = 1 if isinstance(data, Dataset) else 0
    mask = None if data.mask is None else data.mask.take(index, axis)
    channels = tuple(data.output_channels[k] for k in index)
    return replace(data, outputs=data.outputs.take(index, axis), output_channels=channels, mask=mask)


def _pieces(data: Signals, role: str, channel: int) -> list[np.ndarray]:
    """Return the values of one channel: one array for a data set or a record, one array per run for `Runs`."""
    if isinstance(data, Dataset):
        return [compact(getattr(data, role))[:, channel]]
    return [getattr(record, role)[channel] for record in (data.records if isinstance(data, Runs) else (data,))]


def _constant(pieces: list[np.ndarray]) -> float | None:
    """Return the value of a constant channel; None if the channel changes or has only one value."""
    if sum(piece.size for piece in pieces) < 2:
        return None
    low, high = min(piece.min() for piece in pieces if piece.size), max(piece.max() for piece in pieces if piece.size)
    return float(low) if low == high else None
