"""A side of the data: all inputs, or all outputs, as one array `(sample, channel, *space, time)` with time stamps."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from lfno.core.errors import LfnoError, Option
from lfno.core.memory import allocate
from lfno.core.short import Short
from lfno.data.files.variables import Variables
from lfno.data.signals.axes import CHANNEL, SAMPLE, SINGLE, TIME, arrange, settle
from lfno.data.signals.columns import extent
from lfno.data.signals.names import Roles
from lfno.systems.base import Channel

FEW = 16  # channels: a sample axis is taken as a channel axis only if it has at most this many points; see `_as_channels`


@dataclass(repr=False)
class Side(Short):
    """The inputs or the outputs.

    values: (sample, channel, *space, time).
    channels: names and units of the channels.
    stamps: (time,) time stamps along the last axis.
    mask: shape of the values, True where a value was measured; None if every value was measured.
    """

    values: np.ndarray
    channels: tuple[Channel, ...]
    stamps: np.ndarray
    mask: np.ndarray | None = None

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the channels."""
        return tuple(channel.name for channel in self.channels)

    def opposite(self) -> Side:
        """Return the other side of a record that has no channels on that side."""
        return Side(self.values[:, :0], (), self.stamps)


@dataclass(frozen=True)
class Layout:
    """The roles of the axes of the inputs and outputs.

    roles: name of a variable -> role of each of its axes: "sample", "channel", "t", "single" or a coordinate.
    space: names of the axes of space, in the order of the outputs.
    many: whether a variable has an axis of samples, so that the data are many trajectories.
    """

    roles: dict[str, tuple[str, ...]]
    space: tuple[str, ...]
    many: bool


def lay_out(
    variables: Variables,
    roles: Roles,
    axes: dict[str, tuple[str, ...]],
    known: dict[str, int],
    lengths: tuple[int, int],
) -> Layout:
    """Return the roles of the axes of all inputs and outputs.

    variables: the variables of the file.
    roles: names of the inputs and outputs.
    axes: roles that the user states, by variable; the key "" holds the roles for all variables.
    known: number of points of each coordinate.
    lengths: number of time stamps of the input and of the output.
    Raises LfnoError if an output has no time axis, or if the inputs do not fit the outputs.
    """
    settled: dict[str, tuple[str, ...]] = {}
    # without outputs, the input with the most axes has the axes of the record
    main = roles.outputs or (max(roles.inputs, key=lambda name: len(variables[name].shape)),)
    for name in main:
        settled[name] = settle(variables[name], _axes_for(variables, name, axes, True), known | {TIME: lengths[1]})
        if TIME not in settled[name]:
            what = "output" if roles.outputs else "input"
            raise LfnoError(f"the {what} {name!r} has no time axis; check ", Option("time"), " and ", Option("axes"))
    samples = {_count(variables, name, settled[name]) for name in main}
    for name in [name for name in roles.inputs if name not in main]:
        stated = _axes_for(variables, name, axes, False)
        if stated is None and variables[name].size == 1:  # a single number is a constant input
            settled[name] = (SINGLE,) * len(variables[name].shape)
        elif stated is None and not variables[name].axes and {extent(variables[name])} == {(c,) for c in samples if c}:
            # a vector with one number for each sample is an input that is constant in time
            settled[name] = tuple(SAMPLE if size > 1 else SINGLE for size in variables[name].shape)
        else:
            settled[name] = settle(variables[name], stated, known | {TIME: lengths[0]})
    counts = {name: _count(variables, name, settled[name]) for name in settled}
    if len(set(counts.values())) > 1:
        settled = _as_channels(variables, settled, counts)
    space = tuple(
        dict.fromkeys(
            role for name in main for role in settled[name] if role not in (SAMPLE, CHANNEL, TIME, SINGLE)
        )
    )
    for name in roles.inputs:
        if extra := [r for r in settled[name] if r not in (SAMPLE, CHANNEL, TIME, SINGLE, *space)]:
            raise LfnoError(f"the input {name!r} has the axis {extra[0]!r}, and {main[0]!r} does not have this axis")
    return Layout(settled, space, any(SAMPLE in each for each in settled.values()))


def _axes_for(
    variables: Variables, name: str, axes: dict[str, tuple[str, ...]], must_fit: bool
) -> tuple[str, ...] | None:
    """Return the roles that the user states for a variable; None if the user states none, or if they do not fit an input.

    must_fit: True for an output: its axes are returned even if their number is wrong, so that the user gets an error.
    """
    if name in axes or "" not in axes:
        return axes.get(name)
    variable = variables[name]
    # the axes "" for all variables describe the output; an input may have fewer axes, and their lengths then decide
    fits = len(axes[""]) in (len(variable.shape), len(extent(variable)))
    return axes[""] if fits or must_fit else None


def _count(variables: Variables, name: str, roles: tuple[str, ...]) -> int | None:
    """Return the number of samples of a variable; None without a sample axis."""
    return variables[name].shape[roles.index(SAMPLE)] if SAMPLE in roles else None


def _as_channels(
    variables: Variables, settled: dict[str, tuple[str, ...]], counts: dict[str, int | None]
) -> dict[str, tuple[str, ...]]:
    """Return the roles with every sample axis changed to a channel axis.

    This is needed if the inputs and outputs have different numbers of samples: they are then several channels of one record.
    Raises LfnoError if there are more than FEW channels, or if a variable has a channel axis already.
    """
    if any(count is not None and (count > FEW or CHANNEL in settled[name]) for name, count in counts.items()):
        words = " and ".join(f"{name!r} has {count or 1}" for name, count in counts.items())
        raise LfnoError(f"{words} samples; every sample needs an input and an output, so the numbers must agree")
    changed = {name: tuple(CHANNEL if r == SAMPLE else r for r in roles) for name, roles in settled.items()}
    variables.notes.append("input and output have different lengths along one axis, so its points are channels of one record")
    return changed


def gather(variables: Variables, names: tuple[str, ...], layout: Layout, stamps: np.ndarray, notes: list[str]) -> Side:
    """Return one side of the data: the variables `names` as the channels of one array. A single variable is not copied."""
    order = (SAMPLE, CHANNEL, *layout.space, TIME)
    arrays, channels = [], []
    for name in names:
        variable = variables[name]
        array = arrange(variable.array(notes), layout.roles[name], order)
        if len(extent(variable)) > 1:
            roles = ",".join(role for role in layout.roles[name] if role != SINGLE)
            notes.append(f"{name!r} of shape {extent(variable)} was read as ({roles})")
        count = array.shape[1]
        # labels become the names of channels, unless the labelled axis is the sample axis
        labels = next((names for names in variable.labels.values() if CHANNEL in layout.roles[name]), None)
        if labels and len(labels) == count:
            channels += [Channel(part, variables[part].unit) for part in variables.parts(name)]
        else:
            channels += [Channel(name if count == 1 else f"{name}:{k}", variable.unit) for k in range(count)]
        arrays.append(array)
    shape = np.broadcast_shapes(*(array[:, :1].shape for array in arrays))
    if len(arrays) == 1:
        return Side(_full_time(arrays[0], stamps), tuple(channels), stamps)
    joined = allocate((shape[0], len(channels), *shape[2:]), notes, ", ".join(names))
    start = 0
    for array in arrays:
        joined[:, start : start + array.shape[1]] = array
        start += array.shape[1]
    return Side(_full_time(joined, stamps), tuple(channels), stamps)


def _full_time(values: np.ndarray, stamps: np.ndarray) -> np.ndarray:
    """Broadcast values (…, 1 or time) to (…, time). Values without a time axis are repeated without a copy."""
    return np.broadcast_to(values, (*values.shape[:-1], len(stamps)))
