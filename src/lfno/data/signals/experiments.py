"""Separate the experiments of one file by the names of their arrays.

Such names are `uEst`, `yEst`, `uVal`, `yVal` (parts of the split), or `u_100mV`, `y_100mV`, `u_200mV`, `y_200mV` (levels: the
amplitudes of the input).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from lfno.data.files.variables import Variable, Variables
from lfno.data.signals.columns import extent
from lfno.data.signals.parts import SUFFIXES

#: words at the end of a name -> part of the split. MATLAB users call the training data "estimation" or "identification" data
WORDS = SUFFIXES | {"est": "train", "estim": "train", "estimation": "train", "id": "train", "ident": "train"}
_UNDERSCORE = re.compile(rf"^(?P<base>.+)_(?P<part>{'|'.join(WORDS)})$", re.IGNORECASE)
_CAMEL = re.compile(rf"^(?P<base>.*[a-z0-9])(?P<part>{'|'.join(word.capitalize() for word in WORDS)})$")
#: a name with a level: the field `u` and the level `100mV` of `u_100mV`
_LEVEL = re.compile(r"^(?P<field>[A-Za-z]+)_?(?P<level>\d.*)$")

REPEATS = 0.2  # share of the RMS of an array: if neighbours along an axis differ by less, it can be the axis of periods


def named(variables: Variables, names: Sequence[str | None]) -> Variables:
    """Leave out the signals of other experiments if the user names the signals of one.

    names: the inputs and the outputs that the user names, "u" or "u,v"; "" for none, and None for names that the user does not
        state.
    Only arrays with four axes and names with a part of the split (`u_test`) are left out.
    """
    wanted = {part.strip() for text in names if text for part in text.split(",")}
    if None in names or not wanted <= {*variables.entries}:
        return variables
    kept = {
        name: variable
        for name, variable in variables.entries.items()
        if name in wanted or (len(variable.shape) != 4 and _part(name) is None)
    }
    return Variables(variables.source, kept, variables.notes, variables.row)


def by_part(variables: Variables) -> dict[str, Variables] | None:
    """Return part of the split -> its variables, for names such as `uEst`, `yEst`, `uVal` and `yVal`.

    The variables lose the end of their names. A variable without such an end belongs to every part. The parts are "train" and
    "test", or "train", "validation" and "test": without test data, the validation data are for the test.
    Returns None unless every signal has the same parts, and for arrays (sample, time), which `lfno.data.signals.parts` joins.

    >>> arrays = {name: np.ones(9) for name in ("uEst", "yEst", "uVal", "yVal")}
    >>> {part: [*found] for part, found in by_part(Variables.of(arrays)).items()}
    {'train': ['u', 'y'], 'test': ['u', 'y']}
    """
    found: dict[str, dict[str, Variable]] = {}
    shared: dict[str, Variable] = {}
    for name, variable in variables.entries.items():
        match = _part(name)
        if match is None or variable.size < 2:
            shared[name] = variable
        else:
            base, part = match
            found.setdefault(part, {})[base] = replace(variable, name=base)
    if "test" not in found and "validation" in found:
        found["test"] = found.pop("validation")
    alike = len({frozenset(entries) for entries in found.values()}) == 1
    if not {"train", "test"} <= {*found} or not alike or len(found["train"]) < 2:
        return None
    if not all(len(extent(one)) == 1 or len(one.shape) == 4 for entries in found.values() for one in entries.values()):
        return None
    return {
        part: Variables(variables.source, shared | found[part], list(variables.notes) if part == "train" else [], variables.row)
        for part in ("train", "validation", "test")
        if part in found
    }


def _part(name: str) -> tuple[str, str] | None:
    """Return (name without its end, part of the split); None if the name does not end with a part.

    >>> _part("u_100mV_train"), _part("yVal"), _part("interval")
    (('u_100mV', 'train'), ('y', 'validation'), None)
    """
    match = _UNDERSCORE.match(name) or _CAMEL.match(name)
    return None if match is None else (match["base"], WORDS[match["part"].lower()])


def levels(arrays: dict[str, Variable]) -> list[dict[str, Variable]]:
    """Return the arrays of each level: `u_100mV` and `y_100mV` are the arrays `u` and `y` of one level.

    Without such names, or if the levels have different fields, all arrays belong to one level and keep their names.
    """
    found: dict[str, dict[str, Variable]] = {}
    for name, variable in arrays.items():
        match = _LEVEL.match(name)
        if match is None:
            return [arrays]
        found.setdefault(match["level"], {})[match["field"]] = replace(variable, name=match["field"])
    alike = len({frozenset(entries) for entries in found.values()}) == 1
    return list(found.values()) if len(found) > 1 and alike and len(next(iter(found.values()))) > 1 else [arrays]


def runs_of(values: dict[str, np.ndarray]) -> tuple[list[dict[str, np.ndarray]], int, int]:
    """Return (arrays of each realisation, number of samples of a period, number of periods).

    values: name -> array with four axes. The first axis is the time within a period. The axis of periods is the axis along
        which the values of an array repeat; if there is none, the last axis. The second axis has the channels, unless it has
        the periods. All other axes are realisations.

    Each realisation is a mapping name -> array (time, channel) with its periods one after the other.
    """
    shape = next(iter(values.values())).shape
    repeating = {axis: min(_change(array, axis) for array in values.values()) for axis in (1, 2, 3) if shape[axis] > 1}
    axis = min(repeating, key=lambda k: repeating[k]) if repeating and min(repeating.values()) < REPEATS else 3
    channel = 1 if axis != 1 else None
    others = [k for k in (1, 2, 3) if k not in (axis, channel)]
    period, periods = shape[0], shape[axis]
    joined = {}
    for name, array in values.items():
        ordered = array[..., None] if channel is None else array
        order = (*others, axis, 0, 4 if channel is None else 1)
        joined[name] = ordered.transpose(order).reshape(-1, periods * period, ordered.shape[order[-1]])
    count = len(next(iter(joined.values())))
    return [{name: array[k] for name, array in joined.items()} for k in range(count)], period, periods


def _change(values: np.ndarray, axis: int) -> float:
    """Return the RMS difference between neighbours along an axis, divided by the RMS of the values."""
    size = float(np.sqrt(np.nanmean(np.square(values))))
    return float(np.sqrt(np.nanmean(np.square(np.diff(values, axis=axis))))) / size if size > 0 else np.inf
