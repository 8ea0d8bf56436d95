"""Find out from the values of a column whether it is a time vector, row numbers or a constant."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from lfno.core.memory import BLOCK
from lfno.data.files.variables import Variable, Variables
from lfno.data.signals.sampling import SECONDS, first_not_later
from lfno.data.signals.vocabulary import COUNTERS, EITHER, INPUTS, OUTPUTS, SAMPLES, STEPS, bare_word

FEWEST_TIMES = 10  # values: a shorter column may increase in equal steps by chance, so it is not taken as the time


def extent(variable: Variable) -> tuple[int, ...]:
    """Return the shape without axes of size 1, which MATLAB gives to every vector."""
    return tuple(size for size in variable.shape if size > 1)


def is_signal(variable: Variable) -> bool:
    """Return whether a variable holds numbers, and more than one."""
    return variable.dtype.kind in "fiubc" and variable.size > 1


def increases(variable: Variable) -> bool:
    """Return whether each value of a vector is larger than the value before it. False if the values are not in memory."""
    values = variable.mapped
    return values is not None and values.dtype.kind in "fiu" and first_not_later(values.reshape(-1)) is None


def increases_evenly(variable: Variable, headed: bool) -> float | None:
    """Return the step of a column that can be a time vector; None if the column cannot be one.

    headed: whether the columns of the table have names.

    The column must not have the usual name of a signal or counter, and its unit must be a unit of time or unknown. It must have
    at least FEWEST_TIMES values, in memory or in a memory map, which increase in equal steps. The step must not be 1, because
    such a column may contain row numbers.

    >>> frames = np.arange(0, 60, 3)
    >>> increases_evenly(Variable.of("stamp", frames), True), increases_evenly(Variable.of("force", frames), True)
    (3.0, None)
    """
    values, word = variable.mapped, bare_word(variable.name)
    unit = variable.unit.lower().split()
    other = INPUTS | OUTPUTS | EITHER | SAMPLES | STEPS | (COUNTERS if headed else set())
    if word in other or (unit and unit[0] not in SECONDS):
        return None
    if values is None or variable.size < FEWEST_TIMES or values.dtype.kind not in "fiu":
        return None
    values = values.reshape(-1)
    step = float(values[1]) - float(values[0])
    digits = np.finfo(values.dtype).eps if values.dtype.kind == "f" else np.finfo(float).eps
    if not 0 < step < np.inf or step == 1:
        return None
    for a, b in neighbours(values):
        rounding = 4 * digits * float(np.abs(b[[0, -1]].astype(float)).max())
        if not (np.abs(b.astype(float) - a.astype(float) - step) <= 1e-6 * step + rounding).all():
            return None
    return step


def numbers_rows(variables: Variables, name: str) -> bool:
    """Return whether a column contains row numbers: 0, 1, 2, … or 1, 2, 3, … under a name such as "index". Add a note if so."""
    mapped = variables[name].mapped
    if bare_word(name) not in COUNTERS or mapped is None:
        return False
    values = mapped.reshape(-1)
    if values[0] not in (0, 1) or not all(np.array_equal(b, a + 1) for a, b in neighbours(values)):
        return False
    variables.notes.append(f"{name!r} contains row numbers and was left out")
    return True


def is_idle(variables: Variables, name: str) -> bool:
    """Return whether a column is constant and its name is not a usual name of an input or output. Add a note if so."""
    mapped = variables[name].mapped
    if bare_word(name) in INPUTS | OUTPUTS | EITHER or mapped is None or len(extent(variables[name])) != 1:
        return False
    if not all(np.array_equal(a, b) for a, b in neighbours(mapped.reshape(-1))):
        return False
    variables.notes.append(f"{name!r} is constant and was left out; name it as an input if it differs between runs")
    return True


def neighbours(values: np.ndarray) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Yield (values[:-1], values[1:]) in pieces of about 32 MB, because the file may be larger than memory."""
    for start in range(0, len(values) - 1, BLOCK // 8):
        piece = values[start : start + BLOCK // 8 + 1]
        yield piece[:-1], piece[1:]
