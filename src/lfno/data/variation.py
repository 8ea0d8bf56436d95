"""Find constant signals. A model cannot learn a constant output, and an output cannot depend on a constant input."""

from __future__ import annotations

import numpy as np

from lfno.core.errors import LfnoError, Option
from lfno.data.dataset import Dataset, compact
from lfno.data.files.variables import listing
from lfno.data.signals.record import Record
from lfno.data.signals.runs import Runs

#: advice in the error message for constant inputs
FREE = "if the motion is free, give the initial state of each run as the input, one number for each run"


def check_variation(data: Record | Dataset | Runs) -> list[str]:
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


def _pieces(data: Record | Dataset | Runs, role: str, channel: int) -> list[np.ndarray]:
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
