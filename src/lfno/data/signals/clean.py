"""Bring inputs and outputs to one uniform time axis, and fill and mask missing values. Each step adds a note."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from lfno.core.errors import LfnoError, Option
from lfno.core.grid import Axis
from lfno.data.files.variables import counted
from lfno.data.signals import missing
from lfno.data.signals.sampling import Clock, clock, common, measured_at, onto, placed
from lfno.data.signals.sides import Side

SHORT = 5  # time steps: filled values of an input gap up to this length are accurate; outputs in and after it are scored

Rows = np.ndarray | range  # for each row that was kept, its index in the file


@dataclass(frozen=True)
class Treatment:
    """Options of the cleaning.

    resample: whether signals may be interpolated to a uniform time axis.
    row: `row(k)` says where row k is in the file ("line 13"), for messages.
    times: names of one or two time vectors; ("dt",) if the user gives the time step.
    unit: unit of the time.
    """

    resample: bool
    row: Callable[[int], str]
    times: tuple[str, ...]
    unit: str

    def rows(self, origin: Rows) -> Callable[[int], str]:
        """Return a function that says where the k-th kept row is in the file. `origin[k]` is the index of this row."""
        return lambda k: self.row(int(origin[k]))


def clean(inputs: Side, outputs: Side, treatment: Treatment, notes: list[str]) -> tuple[Axis, list[list[int]]]:
    """Clean inputs and outputs in place. Return (time axis, long gaps of the inputs).

    Each gap is [sample, start, stop]: the index of the trajectory, and the time steps `start` … `stop` − 1.
    notes: receives a sentence for each change.

    After the call, every value is finite. `outputs.mask` is True where an output was measured and the inputs have no long gap,
    or None if this holds everywhere.
    Outputs after a long gap are not masked here, because the length of this mask depends on the memory of the system; see
    `lfno.data.gaps.after_gaps`.
    """
    shared = inputs.stamps is outputs.stamps
    sides = [inputs, outputs]
    origins = [_without_missing_stamps(side, treatment, notes) for side in ([outputs] if shared else sides)]
    if shared:
        inputs.values = inputs.values[..., origins[0]] if len(origins[0]) < inputs.values.shape[-1] else inputs.values
        inputs.stamps, origins = outputs.stamps, [origins[0], origins[0]]
    for side in sides:
        side.values = missing.blank_marks(side.values, side.names, notes)
    axis = _one_clock(sides, origins, shared, treatment, notes)
    for side in sides:
        missing.fill(side, notes)
    gaps = _long_gaps(inputs, len(outputs.values))
    _note_inputs(inputs, gaps, axis, notes)
    _mask_outputs(outputs, gaps, axis, notes)
    return axis, gaps


def _without_missing_stamps(side: Side, treatment: Treatment, notes: list[str]) -> Rows:
    """Remove the rows without a time stamp. Return the indices of the kept rows in the file."""
    good = np.isfinite(side.stamps)
    if good.all():
        return range(len(good))
    rows = np.flatnonzero(good)
    if not rows.size:
        raise LfnoError(
            "the time has no value in any row; name another time vector with ",
            Option("time", "NAME"),
            ", or give the time step with ",
            Option("dt", "SECONDS"),
        )
    lost, first = counted(len(good) - len(rows), "row"), treatment.row(int(np.argmin(good)))
    notes.append(f"{lost} without a time stamp left out, the first at {first}")
    side.values, side.stamps = side.values[..., rows], side.stamps[rows]
    return rows


def _one_clock(
    sides: list[Side], origins: list[Rows], shared: bool, treatment: Treatment, notes: list[str]
) -> Axis:
    """Bring both sides to one uniform time axis and return it. Missing rows become missing values."""
    names = treatment.times if len(treatment.times) == 2 else treatment.times * 2
    clocks: list[Clock] = []
    for k, side in enumerate(sides[1:] if shared else sides):
        clocks.append(clock(side.stamps, names[k], treatment.unit, treatment.rows(origins[k]), treatment.resample, notes))
    if clocks[0].uniform and (shared or np.array_equal(sides[0].stamps, sides[1].stamps)):
        for side in sides:
            side.values = placed(side.values, clocks[0], notes, ", ".join(side.names))
        return clocks[0].axis
    if shared:
        axis = clocks[0].axis
    else:
        if not treatment.resample:
            raise LfnoError(
                f"input and output have different time vectors, {names[0]!r} (step {clocks[0].axis.step:g}) and {names[1]!r} "
                f"(step {clocks[1].axis.step:g}); interpolate both to the smaller step with ",
                Option("resample", True),
            )
        axis = common(clocks[0], clocks[1], names, notes)
    for side in sides:
        missing.fill(side, notes)
        side.mask = measured_at(axis, side.stamps, side.mask)
        side.values = onto(side.values, side.stamps, axis, notes, ", ".join(side.names))
    return axis


def _long_gaps(inputs: Side, samples: int) -> list[list[int]]:
    """Return [sample, start, stop] of every gap of more than SHORT time steps. In a gap, one or more inputs are missing.

    samples: number of trajectories.
    """
    if inputs.mask is None:
        return []
    known = inputs.mask.all(axis=tuple(range(1, inputs.mask.ndim - 1)))  # (sample, time)
    unknown = ~np.broadcast_to(known, (samples, known.shape[-1]))
    edges = np.diff(np.pad(unknown, ((0, 0), (1, 1))).astype(np.int8), axis=1)
    starts, stops = np.argwhere(edges == 1), np.argwhere(edges == -1)
    pairs = zip(starts.tolist(), stops.tolist(), strict=True)
    return [[sample, start, stop] for (sample, start), (_, stop) in pairs if stop - start > SHORT]


def _note_inputs(inputs: Side, gaps: list[list[int]], axis: Axis, notes: list[str]) -> None:
    """Add notes about missing inputs and their gaps."""
    if inputs.mask is None:
        return
    count = int(inputs.mask.size - inputs.mask.sum())
    notes.append(
        f"{counted(count, 'value')} of the input missing: filled by linear interpolation, because a model needs every value"
    )
    if gaps:
        sample, start, stop = max(gaps, key=lambda gap: gap[2] - gap[1])
        where = f"{axis.origin + start * axis.step:g} {axis.unit}" + (f" in sample {sample}" if sample else "")
        notes.append(
            f"{counted(len(gaps), 'gap')} of the input longer than {SHORT} steps, the longest {(stop - start) * axis.step:.4g} "
            f"{axis.unit} from {where}: outputs in a gap, and after it for the memory of the system, are not used"
        )


def _mask_outputs(outputs: Side, gaps: list[list[int]], axis: Axis, notes: list[str]) -> None:
    """Set the mask of the outputs to False in the gaps of the inputs. Add a note about missing outputs."""
    if outputs.mask is not None:
        missed = ~np.broadcast_to(outputs.mask, outputs.values.shape)
        names = [name for k, name in enumerate(outputs.names) if missed[:, k].any()]
        first = int(np.argmax(missed.any(axis=tuple(range(missed.ndim - 1)))))
        share = f"{counted(int(missed.sum()), 'value')} of {missed.size} ({', '.join(names)})"
        notes.append(
            f"{share} not measured, the first at {axis.origin + first * axis.step:g} {axis.unit}: they are used neither in "
            "training nor in scores"
        )
    if not gaps:
        return
    mask = np.array(np.broadcast_to(True if outputs.mask is None else outputs.mask, outputs.values.shape))
    for sample, start, stop in gaps:
        mask[sample, ..., start:stop] = False
    outputs.mask = mask
