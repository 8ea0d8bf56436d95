"""From sides as the file has them to sides on one uniform clock, with nothing missing: each step is noted."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from lfno.core.errors import LfnoError
from lfno.core.grid import Axis
from lfno.data.files.variables import counted
from lfno.data.signals import missing
from lfno.data.signals.marks import blank_marks
from lfno.data.signals.sampling import clock, common, measured_at, onto
from lfno.data.signals.sides import Side

Rows = np.ndarray | range  # row of the file for each row that is left


@dataclass(frozen=True)
class Allowed:
    """What the user allows to be done to the data."""

    drop_missing: bool = False
    interpolate: bool = False
    resample: bool = False

    def __post_init__(self) -> None:
        if self.drop_missing and self.interpolate:
            raise LfnoError("--drop-missing and --interpolate exclude each other; choose one")


@dataclass(frozen=True)
class Treatment:
    """What is allowed, how to point at row k of the file, and the names and unit of the clocks."""

    allowed: Allowed
    row: Callable[[int], str]
    times: tuple[str, ...]
    unit: str

    def rows(self, origin: Rows) -> Callable[[int], str]:
        """How to point at row k of what is left, where `origin[k]` is its row in the file."""
        return lambda k: self.row(int(origin[k]))


def clean(
    inputs: Side, outputs: Side, treatment: Treatment, notes: list[str]
) -> tuple[Side, Side, Axis, np.ndarray]:
    """(inputs, outputs, time axis, indices of the samples that were kept)."""
    shared = inputs.stamps is outputs.stamps
    sides = [inputs, outputs]
    origins = [_without_missing_stamps(side, treatment, notes) for side in ([outputs] if shared else sides)]
    if shared:
        inputs.values = inputs.values[..., origins[0]] if len(origins[0]) < inputs.values.shape[-1] else inputs.values
        inputs.stamps, origins = outputs.stamps, [origins[0], origins[0]]
    kept = _without_missing_values(sides, origins, shared, treatment, notes)
    axis = _one_clock(sides, origins, shared, treatment, notes)
    _mask_filled(inputs, outputs, notes)
    return inputs, outputs, axis, kept


def _mask_filled(inputs: Side, outputs: Side, notes: list[str]) -> None:
    """An output does not count where it, or an input, was filled in."""
    if inputs.mask is not None:
        known = np.asarray(inputs.mask.all(axis=tuple(range(1, inputs.mask.ndim - 1))))  # (sample, time)
        known = known.reshape(len(known), *[1] * (outputs.values.ndim - 2), -1)
        outputs.mask = known if outputs.mask is None else outputs.mask & known
    if outputs.mask is None:
        return
    outputs.mask = np.broadcast_to(outputs.mask, outputs.values.shape)
    count = outputs.mask.size - int(outputs.mask.sum())
    if count:
        notes.append(f"{counted(count, 'output value')} of {outputs.mask.size} not measured: not used in training or scores")


def _without_missing_stamps(side: Side, treatment: Treatment, notes: list[str]) -> Rows:
    """Rows with a time stamp, as indices into the file."""
    good = np.isfinite(side.stamps)
    if good.all():
        return range(len(good))
    rows = np.flatnonzero(good)
    if not rows.size:
        raise LfnoError("the time has no value in any row; name another with --time, or give the step with --dt")
    lost, first = counted(len(good) - len(rows), "row"), treatment.row(int(np.argmin(good)))
    if not treatment.allowed.drop_missing:
        raise LfnoError(f"the time has no value in {lost} (first at {first}); remove them or use --drop-missing")
    notes.append(f"{lost} without a time dropped, the first at {first}")
    side.values, side.stamps = side.values[..., rows], side.stamps[rows]
    return rows


def _without_missing_values(
    sides: list[Side], origins: list[Rows], shared: bool, treatment: Treatment, notes: list[str]
) -> np.ndarray:
    samples = max(side.values.shape[0] for side in sides)
    kept = np.arange(samples)
    marks = []
    for side in sides:
        side.values, found = blank_marks(side.values, side.names, notes)
        marks.append(found)
    goods = [missing.finite(side.values) for side in sides]
    if all(good.all() for good in goods):
        return kept
    if treatment.allowed.interpolate:
        for side, good in zip(sides, goods, strict=True):
            if not good.all():
                lacking = ", ".join(missing.incomplete(side.values, side.names))
                side.mask = np.isfinite(side.values)
                side.values = missing.fill(side.values, side.stamps, notes, lacking)
        return kept
    if not treatment.allowed.drop_missing:
        for side, good, found, origin in zip(sides, goods, marks, origins, strict=True):
            if not good.all():
                missing.refuse(missing.incomplete(side.values, side.names), good, found, treatment.rows(origin))
    if samples > 1:
        whole = np.logical_and(*(np.broadcast_to(good.all(axis=1), samples) for good in goods))
        kept = np.flatnonzero(whole)
        if not kept.size:
            raise LfnoError("every sample has values missing; use --interpolate")
        for side in sides:
            side.values = side.values[kept] if side.values.shape[0] > 1 else side.values
        notes.append(f"{samples - kept.size} of {samples} samples had values missing and were dropped")
        return kept
    for k, (side, good) in enumerate(zip(sides, goods, strict=True)):
        start, stop = missing.longest_run((goods[0] & goods[1])[0] if shared else good[0])
        if stop - start < len(side.stamps) and not (shared and k):
            notes.append(
                f"values are missing: the longest stretch without gaps was kept, {stop - start} of {len(side.stamps)} "
                f"rows, from {treatment.row(int(origins[k][start]))}; --interpolate would keep all"
            )
        side.values, side.stamps = side.values[..., start:stop], side.stamps[start:stop]
        origins[k] = origins[k][start:stop]
    return kept


def _one_clock(
    sides: list[Side], origins: list[Rows], shared: bool, treatment: Treatment, notes: list[str]
) -> Axis:
    names = treatment.times if len(treatment.times) == 2 else treatment.times * 2
    clocks = []
    for k, side in enumerate(sides[1:] if shared else sides):
        resample = treatment.allowed.resample
        clocks.append(clock(side.stamps, names[k], treatment.unit, treatment.rows(origins[k]), resample, notes))
    if shared:
        axis = clocks[0].axis
        if clocks[0].uniform:
            return axis
    elif np.array_equal(sides[0].stamps, sides[1].stamps) and clocks[0].uniform:
        return clocks[0].axis
    else:
        if not treatment.allowed.resample:
            raise LfnoError(
                f"input and output have their own clocks, {names[0]!r} (step {clocks[0].axis.step:g}) and {names[1]!r} "
                f"(step {clocks[1].axis.step:g}); use --resample to interpolate both to the finer one"
            )
        axis = common(clocks[0], clocks[1], names, notes)
    for side in sides:
        side.mask = measured_at(axis, side.stamps, side.mask)
        side.values = onto(side.values, side.stamps, axis, notes, ", ".join(side.names))
    return axis
