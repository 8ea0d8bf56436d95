"""Read records without an input: free decays, measured after the force has ended."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from lfno.core.errors import LfnoError
from lfno.data.dataset import Dataset
from lfno.data.files import read
from lfno.data.signals import read_signals
from lfno.data.signals.parts import join
from lfno.data.signals.record import Record
from lfno.data.signals.runs import Runs


def load_decays(path: str | Path, output: str, **reading: Any) -> Record | Dataset:
    """Return the outputs of a file that was measured without an input. The result has no input channels.

    Runs of unequal length become trajectories of one length, with a mask.

    output: names of the outputs, separated by commas.
    reading: the other options of `lfno.data.signals.read_signals`, except `input`.
    Raises LfnoError if the file lacks an output.
    """
    variables = read(path)
    known = join(variables)[0]
    missing = [name for name in (part.strip() for part in output.split(",")) if name not in known]
    if missing:
        raise LfnoError(f"{variables.source}: there is no {missing[0]!r}; the file has {', '.join(known.entries)}")
    found = read_signals(variables, input=(), output=output, **reading)
    return found.padded() if isinstance(found, Runs) else found
