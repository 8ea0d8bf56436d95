"""Read the times in a text table: dates, times of day and durations."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import datetime

import numpy as np

DAY = 86400.0  # seconds
EPOCH = datetime(1970, 1, 1).toordinal()  # days: the day from which dates are counted
#: seconds in each unit of a duration such as `0.5 sec`
UNITS = {"us": 1e-6, "ms": 1e-3, "s": 1.0, "sec": 1.0, "min": 60.0, "hr": 3600.0, "h": 3600.0, "day": DAY, "days": DAY}

_YEAR_FIRST = r"(?P<year>\d{4})[-/](?P<month>\d\d?)[-/](?P<day>\d\d?)"
_YEAR_LAST = r"(?P<one>\d\d?)(?P<mark>[./-])(?P<two>\d\d?)[./-](?P<last>\d{4})"
_CLOCK = r"(?P<first>\d+):(?P<second>\d\d)(?::(?P<third>\d\d))?(?:[.,](?P<fraction>\d+))?\s*(?P<half>[AaPp][Mm])?"
_STAMP = re.compile(rf"^(?:{_YEAR_FIRST}|{_YEAR_LAST})?(?:(?<=\d)[T ]\s*)?(?:{_CLOCK})?\s*(?:Z|[+-]00:?00)?$")
_DURATION = re.compile(rf"^(?P<number>[+-]?\d+(?:[.,]\d+)?)\s*(?P<unit>{'|'.join(UNITS)})$")


def is_time(cell: str) -> bool:
    """Return whether a cell holds a date, a time of day or a duration with its unit.

    >>> is_time("2020-03-01"), is_time("10:30"), is_time("5 ms"), is_time("Z")
    (True, True, True, False)
    """
    match = _STAMP.match(cell)  # every part of the pattern is optional: the time zone Z alone is no time
    return bool(match and (match["first"] or match["year"] or match["last"])) or bool(_DURATION.match(cell))


def only_dates(cells: Sequence[str]) -> bool:
    """Return whether the cells are dates without a time of day."""
    found = [_STAMP.match(cell) for cell in cells]
    return all(match and match["first"] is None and (match["year"] or match["last"]) for match in found)


def only_clock(cells: Sequence[str]) -> bool:
    """Return whether the cells are times of day, or durations of this form."""
    found = [_STAMP.match(cell) for cell in cells]
    return all(match and match["first"] is not None and not (match["year"] or match["last"]) for match in found)


def day_first(cells: Sequence[str]) -> bool:
    """Return whether the dates begin with the day: always with dots; with other signs, if a first number exceeds 12."""
    found = [match for cell in cells if (match := _STAMP.match(cell)) and match["one"]]
    return any(match["mark"] == "." or int(match["one"]) > 12 for match in found)


def microseconds(cell: str, day_first: bool = False) -> float:
    """Return the time in a cell in microseconds: a date since 1970, a time of day since midnight, or a duration.

    Double precision holds microseconds since 1970 exactly, but not the same times in seconds.
    Raises ValueError for a cell that holds no time.

    >>> [microseconds(cell) / 1e6 for cell in ("00:01:02.5", "80 ms", "01:30 PM", "02:03.5")]
    [62.5, 0.08, 48600.0, 123.5]
    >>> (microseconds("2.3.2020 00:00:10", day_first=True) - microseconds("2020-03-01 23:59:00")) / 1e6
    70.0
    """
    if match := _DURATION.match(cell):
        return float(match["number"].replace(",", ".")) * UNITS[match["unit"]] * 1e6
    match = _STAMP.match(cell)
    if match is None or not (match["first"] or match["year"] or match["last"]):
        raise ValueError(f"{cell!r} is no time")
    days = 0
    if match["year"]:
        days = datetime(int(match["year"]), int(match["month"]), int(match["day"])).toordinal()
    elif match["last"]:
        day, month = (match["one"], match["two"]) if day_first else (match["two"], match["one"])
        days = datetime(int(match["last"]), int(month), int(day)).toordinal()
    return 1e6 * ((days - EPOCH) * DAY if days else 0.0) + 1e6 * _time_of_day(match)


def _time_of_day(match: re.Match[str]) -> float:
    """Return the time of day, or the duration of this form, in seconds. `match` is a match of `_STAMP`."""
    if match["first"] is None:
        return 0.0
    first, fraction = int(match["first"]), float(f"0.{match['fraction'] or 0}")
    if match["half"]:
        first = first % 12 + (12 if match["half"].lower() == "pm" else 0)
    if match["third"] is None and match["fraction"]:  # minutes and seconds
        return 60.0 * first + int(match["second"]) + fraction
    return 3600.0 * first + 60.0 * int(match["second"]) + int(match["third"] or 0) + fraction


def unwrapped(times: np.ndarray) -> np.ndarray:
    """Return times of day in seconds without the jump back at midnight.

    >>> unwrapped(np.array([86398.0, 86399.0, 0.0, 1.0])).tolist()
    [86398.0, 86399.0, 86400.0, 86401.0]
    """
    back = np.diff(times, prepend=times[:1]) < -DAY / 2
    return times + DAY * np.cumsum(back)
