"""Format modes as cells of a table: values with their 95 % intervals."""

from __future__ import annotations

import math

from lfno.core.grid import frequency_unit
from lfno.identification.mode import Interval, Mode

#: column headings for the cells that `mode_cells` returns
HEADINGS = ("frequency", "damping ratio", "time constant", "contribution")
SMALLEST = 1e-4  # smaller values are written with an exponent
LARGEST = 1e6  # larger values are written with an exponent
DECAY = "decay"  # word in the column of the frequency for a mode that does not oscillate
UNCERTAIN = "uncertain"  # word after a value whose half-width is larger than the value


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

    def told(value: float, interval: Interval, unit: str = "") -> str:
        return with_interval(value, interval if intervals else (value, value), unit)

    share = f"{100 * mode.contribution:.2g} %" if mode.contribution < 0.095 else f"{100 * mode.contribution:.0f} %"
    time = told(mode.time_constant, mode.time_constant_interval, unit)
    if mode.frequency == 0:
        return [DECAY, "–", time, share]
    frequency = told(mode.frequency, mode.frequency_interval, frequency_unit(unit))
    return [frequency, told(mode.damping_ratio, mode.damping_interval), time, share]


def with_interval(value: float, interval: Interval, unit: str = "") -> str:
    """Return the text `value ± half-width of the interval` with its unit. The half-width has two significant digits, or all
    before the point.

    An interval without finite positive width gives the value alone. If the half-width is larger than the value, the data do
    not determine the value: the text is then `about` with two digits of the value, and `uncertain`.

    >>> with_interval(0.15915, (0.158, 0.1603), "Hz"), with_interval(12.0, (12.0, 12.0))
    ('0.1592 ± 0.0011 Hz', '12')
    >>> with_interval(1.03e-8, (1e-8, 1.06e-8)), with_interval(1.13e8, (1.1e8, 1.16e8))
    ('1.03e-08 ± 3e-10', '1.13e+08 ± 3e+06')
    >>> with_interval(6.17, (-329397.0, 329409.0), "s")
    'about 6.2 s, uncertain'
    """
    half, end = (interval[1] - interval[0]) / 2, f" {unit}" if unit else ""
    if not (math.isfinite(half) and half > 0 and math.isfinite(value)):
        return f"{value:.4g}{end}"
    if half > abs(value):
        return f"about {value:.2g}{end}, {UNCERTAIN}"
    if abs(value) < SMALLEST or abs(value) > LARGEST:
        return f"{value:.3g} ± {half:.2g}{end}"
    digits = max(0, 1 - math.floor(math.log10(half)))
    return f"{value:.{digits}f} ± {half:.{digits}f}{end}"
