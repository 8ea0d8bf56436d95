"""Read inputs and outputs on a grid from a file: `read_signals("beam.csv", input="force", output="displacement")`.

Modules:
    names: find the time, the inputs and the outputs among the variables
    columns: find out from the values of a column whether it is a time vector, row numbers or a constant
    vocabulary: words in names that identify time, inputs and outputs
    axes: find the role of each axis of an array: sample, channel, time or space
    parts: join variables of training and test, such as `f_train` and `f_test`
    separate: separate the runs inside one file
    experiments: separate experiments by the names of their arrays, such as `uEst` and `uVal`
    sides: the inputs, or the outputs, as one array with time stamps
    sampling: check whether time stamps are uniform, and resample
    clean: bring inputs and outputs to one uniform time axis
    missing: find, fill and mask missing values
    record: `Record`, one long measurement
    runs: `Runs`, several measurements of unequal length
    decays: records without an input
    questions: files with the inputs for a prediction
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import zip_longest
from pathlib import Path
from typing import Any

import h5py
import numpy as np

from lfno.core.errors import LfnoError, Option
from lfno.core.grid import Axis, Grid
from lfno.data import storage
from lfno.data.dataset import INPUT_GAPS, Dataset
from lfno.data.files import Variables, read
from lfno.data.files.hdf5 import opened
from lfno.data.files.xarray_objects import from_xarray, is_xarray
from lfno.data.signals import parts
from lfno.data.signals.axes import TIME, settle, stated
from lfno.data.signals.clean import Treatment, clean
from lfno.data.signals.columns import extent
from lfno.data.signals.experiments import named
from lfno.data.signals.names import Roles, find_roles, sampling_step
from lfno.data.signals.record import PERIOD, Record
from lfno.data.signals.runs import Runs, of_trajectories
from lfno.data.signals.sampling import coordinate, in_seconds
from lfno.data.signals.separate import separate
from lfno.data.signals.sides import Layout, gather, lay_out


def read_signals(
    source: Any,
    *,
    input: str | Sequence[str] | None = None,
    output: str | Sequence[str] | None = None,
    time: str | Sequence[str] | None = None,
    sample: str | None = None,
    axes: str | None = None,
    dt: float | None = None,
    resample: bool = False,
) -> Dataset | Record | Runs:
    """Read the inputs and outputs of a file.

    source: a file; a mapping from names to arrays; an xarray DataArray or Dataset; or `Variables` of a file.
    input, output: names of variables: `"f"`, `"f1,f2"`, `["f1", "f2"]`, `"f*"`, or `"table:3"` for column 3 (from 0) of a
        table. Not needed if the names in the file are unambiguous. An empty list for a file without inputs (a free decay), or
        without outputs: the result then has no such channels.
    time: name of the time vector, or two names: the time of the input and the time of the output. Not needed if the name in the
        file is unambiguous, or if the first column increases in equal steps.
    sample: name of the column with the number of the trajectory, for a table of many trajectories.
    axes: roles of the axes, `"sample,t"` or `"f=sample,t;u=sample,x,t"`. Needed if the lengths of the axes are ambiguous.
    dt: time step in seconds of data without a time vector.
    resample: whether to interpolate signals to a uniform time axis if their time stamps are not uniform.

    Returns a `Record` for one run, a `Dataset` for trajectories of equal length, or `Runs` for runs of unequal length. Several
    runs in one file may be cells or structure arrays of MATLAB, numbered groups of HDF5, or a table of all runs. Such a table
    needs a column of run numbers, or a time that starts again with each run. Names such as `uEst` and `uVal` also separate
    runs. A file that contains a data set of lfno is read as it is, and the other options have no effect.

    Missing values (empty, NaN, infinite, or marks such as -9999) and missing rows are filled. `mask` of the result is False
    where an output was not measured, and in long gaps of the inputs. `provenance["notes"]` lists every change to the data.
    Raises LfnoError if the file cannot be read, if the names or axes are ambiguous, or if the time is not uniform and
    `resample` is False.

    >>> t = np.arange(200) * 0.05
    >>> read_signals({"t": t, "f": np.sin(t), "u": np.cos(t)}).grid.steps
    (0.05,)
    """
    if isinstance(source, (str, Path)) and is_dataset(Path(source)):
        return storage.load(source)
    variables = _variables(source)
    given = (input, output, time)
    input, output, time = (one if one is None or isinstance(one, str) else ",".join(map(str, one)) for one in given)
    names = (input, output, time)
    variables = named(variables, (input, output))
    separated = separate(variables, sample, time) if axes is None else None
    if separated is None:
        return _load(variables, names, sample, axes, dt, resample)
    records: list[Record] = []
    split: dict[str | None, list[int]] = {}
    for one, part in zip_longest(separated.runs, separated.parts):
        data = _load(one, names, None, None, dt, resample)
        known = len(records)
        records += [replace(data, provenance={**data.provenance, "name": one.source})] if isinstance(data, Record) else (
            of_trajectories(data).records
        )
        split.setdefault(part, []).extend(range(known, len(records)))
    notes = list(dict.fromkeys(note for record in records for note in record.notes))
    told: dict[str, Any] = {"name": Path(variables.source).stem, "source": variables.source}
    told |= {} if separated.period is None else {PERIOD: separated.period}
    told |= {"split": split} if separated.parts else {}
    shortest, longest = min(map(len, records)), max(map(len, records))
    span = f"{shortest}" if shortest == longest else f"{shortest} to {longest}"
    notes.append(f"{len(records)} runs of {span} samples")
    found = Runs(tuple(records), told | {"notes": notes})
    return found.padded() if len({len(record) for record in records}) == 1 else found


def _load(
    variables: Variables, names: tuple[str | None, str | None, str | None], sample: str | None, axes: str | None,
    dt: float | None, resample: bool,
) -> Dataset | Record:  # fmt: skip
    """Read one run, or trajectories of equal length. The arguments are those of `read_signals`."""
    input, output, time = names
    try:
        variables, _ = parts.tell_apart(variables, sample, time)
        variables, split = parts.join(variables)
        roles = find_roles(variables, input, output, time, dt is not None)
        return _assemble(variables, split, roles, _axes(axes), dt, resample)
    except LfnoError as error:
        name = variables.source
        raise LfnoError(*([] if str(error).startswith(name) else [f"{name}: "]), *error.parts) from error


def _assemble(
    variables: Variables,
    split: dict[str, list[int]] | None,
    roles: Roles,
    axes: dict[str, tuple[str, ...]],
    dt: float | None,
    resample: bool,
) -> Dataset | Record:
    """Return the signals of the variables with these roles.

    split: sample indices of each part of the split, if the file has a split.
    axes: the axes that the user states; see `_axes`.
    """
    notes = variables.notes
    stamps, unit = _clocks(variables, roles, axes, dt, notes)
    known = {name: extent(variables[name])[0] for name in roles.coordinates}
    layout = lay_out(variables, roles, axes, known, (len(stamps[0]), len(stamps[-1])))
    given = gather(variables, roles.inputs, layout, stamps[0], notes) if roles.inputs else None
    outputs = given.opposite() if given and not roles.outputs else gather(variables, roles.outputs, layout, stamps[-1], notes)
    inputs = given or outputs.opposite()
    treatment = Treatment(resample, variables.row, roles.times or ("dt",), unit)
    axis, gaps = clean(inputs, outputs, treatment, notes)
    grid = Grid((*_space(variables, roles, layout, outputs.values.shape[2:-1], notes), axis))
    provenance: dict[str, Any] = {"name": Path(variables.source).stem, "source": variables.source, "notes": notes}
    if gaps:
        provenance[INPUT_GAPS] = gaps
    if not layout.many:
        full = (len(inputs.channels), *grid.shape)
        values = np.broadcast_to(inputs.values[0], full)
        mask = None if outputs.mask is None else outputs.mask[0]
        return Record(values, outputs.values[0], grid, inputs.channels, outputs.channels, provenance, mask)
    if split is not None:
        provenance["split"] = split
    parameters = _parameters(variables, roles, layout, notes)
    channels = inputs.channels, outputs.channels
    return Dataset(inputs.values, outputs.values, grid, parameters, *channels, provenance, outputs.mask)


def is_dataset(path: Path) -> bool:
    """Return whether the file is a data set of lfno, which needs no names of inputs and outputs."""
    if not (path.is_file() and h5py.is_hdf5(path)):
        return False
    with opened(path) as file:
        try:
            return "lfno" in file.attrs
        except (KeyError, OSError, RuntimeError):  # the file is damaged; its reader will raise an error with the reason
            return False


def _variables(source: Any) -> Variables:
    """Return the variables of a file, a mapping or an xarray object. Variables are copied, so that notes can be added."""
    if is_xarray(source):
        return from_xarray(source)
    if isinstance(source, Variables):
        return Variables(source.source, source.entries, list(source.notes), source.row)
    if isinstance(source, Mapping):
        return Variables.of(source)
    return read(source)


def _axes(axes: str | None) -> dict[str, tuple[str, ...]]:
    """Return name of a variable -> roles of its axes, from a text such as "f=sample,t;u=sample,x,t".

    If the text has no names, the key is "" and its roles are for all variables.
    """
    pieces = [] if axes is None else [piece.strip() for piece in axes.split(";") if piece.strip()]
    return {name.strip(): stated(rest) for name, _, rest in (p.rpartition("=") for p in pieces)}


def _clocks(
    variables: Variables, roles: Roles, axes: dict[str, tuple[str, ...]], dt: float | None, notes: list[str]
) -> tuple[list[np.ndarray], str]:
    """Return (vectors of time stamps, unit of time). There is one vector, or one for the input and one for the output."""
    if not roles.times:
        if dt is None:
            step = sampling_step(variables)
            if step is None:
                ways = Option("time", "NAME"), Option("dt", "SECONDS")
                raise LfnoError("there is no time vector; name it with ", ways[0], " or give the step with ", ways[1])
            dt = step[1]
            notes.append(f"the time step, {dt:g} s, was taken from {step[0]!r}")
        if not dt > 0:
            raise LfnoError("the step ", Option("dt", dt), " must be positive")
        variable = variables[(roles.outputs or roles.inputs)[0]]
        vectors = [variables[name].size for name in (*roles.outputs, *roles.inputs) if len(extent(variables[name])) == 1]
        if vectors and vectors[0] in variable.shape:  # if a signal is a vector, its length is the number of time steps
            return [np.arange(vectors[0]) * dt], "s"
        settled = settle(variable, axes.get(variable.name, axes.get("")), {})
        if TIME not in settled:
            raise LfnoError(f"{variable.name!r} has the axes {','.join(settled)}: one of them must be the time, t")
        return [np.arange(variable.shape[settled.index(TIME)]) * dt], "s"
    if dt is not None:
        named = Option("time", roles.times[0])
        raise LfnoError(Option("dt", dt), " and ", named, " both state the sampling times; give only one of them")
    if len(roles.times) > 2:
        choice = "give one time vector, or two: for the input and for the output"
        raise LfnoError(Option("time"), f" names {len(roles.times)} vectors; {choice}")
    stamps, units = [], []
    for name in roles.times:
        values = np.squeeze(variables[name].array(notes, keep_double=True))
        if values.ndim == 2 and values.size and (values == values[:1]).all():
            notes.append(f"every trajectory has the same times in {name!r}")
            values = values[0]
        if values.ndim != 1:
            raise LfnoError(f"the time {name!r} has shape {variables[name].shape}; one vector is needed")
        values, unit = in_seconds(values, variables[name].unit, name, notes)
        stamps.append(values)
        units.append(unit)
    return stamps, units[-1]


def _space(
    variables: Variables, roles: Roles, layout: Layout, shape: tuple[int, ...], notes: list[str]
) -> tuple[Axis, ...]:
    """Return the axes of space. shape: number of points along each of them."""
    axes = []
    for name, size in zip(layout.space, shape, strict=True):
        if name in roles.coordinates:
            axes.append(coordinate(name, np.ravel(variables[name].array(notes)), variables[name].unit))
        else:
            notes.append(f"the axis {name!r} has no coordinates: the distance between its points is taken as 1")
            axes.append(Axis(name, size, 1.0))
    return tuple(axes)


def _parameters(
    variables: Variables, roles: Roles, layout: Layout, notes: list[str]
) -> dict[str, np.ndarray]:
    """Return the parameters, name -> array (sample,): the vectors with one number for each sample and without another role."""
    count = next(variables[n].shape[r.index("sample")] for n, r in layout.roles.items() if "sample" in r)
    taken = {*roles.inputs, *roles.outputs, *roles.times, *roles.coordinates}
    names = [n for n, v in variables.entries.items() if n not in taken and v.numeric and extent(v) == (count,)]
    return {name: np.ravel(variables[name].array(notes)) for name in names}


__all__ = ["Record", "is_dataset", "read_signals"]
