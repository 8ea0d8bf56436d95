"""Signals that never change: they cannot be learned, or cannot explain anything."""

from __future__ import annotations

from lfno.core.errors import LfnoError, Option
from lfno.data.dataset import Dataset, compact
from lfno.data.files.variables import listing
from lfno.data.signals.record import Record

FREE = "a free motion is explained by where it starts: give the initial state of each run as an input, one number for each run"


def check_variation(data: Record | Dataset) -> list[str]:
    """Return one note for each constant input; raise `LfnoError` if an output or all inputs are constant.

    >>> import numpy as np
    >>> from lfno.core.grid import Grid
    >>> inputs = np.stack([np.zeros((5, 20)), np.ones((5, 20)).cumsum(-1)], 1)
    >>> check_variation(Dataset(inputs, np.ones((5, 1, 20)).cumsum(-1), Grid.line(20, 0.1)))
    ["the input 'input0' is constant (0) and can explain nothing"]
    """
    batch = isinstance(data, Dataset)
    where = f"{data.provenance['source']}: " if data.provenance.get("source") else ""
    found: dict[str, list[tuple[str, float]]] = {}
    for role in ("input", "output"):
        values = getattr(data, f"{role}s")
        channels = compact(values).swapaxes(0, 1) if batch else values
        pairs = zip(getattr(data, f"{role}_channels"), channels, strict=True)
        found[role] = [(channel.name, float(own.flat[0])) for channel, own in pairs if own.size > 1 and own.min() == own.max()]
    for name, value in found["output"]:
        raise LfnoError(f"{where}the output {name!r} is constant ({value:g}): there is nothing to learn; leave it out")
    if len(found["input"]) == len(data.input_channels):
        names = listing([name for name, _ in found["input"]])
        said = f"{where}the input {names} is constant, so no response can be learned from it; {FREE}: "
        raise LfnoError(said, Option("input", "NAME"))
    return [f"the input {name!r} is constant ({value:g}) and can explain nothing" for name, value in found["input"]]
