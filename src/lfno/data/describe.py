"""Describe a file: its variables, the signals that lfno finds in it, and the options that read it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from lfno.core.errors import LfnoError, Option
from lfno.data import signals
from lfno.data.files import Variables, read
from lfno.data.files.variables import kind, listing
from lfno.data.signals.names import find_clocks, find_roles, proposal
from lfno.data.signals.parts import join, tell_apart
from lfno.data.signals.record import Record
from lfno.data.signals.runs import Runs
from lfno.data.signals.separate import separate
from lfno.data.signals.vocabulary import RATES, SAMPLES, STEPS, bare_word
from lfno.data.variation import Signals, check_variation, without_constant_outputs

MOST_CURES = 2  # options: at most this many are turned on automatically to make a file readable


def describe(file: str | Path, wording: Callable[[Option], str] = str) -> dict[str, Any]:
    """Return the content of a file and the signals that lfno finds in it, as values that JSON can hold.

    wording: turns an option into words for the error messages; by default, the option is written as a Python keyword.

    Returns a dictionary:
        file: the path of the file
        variables: name, shape, axes, dtype, unit, min, max and missing values of each variable
        problems: error messages of failed attempts to read the signals
        notes: sentences about changes to the data and about the choice of the signals
        options: keywords with which `lfno.data.signals.read_signals` reads the file; None if the signals cannot be read
    and, only if the signals cannot be read:
        roles: names of the variables that are probably the input, the output, the time and the run number
        example: if the inputs, the outputs or the time step are unknown, options with example values, which the user corrects;
            {} if the file cannot be read with them either
    and, only if the signals can be read:
        kind: the form of the data in words: "one record", "3 runs of unequal length" or "8 trajectories"
        split: number of samples for training, validation and test; empty if the file has no split
        grid: name, size, step, unit, … of each axis
        input, output: names of the channels
        parameters: names of variables that have one number for each run and are neither inputs nor outputs
    Raises LfnoError if the file cannot be opened, or if the values of a variable are damaged.
    """
    path = Path(file)
    variables = read(path)
    rows = []
    for variable in variables.values():
        low, high, missing = variable.summary() if variable.numeric else (None, None, 0)
        empty = low is None or high is None or low > high
        rows.append(
            {
                "name": variable.name,
                "shape": list(variable.shape),
                "axes": list(variable.axes),
                "dtype": kind(variable.dtype),
                "unit": variable.unit,
                "min": None if empty else low,
                "max": None if empty else high,
                "missing": missing,
            }
        )
    return {"file": str(file), "variables": rows, **_reading(path, variables, wording)}


def _reading(path: Path, variables: Variables, wording: Callable[[Option], str]) -> dict[str, Any]:
    """Read the signals and return their part of the description."""
    own = signals.is_dataset(path)
    data, switches, told, errors = _attempt(path if own else variables, {})
    problems = [error.worded(wording) for error in errors]
    if data is None:
        likely = _likely(variables)
        likely.pop("dt", None)
        example = _example(variables, errors[-1])
        return {"problems": problems, "options": None, "notes": variables.notes, "roles": likely, "example": example}
    options = switches if own else _roles(variables, data) | switches
    offered = [] if own else _offered(variables, data)
    if offered:
        inputs = Option("input", ",".join([options["input"], *offered]))
        what = listing(offered) + (" is one number" if len(offered) == 1 else " are numbers")
        told.append(f"{what} for each run, and a model can use this difference between the runs as an input: {wording(inputs)}")
    return {
        "problems": problems,
        "notes": [*data.provenance.get("notes", []), *told],
        "parameters": offered,
        "kind": _kind(data),
        "split": {part: len(indices) for part, indices in data.provenance.get("split", {}).items()},
        "grid": data.grid.to_dict()["axes"],
        "input": [channel.name for channel in data.input_channels],
        "output": [channel.name for channel in data.output_channels],
        "options": options,
    }


def _attempt(source: Any, given: dict[str, Any]) -> tuple[Signals | None, dict[str, Any], list[str], list[LfnoError]]:
    """Read the signals of a source. Return (data or None, options that were turned on, notes, errors of failed attempts).

    given: options of `lfno.data.signals.read_signals`.
    If an error offers an option such as `resample`, this option is turned on, and the signals are read again.
    """
    switches: dict[str, Any] = {}
    errors: list[LfnoError] = []
    while True:
        try:
            data: Signals = signals.read_signals(source, **given, **switches)
            data, told = (data, []) if "output" in given else without_constant_outputs(data)
            return data, switches, [*told, *check_variation(data)], errors
        except LfnoError as error:
            errors.append(error)
            cures = [option.name for option in error.options if option.value is True and option.name not in switches]
            if len(switches) == MOST_CURES or not cures:
                return None, switches, [], errors
            switches[cures[0]] = True


def _kind(data: Signals) -> str:
    """Return the form of the data in words."""
    if isinstance(data, Record):
        return "one record"
    return f"{len(data)} runs of unequal length" if isinstance(data, Runs) else f"{len(data)} trajectories"


def _offered(variables: Variables, data: Signals) -> list[str]:
    """Return the names of variables that have one number for each run, such as a stiffness, and are not a channel yet."""
    taken = {channel.name for channel in (*data.input_channels, *data.output_channels)}
    separated = separate(variables, None, None)
    if separated is None:
        return [name for name in getattr(data, "parameters", {}) if name not in taken]
    found = []
    for name, variable in separated.runs[0].entries.items():
        alone = variable.size == 1 and variable.numeric and bare_word(name) not in RATES | STEPS and name not in taken
        if alone and len({float(run[name].array([]).flat[0]) for run in separated.runs if name in run}) > 1:
            found.append(name)
    return found


def _roles(variables: Variables, data: Signals) -> dict[str, Any]:
    """Return the options `input`, `output`, `time` and `sample` with the names that the reader found by itself.

    data: the signals. Outputs that they lack, because they are constant, are not named.
    """
    separated = separate(variables, None, None)
    arranged, sample = tell_apart(variables if separated is None else separated.runs[0], None, None)
    roles = find_roles(join(arranged)[0], None, None, None, False)
    if separated is not None:  # the column with the run numbers is in no run
        numbers = [name for name in variables if name not in separated.runs[0].entries and bare_word(name) in SAMPLES]
        sample = numbers[0] if len(numbers) == 1 else sample
    kept = {channel.name for channel in data.output_channels}
    outputs = tuple(name for name in roles.outputs if name in kept) if kept < {*roles.outputs} else roles.outputs
    named = {"input": roles.inputs, "output": outputs, "time": roles.times}
    return {name: ",".join(names) for name, names in named.items() if names} | ({"sample": sample} if sample else {})


def _example(variables: Variables, error: LfnoError) -> dict[str, Any]:
    """Return options with example names, if the error message asks for the roles or for the time step; else {}.

    The result is {} too if the file cannot be read with these options.
    """
    if not {"input", "output", "dt"} & {option.name for option in error.options}:
        return {}
    example: dict[str, Any] = {name: text for name, text in _likely(variables).items() if name != "time"}
    data, switches, _, _ = _attempt(variables, example | ({"dt": 1.0} if "dt" in example else {}))
    return {} if data is None else example | switches


def _likely(variables: Variables) -> dict[str, str]:
    """Return options with the probable names of input, output, time and run number, and `dt` if the file has no time.

    Return {} if the variables cannot be arranged.
    """
    try:
        separated = separate(variables, None, None)
        arranged, sample = tell_apart(variables if separated is None else separated.runs[0], None, None)
    except LfnoError:
        return {}
    joined = join(arranged)[0]
    times = find_clocks(joined, set())
    time = {"time": times[0]} if len(times) == 1 else {}
    return proposal(joined) | time | ({"sample": sample} if sample else {})

