"""Format modes as cells of a table: values with their 95 % intervals."""

from __future__ import annotations

import math

from lfno.identification.mode import Interval, Mode

#: column headings for the cells that `mode_cells` returns
HEADINGS = ("frequency", "damping ratio", "time constant", "contribution")
SMALLEST = 1e-4  # smaller values are written with an exponent
LARGEST = 1e6  # larger values are written with an exponent


def mode_cells(mode: Mode) -> list[str]:
    """Return frequency, damping ratio, time constant and contribution of a mode as text, each with its unit.

    >>> mode = Mode(-0.2 + 3j, 0.4775, 0.0665, 5.0, 0.98, (1 + 0j,), (0.4765, 0.4785), (0.06, 0.073), (4.5, 5.5))
    >>> mode_cells(mode)
    ['0.4775 ± 0.0010 Hz', '0.0665 ± 0.0065', '5.00 ± 0.50 s', '98 %']
    """
    return [
        f"{with_interval(mode.frequency, mode.frequency_interval)} Hz",
        with_interval(mode.damping_ratio, mode.damping_interval),
        f"{with_interval(mode.time_constant, mode.time_constant_interval)} s",
        f"{100 * mode.contribution:.2g} %" if mode.contribution < 0.095 else f"{100 * mode.contribution:.0f} %",
    ]


def with_interval(value: float, interval: Interval) -> str:
    """Return the text `value ± half-width of the interval`. The half-width has two significant digits, or all before the point.

    An interval without finite positive width gives the value alone.

    >>> with_interval(0.15915, (0.158, 0.1603)), with_interval(12.0, (12.0, 12.0))
    ('0.1592 ± 0.0011', '12')
    >>> with_interval(1.03e-8, (1e-8, 1.06e-8)), with_interval(1.13e8, (1.1e8, 1.16e8))
    ('1.03e-08 ± 3e-10', '1.13e+08 ± 3e+06')
    """
    half = (interval[1] - interval[0]) / 2
    if not (math.isfinite(half) and half > 0 and math.isfinite(value)):
        return f"{value:.4g}"
    if abs(value) < SMALLEST or abs(value) > LARGEST:
        return f"{value:.3g} ± {half:.2g}"
    digits = max(0, 1 - math.floor(math.log10(half)))
    return f"{value:.{digits}f} ± {half:.{digits}f}"
