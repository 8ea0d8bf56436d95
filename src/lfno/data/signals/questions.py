"""Read a file for a prediction (a question to the model). The file must contain the inputs, and may contain the outputs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from lfno.core.errors import LfnoError, Option
from lfno.data.dataset import Dataset
from lfno.data.files import Variables, read
from lfno.data.files.variables import listing
from lfno.data.signals import is_dataset, read_signals
from lfno.data.signals.names import unnamed_clock
from lfno.data.signals.parts import join
from lfno.data.signals.record import Record
from lfno.data.signals.runs import Runs
from lfno.data.signals.vocabulary import COORDINATES, INPUTS, TIMES, bare_word


def load_question(
    path: str | Path, inputs: Sequence[str], outputs: Sequence[str], **reading: Any
) -> tuple[Record | Dataset, bool]:
    """Return (data, whether the file contains the outputs). If not, the data have no output channels.

    inputs, outputs: names of the channels that the model was trained with; empty if the model does not know them.
    reading: the options of `read_signals`.

    If the user does not name the input, the file is searched for the input names of the training. If the file lacks these
    names, the input is the only signal with the usual name of an input, or else the only signal besides time and outputs.
    Raises LfnoError if the input cannot be found.
    """
    if is_dataset(Path(path)):
        return _one_length(read_signals(path)), True
    variables = read(path)
    joined = join(variables)[0]
    asked, answered = reading.pop("input", None), reading.pop("output", None)
    known = [name for name in _bare(outputs) if name in joined]
    told = []
    if answered is None and known and len(known) == len(_bare(outputs)):
        answered = ",".join(known)
    if asked is None:
        asked = _inputs(joined, _bare(inputs), known if answered is None else answered.split(","), reading)
        if inputs and asked != ",".join(_bare(inputs)):
            told.append(f"{asked!r} is taken as the input, which was called {listing(_bare(inputs))} in training")
    if answered is not None:
        return _noted(_one_length(read_signals(variables, input=asked, output=answered, **reading)), told), True
    return _noted(_one_length(read_signals(variables, input=asked, output=(), **reading)), told), False


def _one_length(data: Record | Dataset | Runs) -> Record | Dataset:
    """Return runs of unequal length as trajectories as long as the longest run. The added samples are masked."""
    return data.padded() if isinstance(data, Runs) else data


def _noted(data: Record | Dataset, more: list[str]) -> Record | Dataset:
    """Return the data with more notes."""
    return replace(data, provenance={**data.provenance, "notes": [*data.provenance.get("notes", []), *more]})


def _bare(channels: Sequence[str]) -> list[str]:
    """Return the names of the variables that contain the channels. For the channels `f:0` and `f:1` this is `f`."""
    return list(dict.fromkeys(name.rpartition(":")[0] if name.rpartition(":")[2].isdecimal() else name for name in channels))


def _inputs(variables: Variables, trained: list[str], taken: Sequence[str], reading: dict[str, Any]) -> str:
    """Return the names of the inputs in the file, separated by commas. Raises LfnoError if they are ambiguous.

    trained: names of the inputs in training.
    taken: names of the outputs.
    reading: the options of `read_signals`.
    """
    if trained and all(name in variables for name in trained):
        return ",".join(trained)
    others = {*taken, reading.get("time"), reading.get("sample"), *unnamed_clock(variables, {*taken})}
    free = [
        name
        for name, variable in variables.entries.items()
        if name not in others and variable.numeric and variable.size > 1
        and bare_word(name) not in TIMES and name.lower() not in COORDINATES
    ]  # fmt: skip
    named = [name for name in free if bare_word(name) in INPUTS] or free
    if len(named) != 1:
        told = f"was trained on {listing(trained)}" if trained else "does not say what its input is called"
        raise LfnoError(
            f"{variables.source}: the model {told}, and the file has {listing(variables)}; name the input: ",
            Option("input", "NAME"),
        )
    return named[0]
