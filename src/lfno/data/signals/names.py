"""Which variable is the time, which the input, which the output: said by the user, or told by unambiguous names."""

from __future__ import annotations

import re
from dataclasses import dataclass
from fnmatch import fnmatchcase

from lfno.data.files.variables import Variable, Variables, listing
from lfno.errors import LfnoError

TIMES = {"t", "time", "times", "timestamp", "timestamps", "datetime", "zeit", "tid"}
SAMPLES = {"sample", "samples", "trajectory", "trajectories", "batch", "run", "case", "experiment", "realization"}
CHANNELS = {"channel", "channels", "feature", "features", "component", "components"}
COORDINATES = ("x", "y", "z")
INPUTS = {"f", "force", "forcing", "input", "inputs", "in", "uin", "excitation", "stimulus", "load", "drive"}
OUTPUTS = {"output", "outputs", "out", "response", "uout", "yout", "y", "displacement", "velocity", "acceleration"}
#: u is the response in mechanics and the input in control: the other variable decides
EITHER = {"u", "x"}


@dataclass(frozen=True)
class Roles:
    """Names of the variables in their parts; `times` holds one clock, or the input's and the output's."""

    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    times: tuple[str, ...]
    coordinates: tuple[str, ...]


def plain(name: str) -> str:
    """The bare word of a name: `run1/Force_2` is `force`."""
    return re.sub(r"[^a-z]", "", re.split(r"[/.]", name)[-1].lower())


def extent(variable: Variable) -> tuple[int, ...]:
    """The shape without axes of a single point, which MATLAB gives to every vector."""
    return tuple(size for size in variable.shape if size > 1)


def find_roles(
    variables: Variables, input: str | None, output: str | None, time: str | None, without_clock: bool
) -> Roles:
    """Names given count; the rest is guessed or refused with the names in question. `without_clock`: dt was given."""
    inputs, outputs = (_given(variables, names) for names in (input, output))
    times = _given(variables, time) or (() if without_clock else _times(variables, {*inputs, *outputs}))
    both = sorted({*inputs} & {*outputs})
    if both:
        raise LfnoError(f"{listing(both)} is named as input and as output")
    taken = {*inputs, *outputs, *times}
    coordinates = tuple(name for name in variables if name not in taken and _is_coordinate(variables, name))
    if not (inputs and outputs):
        rest = [name for name in variables if name not in {*taken, *coordinates} and _is_signal(variables[name])]
        if any(len(extent(variables[name])) > 1 for name in rest):
            # beside arrays of many trajectories, vectors are parameters or coordinates
            rest = [name for name in rest if len(extent(variables[name])) > 1]
        inputs, outputs = _guess(variables, rest, inputs, outputs)
    return Roles(inputs, outputs, times, coordinates)


def _given(variables: Variables, names: str | None) -> tuple[str, ...]:
    """Names from `f`, `f,g` or a pattern `f*`; each must exist."""
    chosen: list[str] = []
    for name in [] if names is None else [part.strip() for part in names.split(",")]:
        fitting = [other for other in variables if fnmatchcase(other, name)] if "*" in name else []
        chosen += fitting or [variables[name].name]
    if len(set(chosen)) != len(chosen):
        raise LfnoError(f"{names!r} names a variable twice")
    return tuple(chosen)


def _is_signal(variable: Variable) -> bool:
    return variable.dtype.kind in "fiubc" and variable.size > 1


def _times(variables: Variables, taken: set[str]) -> tuple[str, ...]:
    free = [name for name in variables if name not in taken and _is_signal(variables[name])]
    exact = [name for name in free if plain(name) in TIMES]
    if len(exact) == 1:
        return tuple(exact)
    clocks = exact or [name for name in free if re.match(r"(t|time)_|.*_(t|time)$", name.lower())]
    if len(clocks) <= 1:
        return tuple(clocks)
    lengths = [f"{name!r} ({variables[name].size} values)" for name in clocks]
    raise LfnoError(
        f"there is more than one time vector, {' and '.join(lengths)}; name one with --time NAME, or "
        "the input's and the output's with --time NAME,NAME --resample"
    )


def _is_coordinate(variables: Variables, name: str) -> bool:
    """x, y or z, one-dimensional, with as many points as an axis of some field."""
    shape = extent(variables[name])
    return (
        name.lower() in COORDINATES
        and len(shape) == 1
        and any(shape[0] in extent(field) for field in variables.values() if len(extent(field)) > 1)
    )


def _guess(
    variables: Variables, rest: list[str], inputs: tuple[str, ...], outputs: tuple[str, ...]
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    if inputs or outputs:
        missing = "output" if inputs else "input"
        if len(rest) != 1:
            raise LfnoError(
                f"the {missing} could be {listing(rest)}; name it with --{missing} NAME"
                if rest
                else f"nothing is left to be the {missing} beside {listing(list(inputs or outputs))}"
            )
        return (inputs, tuple(rest)) if inputs else (tuple(rest), outputs)
    if len(rest) < 2:
        raise LfnoError(
            f"an input and an output are needed and the file has {listing(rest)} beside the time; "
            "add the other signal"
        )
    sure_in = [name for name in rest if plain(name) in INPUTS]
    sure_out = [name for name in rest if plain(name) in OUTPUTS]
    others = [name for name in rest if name not in {*sure_in, *sure_out}]
    # a single name left over, or the letters u and x, take the side that is still empty
    clear = len(rest) == 2 or all(plain(name) in EITHER for name in others)
    if sure_in and not sure_out and others and clear:
        return tuple(sure_in), tuple(others)
    if sure_out and not sure_in and others and clear:
        return tuple(others), tuple(sure_out)
    if sure_in and sure_out and not others:
        return tuple(sure_in), tuple(sure_out)
    raise LfnoError(
        f"which of {listing(rest)} is the input and which the output cannot be told from the names; "
        "say it with --input NAME --output NAME"
    )
