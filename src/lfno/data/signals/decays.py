"""Read records without an input: free decays, measured after the force has ended."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from lfno.core.errors import LfnoError
from lfno.data.dataset import Dataset
from lfno.data.files import Variable, Variables, read
from lfno.data.signals import read_signals
from lfno.data.signals.parts import join
from lfno.data.signals.record import Record
from lfno.data.signals.runs import Runs

#: name of the placeholder for the missing input
ABSENT = "no input"


def load_decays(path: str | Path, output: str, **reading: Any) -> Record | Dataset:
    """Return the outputs of a file that was measured without an input. The result has one input, which is zero.

    Runs of unequal length become trajectories of one length, with a mask.

    output: names of the outputs, separated by commas.
    reading: the other options of `lfno.data.signals.read_signals`, except `input`.
    Raises LfnoError if the file lacks an output.
    """
    variables = read(path)
    joined = join(variables)[0]
    names = [name.strip() for name in output.split(",")]
    missing = [name for name in names if name not in joined]
    if missing:
        raise LfnoError(f"{variables.source}: there is no {missing[0]!r}; the file has {', '.join(joined.entries)}")
    like = joined[names[0]]
    ramp = Variable.of(ABSENT, np.linspace(0, 1, like.size).reshape(like.shape), axes=like.axes)
    extended = Variables(joined.source, {**joined.entries, ABSENT: ramp}, list(joined.notes), joined.row)
    found = read_signals(extended, input=ABSENT, output=output, **reading)
    data = found.padded() if isinstance(found, Runs) else found
    notes = [note for note in data.provenance.get("notes", []) if ABSENT not in note]
    return replace(data, inputs=np.zeros(data.inputs.shape), provenance={**data.provenance, "notes": notes})
