"""Time stamps and coordinates: check whether they are uniform, and interpolate to a uniform grid if they are not."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from lfno.core.errors import LfnoError, Option
from lfno.core.grid import Axis
from lfno.core.memory import BLOCK, allocate
from lfno.core.short import Short

#: share of a step: largest deviation of a stamp from a uniform grid. Rounded stamps deviate less, a drifting clock more
TOLERANCE = 0.05
LONG = 1.5  # median steps: a longer interval between two stamps is a gap
MOST_LOST = 10  # grid points per row, at most; with more, too many rows are missing and the stamps are taken as not uniform
#: seconds in each unit of time
SECONDS = {
    "s": 1.0, "sec": 1.0, "secs": 1.0, "second": 1.0, "seconds": 1.0, "ms": 1e-3, "milliseconds": 1e-3, "us": 1e-6,
    "µs": 1e-6, "μs": 1e-6, "microseconds": 1e-6, "ns": 1e-9, "nanoseconds": 1e-9, "min": 60.0, "minutes": 60.0,
    "h": 3600.0, "hr": 3600.0, "hours": 3600.0, "d": 86400.0, "day": 86400.0, "days": 86400.0,
}  # fmt: skip


@dataclass(frozen=True, repr=False)
class Clock(Short):
    """The time stamps of one time vector, and a uniform time axis.

    stamps: (rows,) time stamps in the unit of the axis.
    axis: a uniform time axis.
    uniform: True if the stamps lie on the axis; False if the signals must be interpolated to the axis.
    places: (rows,) index of the point on the axis for each stamp, if rows are missing; None if every point has a stamp.
    """

    stamps: np.ndarray
    axis: Axis
    uniform: bool
    places: np.ndarray | None = None


def in_seconds(stamps: np.ndarray, unit: str, name: str, notes: list[str]) -> tuple[np.ndarray, str]:
    """Return (stamps, unit) in seconds. Stamps in an unknown unit are not converted. Stamps without a unit count as seconds.

    name: the name of the time vector. If `unit` is empty, the last word of the name may be the unit, as in `time_ms`. A single
        letter is a unit only after a word: `time_h` is in hours, but the letter of `t_h` or `t_d` may be an index.
    """
    before, word = next(iter(re.findall(r"([A-Za-z]*)[_ .]([A-Za-zµμ]+)$", name)), ("", ""))
    index = not unit.split() and len(word) == 1 and len(before) <= 1
    word = unit.split()[0] if unit.split() else word
    factor = SECONDS.get(word.lower())
    if factor not in (None, 1) and index:
        notes.append(f"the time {name!r} has no unit and is taken in s; if it is in {word}, add the unit to the name: [{word}]")
        return stamps, "s"
    if factor is None:
        return stamps, unit or "s"
    if factor == 1:
        return stamps, "s"
    notes.append(f"the time {name!r} was converted from {word} to s")
    return stamps * factor, "s"


def tidy(step: float) -> float:
    """Return a step rounded to 12 digits. This removes the rounding error of a subtraction: 0.049999999999999996 → 0.05."""
    return float(f"{step:.12g}")


def clock(
    stamps: np.ndarray, name: str, unit: str, where: Callable[[int], str], resample: bool, notes: list[str]
) -> Clock:
    """Return the clock of the stamps t_0, t_1, …, t_N: one stamp for each of the N + 1 rows.

    stamps: (rows,) time stamps, which must increase.
    name, unit: name and unit of the time vector.
    where: `where(i)` says where row i is in the file ("line 13"), for messages.
    resample: whether signals may be interpolated. Stamps that are not uniform then get an axis with about the median step.
    notes: receives a sentence for each finding.

    The stamps are uniform if |t_i − (t_0 + i dt)| ≤ 0.05 dt for every i, with dt = (t_N − t_0)/N. They are also uniform if some
    rows are missing and all stamps lie on a uniform axis.
    Raises LfnoError if there are fewer than three stamps, if the stamps do not increase, or if they are not uniform and
    `resample` is False.
    """
    if len(stamps) < 3:
        raise LfnoError(f"the time {name!r} has {len(stamps)} values; at least 3 are needed")
    at = first_not_later(stamps)
    if at is not None:
        what = "stays at" if stamps[at] == stamps[at - 1] else f"goes back from {stamps[at - 1]:g} to"
        raise LfnoError(
            f"the time {name!r} {what} {stamps[at]:g} at {where(at)}; remove that row. If the table holds several "
            "trajectories, name the column with their numbers: ",
            Option("sample", "NAME"),
        )
    count = len(stamps)
    span = float(stamps[-1] - stamps[0])
    step = span / (count - 1)
    worst = max(
        float(np.abs(stamps[piece] - stamps[0] - step * np.arange(piece.start, min(piece.stop, count))).max()) / step
        for piece in _pieces(count)
    )
    if worst <= TOLERANCE:
        if worst > 1e-6:
            notes.append(f"{name!r} deviates from uniform steps of {step:g} {unit} by at most {100 * worst:.2g} % of a step")
        return Clock(stamps, Axis("t", count, tidy(step), float(stamps[0]), unit, time=True), True)
    steps = np.diff(stamps)
    usual, largest = float(np.median(steps)), int(np.argmax(steps))
    places = _lost_rows(stamps, usual)
    if places is not None:
        size = int(places[-1]) + 1
        notes.append(
            f"{size - count} rows are missing in the time {name!r}, with the longest gap after {where(largest)} "
            f"({steps[largest]:.4g} {unit}): their values are taken as not measured"
        )
        return Clock(stamps, Axis("t", size, tidy(span / (size - 1)), float(stamps[0]), unit, time=True), True, places)
    if not resample:
        raise LfnoError(
            f"the time {name!r} is not uniform: steps are between {steps.min():g} and {steps[largest]:g} {unit} (largest "
            f"after {where(largest)}), and times deviate by up to {worst:.1f} steps from uniform times; interpolate with ",
            Option("resample", True),
        )
    size = round(span / usual) + 1
    notes.append(
        f"the time {name!r} is not uniform: {count} rows were interpolated to {size} points with a step of "
        f"{span / (size - 1):g} {unit}; the longest interval between two rows was {steps[largest]:g} {unit}"
    )
    return Clock(stamps, Axis("t", size, tidy(span / (size - 1)), float(stamps[0]), unit, time=True), False)


def _lost_rows(stamps: np.ndarray, usual: float) -> np.ndarray | None:
    """Return the index of each stamp on a uniform axis, (rows,); None if the stamps do not lie on a uniform axis.

    stamps: (rows,) increasing time stamps. An index without a stamp is a missing row.
    usual: the median step, in the unit of the stamps.

    >>> _lost_rows(np.array([0.0, 0.1, 0.2, 0.5, 0.6]), 0.1)
    array([0, 1, 2, 5, 6])
    """
    elapsed = stamps - stamps[0]
    places = np.rint(elapsed / usual)
    places = np.rint(elapsed / (elapsed[-1] / places[-1]))
    step = elapsed[-1] / places[-1]
    fits = np.abs(elapsed - places * step).max() <= TOLERANCE * step and np.diff(places).min() >= 1
    return places.astype(np.int64) if fits and places[-1] < MOST_LOST * len(stamps) else None


def placed(values: np.ndarray, clock: Clock, notes: list[str], what: str) -> np.ndarray:
    """Return the values (…, points) on the axis of a uniform clock, with NaN where a row is missing.

    values: (…, rows).
    what: names of the signals, for the note about memory.
    """
    if clock.places is None:
        return values
    result = allocate((*values.shape[:-1], clock.axis.size), notes, what)
    result[...] = np.nan
    result[..., clock.places] = values
    return result


def _pieces(count: int) -> list[slice]:
    """Return slices of about 32 MB, because the stamps of a file may be larger than memory."""
    size = BLOCK // 8
    return [slice(start, start + size) for start in range(0, count, size)]


def first_not_later(stamps: np.ndarray) -> int | None:
    """Return the index of the first stamp that is not later than the stamp before it; None if all stamps increase."""
    before, after = stamps[:-1], stamps[1:]
    for piece in _pieces(len(before)):
        stuck = after[piece] <= before[piece]
        if stuck.any():
            return piece.start + int(np.argmax(stuck)) + 1
    return None


def common(first: Clock, second: Clock, names: tuple[str, ...], notes: list[str]) -> Axis:
    """Return the time axis of the interval that both clocks cover. Its step is the smaller of the two steps.

    Raises LfnoError if the clocks do not overlap.
    """
    start = max(first.stamps[0], second.stamps[0])
    stop = min(first.stamps[-1], second.stamps[-1])
    if stop <= start:
        raise LfnoError(f"the times {names[0]!r} and {names[1]!r} do not overlap")
    step = min(first.axis.step, second.axis.step)
    # add 1e-6, because rounding may leave the quotient slightly below a whole number of steps
    size = math.floor((stop - start) / step + 1e-6) + 1
    notes.append(
        f"the signals at the times {names[0]!r} (step {first.axis.step:g}) and {names[1]!r} (step {second.axis.step:g}) were "
        f"interpolated to {size} common points with a step of {step:g}"
    )
    return Axis("t", size, step, float(start), first.axis.unit, time=True)


def onto(values: np.ndarray, stamps: np.ndarray, axis: Axis, notes: list[str], what: str) -> np.ndarray:
    """Return values (…, points) on a uniform axis, interpolated with monotone cubics (PCHIP), which never overshoot the data.

    Before the first stamp and after the last one, the nearest value is held.

    values: (…, rows).
    what: names of the signals, for the note about memory.
    """
    from scipy.interpolate import PchipInterpolator

    points = np.clip(axis.points, stamps[0], stamps[-1])
    result = allocate((*values.shape[:-1], axis.size), notes, what)
    for index in np.ndindex(values.shape[:-1]):
        result[index] = PchipInterpolator(stamps, values[index])(points)
    return result


def measured_at(axis: Axis, stamps: np.ndarray, mask: np.ndarray | None) -> np.ndarray | None:
    """Return booleans (…, points): whether the value at each point of a uniform axis counts as measured; None if all do.

    axis: the uniform axis.
    stamps: (rows,) time stamps of the measured values.
    mask: (…, rows), True where the value at a stamp was measured; None if all values were measured.

    A point counts as measured if the values at both neighbouring stamps were measured. In addition, the two stamps must be at
    most LONG median steps apart, unless one of them coincides with the point.
    """
    points = np.clip(axis.points, stamps[0], stamps[-1])
    right = np.clip(np.searchsorted(stamps, points), 1, len(stamps) - 1)
    steps = np.diff(stamps)
    good = steps[right - 1] <= LONG * np.median(steps)
    on_stamp = np.minimum(np.abs(points - stamps[right - 1]), np.abs(points - stamps[right])) <= TOLERANCE * axis.step
    good |= on_stamp
    if mask is not None:
        return mask[..., right - 1] & mask[..., right] & good
    return None if good.all() else good.reshape(1, 1, -1)


def coordinate(name: str, values: np.ndarray, unit: str) -> Axis:
    """Return the axis of a coordinate vector. Raises LfnoError if the vector is not uniform and increasing."""
    steps = np.diff(values)
    step = float(values[-1] - values[0]) / max(len(values) - 1, 1)
    if not np.isfinite(values).all() or step <= 0 or np.abs(steps - step).max() > TOLERANCE * step:
        raise LfnoError(f"the coordinate {name!r} does not increase in equal steps; interpolate the field to a uniform grid")
    return Axis(name, len(values), tidy(step), float(values[0]), unit)
