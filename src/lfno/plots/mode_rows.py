"""Format modes as cells of a table: values with their 95 % intervals."""

from __future__ import annotations

import math
from collections.abc import Sequence

from lfno.core.grid import frequency_unit
from lfno.identification.mode import Mode

#: column headings for the cells that `mode_cells` returns
HEADINGS = ("frequency", "damping ratio", "time constant", "contribution")
SMALLEST = 1e-4  # smaller values are written with an exponent
LARGEST = 1e6  # larger values are written with an exponent
DECAY = "decay"  # word in the column of the frequency for a mode that does not oscillate
UNCERTAIN = "uncertain"  # word after a value that the data do not determine
MOST_DIGITS = 8  # largest number of digits after the point
#: an interval has no ± if the value differs from the middle of the interval by more than this part of the half-width
SKEW = 0.1


def mode_cells(mode: Mode, unit: str = "s", intervals: bool = True) -> list[str]:
    """Return frequency, damping ratio, time constant and contribution of a mode as text, each with its unit.

    A decay does not oscillate: it has no frequency and no damping ratio.

    Args:
        mode: The mode.
        unit: The unit of time.
        intervals: Whether the cells have intervals.

    >>> mode = Mode(-0.2 + 3j, 0.4775, 0.0665, 5.0, 0.98, (1 + 0j,), (0.4765, 0.4785), (0.06, 0.073), (4.5, 5.5))
    >>> mode_cells(mode)
    ['0.4775 ± 0.0010 Hz', '0.0665 ± 0.0065', '5.00 ± 0.50 s', '98 %']
    >>> mode_cells(mode, "h", intervals=False)
    ['0.4775 1/h', '0.0665', '5 h', '98 %']
    """

    def told(value: float, interval: Sequence[float | None], unit: str = "") -> str:
        return with_interval(value, interval if intervals else (value, value), unit)

    share = f"{100 * mode.contribution:.2g} %" if mode.contribution < 0.095 else f"{100 * mode.contribution:.0f} %"
    time = told(mode.time_constant, mode.time_constant_interval, unit)
    if mode.frequency == 0:
        return [DECAY, "–", time, share]
    frequency = told(mode.frequency, mode.frequency_interval, frequency_unit(unit))
    return [frequency, told(mode.damping_ratio, mode.damping_interval), time, share]


def with_interval(value: float, interval: Sequence[float | None], unit: str = "") -> str:
    """Return the text of a value with its 95 % interval and its unit, with two significant digits of the half-width.

    The text is `value ± half-width`, or `value (lower end to upper end)` if the value is not in the middle. If the interval
    contains zero or is unbounded, the data do not determine the value: the text is then `about` with two digits of the value.
    None stands for an infinite end. An interval of zero width is left out.

    >>> with_interval(0.15915, (0.158, 0.1603), "Hz"), with_interval(51.4, (42.0, 61.0)), with_interval(12.0, (12.0, 12.0))
    ('0.1592 ± 0.0011 Hz', '51.4 ± 9.5', '12')
    >>> with_interval(1.03e-8, (1e-8, 1.06e-8)), with_interval(1.13e8, (1.1e8, 1.16e8))
    ('1.03e-08 ± 3e-10', '1.13e+08 ± 3e+06')
    >>> with_interval(6.17, (5.0, 8.1), "s"), with_interval(6.17, (0.4, None), "s"), with_interval(0.0947, (0.0, 0.3))
    ('6.2 s (5.0 to 8.1)', 'about 6.2 s, uncertain', 'about 0.095, uncertain')
    """
    low, high = (math.copysign(math.inf, value) if end is None else end for end in interval)
    half, end = (high - low) / 2, f" {unit}" if unit else ""
    if half == 0 or not math.isfinite(value) or math.isnan(half):
        return f"{value:.4g}{end}"
    if math.isinf(half) or low <= 0 <= high:
        return f"about {value:.2g}{end}, {UNCERTAIN}"
    if abs(value) < SMALLEST or abs(value) > LARGEST:
        return f"{value:.3g} ± {half:.2g}{end}"
    digits = min(max(0, 1 - math.floor(math.log10(half))), MOST_DIGITS)
    if abs((low + high) / 2 - value) > SKEW * half:
        return f"{value:.{digits}f}{end} ({low:.{digits}f} to {high:.{digits}f})"
    return f"{value:.{digits}f} ± {half:.{digits}f}{end}"
