"""Find the time, the inputs and the outputs among the variables. The user names them, or their names are unambiguous."""

from __future__ import annotations

import re
from dataclasses import dataclass
from fnmatch import fnmatchcase

import numpy as np

from lfno.core.errors import LfnoError, Option
from lfno.data.files.variables import Variables, listing
from lfno.data.signals.columns import extent, increases, increases_evenly, is_idle, is_signal, numbers_rows
from lfno.data.signals.sampling import SECONDS
from lfno.data.signals.vocabulary import COORDINATES, EITHER, RATES, STEPS, TIMES, bare_word, likely, side


@dataclass(frozen=True)
class Roles:
    """Names of the variables in each role.

    inputs, outputs: names of the signals. A record without an input has no inputs; a record to be predicted has no outputs.
    times: one time vector, or two: the time of the input and the time of the output. Empty if the file has none.
    coordinates: vectors of positions, such as x.
    """

    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    times: tuple[str, ...]
    coordinates: tuple[str, ...]


def find_roles(
    variables: Variables, input: str | None, output: str | None, time: str | None, without_clock: bool
) -> Roles:
    """Return the roles of the variables. Roles that the user does not state are found from the names.

    input, output, time: names from the user, or None. "" for a record without inputs or without outputs.
    without_clock: whether the user gives the time step, so that no time vector is needed.
    Raises LfnoError if the roles are ambiguous.
    """
    if input == output == "":
        raise LfnoError("a record needs at least one input or output")
    inputs, outputs = (_given(variables, names) for names in (input, output))
    clocks = _given(variables, time) or (() if without_clock else find_clocks(variables, {*inputs, *outputs}))
    both = sorted({*inputs} & {*outputs})
    if both:
        raise LfnoError(f"{listing(both)} is named as input and as output")
    taken = {*inputs, *outputs, *clocks}
    coordinates = tuple(name for name in variables if name not in taken and _is_coordinate(variables, name))
    if None in (input, output):
        rest = _signals(variables, {*taken, *coordinates}, clocks)
        untimed = not (clocks or without_clock or sampling_step(variables))
        inputs, outputs = _guess(variables, _with_parts(variables, rest, taken), inputs, outputs, untimed)
    if time is None and len(clocks) > 1:
        clocks = _one_each(variables, clocks, inputs, outputs)
    return Roles(inputs, outputs, clocks, coordinates)


def proposal(variables: Variables) -> dict[str, str]:
    """Return example options `input` and `output` for a file whose names do not show all roles, and `dt` if it has no time.

    The inputs are the signals whose names show an input. If there are none, the input is the first of the signals whose names
    are most like an input; see `likely`. The outputs are found from the other signals in the same way. If all names show an
    input, the first signal is the input, and the second is the output. The user has to correct the examples. The result is
    empty if the file has fewer than two signals.
    """
    clocks = find_clocks(variables, set())
    coordinates = {name for name in variables if name not in clocks and _is_coordinate(variables, name)}
    found = _signals(variables, {*clocks, *coordinates}, clocks)
    if len(found) < 2:
        return {}
    inputs = [name for name in found if side(name) == "input"] or [max(found, key=likely)]
    inputs = inputs if len(inputs) < len(found) else found[:1]
    others = [name for name in found if name not in inputs]
    outputs = [name for name in others if side(name) == "output"] or [min(others, key=likely)]
    named = {"input": ",".join(inputs), "output": ",".join(outputs)}
    return named | ({} if clocks or sampling_step(variables) else {"dt": "SECONDS"})


def _signals(variables: Variables, taken: set[str], clocks: tuple[str, ...]) -> list[str]:
    """Return the variables that can be inputs or outputs. clocks: names of the time vectors."""
    rest = [name for name in variables if name not in taken and is_signal(variables[name])]
    rest = [name for name in rest if not numbers_rows(variables, name)]
    rest = [name for name in rest if len(rest) <= 2 or not is_idle(variables, name)]
    moments = {variables[clock].size for clock in clocks}
    timed = [name for name in rest if len(extent(variables[name])) > 1 or variables[name].size in moments]
    # If the file has arrays of several axes, a vector as long as the time is a signal, and any other vector is a parameter. If
    # the file has vectors only, and at least two are as long as the time, then only these are signals.
    arrays = any(len(extent(variables[name])) > 1 for name in rest)
    return timed if arrays or len(timed) > 1 else rest


def _given(variables: Variables, names: str | None) -> tuple[str, ...]:
    """Return the variables that a text names: "f", "f,g" or a pattern "f*". Raises LfnoError if a variable does not exist."""
    chosen: list[str] = []
    for name in [part.strip() for part in names.split(",")] if names else []:
        known = [*variables, *(part for one in variables for part in variables.parts(one))] if "*" in name else []
        fitting = [other for other in known if fnmatchcase(other, name)]
        chosen += fitting or [variables[name].name]
    if len(set(chosen)) != len(chosen):
        raise LfnoError(f"{names!r} contains the name of a variable twice")
    return tuple(chosen)


def _with_parts(variables: Variables, rest: list[str], taken: set[str]) -> list[str]:
    """Return the names, with the channels of a labelled variable in place of the variable.

    A variable is replaced if it is the only one in `rest`, or if one of its channels is taken. Taken channels are left out.
    """
    found: list[str] = []
    for name in rest:
        parts = list(variables.parts(name))
        found += [part for part in parts if part not in taken] if parts and (len(rest) == 1 or taken & {*parts}) else [name]
    return found


def find_clocks(variables: Variables, taken: set[str]) -> tuple[str, ...]:
    """Return the variables whose names mean a time.

    If there are none, return the result of `unnamed_clock`. If this is empty too, return the only variable that increases and
    has a unit of time.
    """
    free = [name for name in variables if name not in taken and is_signal(variables[name])]
    exact = [name for name in free if bare_word(name) in TIMES and (name.isalpha() or increases(variables[name]))]
    if len(exact) == 1:
        return tuple(exact)
    named = exact or [name for name in free if re.match(r"(t|time)[_ ]|.*[_ ](t|time)$", name.lower())]
    found = tuple(named) or unnamed_clock(variables, taken)
    with_unit = [name for name in free if variables[name].unit.lower() in SECONDS and increases(variables[name])]
    if found or len(with_unit) != 1:
        return found
    variables.notes.append(f"{with_unit[0]!r} is taken as the time: it increases and has a unit of time")
    return tuple(with_unit)


def unnamed_clock(variables: Variables, taken: set[str]) -> tuple[str, ...]:
    """Return (name of the first column,) if this column can only be a time vector, and add a note. Else return ().

    taken: names of inputs and outputs, which cannot be the time.
    If the file states a sampling rate or a time step, no column is taken as the time.
    """
    columns = [variable for variable in variables.values() if is_signal(variable)]
    table = len(columns) > 1 and all(extent(variable) == extent(columns[0]) for variable in columns)
    if not table or columns[0].name in taken or sampling_step(variables) is not None:
        return ()
    step = increases_evenly(columns[0], headed=any(bare_word(variable.name) != "column" for variable in columns))
    if step is None:
        return ()
    name, unit = columns[0].name, columns[0].unit or "s"
    variables.notes.append(f"{name!r} is taken as the time: the first column increases in equal steps of {step:g} {unit}")
    return (name,)


def _one_each(
    variables: Variables, clocks: tuple[str, ...], inputs: tuple[str, ...], outputs: tuple[str, ...]
) -> tuple[str, ...]:
    """Return (time of the input, time of the output), found by their lengths; one name if both have the same time.

    clocks: names of all time vectors. Raises LfnoError if more than one of them fits.
    """

    def fitting(names: tuple[str, ...]) -> list[str]:
        return [clock for clock in clocks if all(variables[clock].size in variables[name].shape for name in names)]

    one, two = fitting(inputs or outputs), fitting(outputs or inputs)
    if len(one) == len(two) == 1:
        return (*one, *two) if one != two else tuple(one)
    lengths = [f"{name!r} ({variables[name].size} values)" for name in clocks]
    raise LfnoError(
        f"there is more than one time vector, {' and '.join(lengths)}; name one with ",
        Option("time", "NAME"),
        ", or name the time of the input and the time of the output with ",
        Option("time", "NAME,NAME"),
        " and ",
        Option("resample", True),
    )


def sampling_step(variables: Variables) -> tuple[str, float] | None:
    """Return (name, time step in seconds) of the number that states the sampling rate or the time step; None without one.

    Raises LfnoError if two such numbers contradict each other.
    """
    found: dict[str, float] = {}
    for name, variable in variables.entries.items():
        if variable.size == 1 and variable.numeric and bare_word(name) in RATES | STEPS:
            value = float(variable.array([]).flat[0])
            if np.isfinite(value) and value > 0:
                found[name] = 1 / value if bare_word(name) in RATES else value
    if found and max(found.values()) > (1 + 1e-6) * min(found.values()):
        steps = " and ".join(f"{name!r} {step:g} s" for name, step in found.items())
        said = f"the file states different time steps, {steps}; give the right one with "
        raise LfnoError(said, Option("dt", "SECONDS"))
    return next(iter(found.items()), None)


def _is_coordinate(variables: Variables, name: str) -> bool:
    """Return whether a variable is a vector x, y or z that is as long as an axis of an array in the file."""
    shape = extent(variables[name])
    return (
        name.lower() in COORDINATES
        and len(shape) == 1
        and any(shape[0] in extent(field) for field in variables.values() if len(extent(field)) > 1)
    )


def _guess(
    variables: Variables, rest: list[str], inputs: tuple[str, ...], outputs: tuple[str, ...], untimed: bool
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return (inputs, outputs), found from the names of the variables `rest`.

    inputs, outputs: names from the user; at most one of them is not empty. Raises LfnoError if the names are ambiguous.
    """
    if inputs or outputs:
        missing = "output" if inputs else "input"
        if len(rest) != 1:
            if not rest:
                told = "" if inputs else "; for a free decay without an input, lfno poles finds the modes"
                raise LfnoError(f"besides {listing(list(inputs or outputs))}, no variable is left for the {missing}{told}")
            raise LfnoError(f"the {missing} could be {listing(rest)}; name it with ", Option(missing, "NAME"))
        return (inputs, tuple(rest)) if inputs else (tuple(rest), outputs)
    if len(rest) < 2:
        raise LfnoError(
            f"a fit needs an input and an output, and besides the time the file has {listing(rest)}; add the other signal. "
            "A prediction needs the inputs only. For free decays, measure many runs; the input is the initial state, one "
            "number for each run"
        )
    sure_in = [name for name in rest if side(name) == "input"]
    sure_out = [name for name in rest if side(name) == "output"]
    others = [name for name in rest if name not in {*sure_in, *sure_out}]
    # if inputs are found and no outputs (or the reverse), the other names are the outputs, provided that there is only one
    # other name or that all of them are names such as u or x, which may be an input or an output
    clear = len(rest) == 2 or all(bare_word(name) in EITHER for name in others)
    if sure_in and not sure_out and others and clear:
        return tuple(sure_in), tuple(others)
    if sure_out and not sure_in and others and clear:
        return tuple(others), tuple(sure_out)
    if sure_in and sure_out and not others:
        return tuple(sure_in), tuple(sure_out)
    step: list[str | Option] = []
    if untimed:
        step = [". There is no time vector either: give the step with ", Option("dt", "SECONDS")]
    raise LfnoError(
        f"the names {listing(rest)} do not show which signal is the input and which is the output; name them with ",
        Option("input", "NAME"),
        " and ",
        Option("output", "NAME"),
        *step,
    )
