"""Tables of modes and of poles: as rows of plain values for JSON, and printed on the screen."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np

    from lfno.identification.mode import Mode


def mode_rows(modes: Sequence[Mode], truth: np.ndarray | None = None) -> list[dict[str, Any]]:
    """Return one row of plain values for each mode, in the order of `modes`. `re` and `im` are the parts of the pole.

    truth: poles of the equation, if the equation is known. Each row then has the nearest of these poles under `true`.
    """
    from lfno.spectral.physics import describe_poles

    rows = [mode.to_dict() for mode in modes]
    for row, mode in zip(rows, modes, strict=True):
        row["re"], row["im"] = row.pop("pole")
        if truth is not None and len(truth):
            nearest = truth[abs(truth - mode.pole).argmin()]
            told = {name: float(values[0]) for name, values in describe_poles(nearest.reshape(1)).items()}
            row["true"] = {"re": float(nearest.real), "im": float(nearest.imag), **told}
    return rows


def print_modes(rows: list[dict[str, Any]], title: str, unit: str) -> None:
    """Print a table of modes. Frequency, damping ratio and time constant have their 95 % intervals.

    unit: the unit of time.
    """
    from rich.console import Console
    from rich.table import Table

    from lfno.core.grid import frequency_unit
    from lfno.plots.mode_rows import with_interval

    several = bool(rows) and len(rows[0]["shape"]) > 1
    table = Table(title=title, caption="± or (…): 95 % interval. uncertain: the data do not determine the value")
    headings = [f"frequency {frequency_unit(unit)}".rstrip(), "damping ratio", f"time constant {unit}".rstrip(), "share"]
    known = any("true" in row for row in rows)
    headings += [*(["mode shape"] if several else []), *(["equation"] if known else [])]
    for heading in headings:
        table.add_column(heading, justify="right", no_wrap=not heading.startswith(("time", "equation")))
    for row in rows:
        frequency = with_interval(row["frequency"], row["frequency_interval"])
        damping = with_interval(row["damping_ratio"], row["damping_interval"])
        time = with_interval(row["time_constant"], row["time_constant_interval"])
        if row["im"] == 0:  # a real pole decays without oscillation: frequency and damping ratio have no meaning
            frequency, damping = "decay", "–"
        cells = [frequency, damping, time, f"{row['contribution']:.3g}"]
        if several:
            cells.append("  ".join(f"{math.copysign(math.hypot(*z), z[0]):+.3f}" for z in row["shape"]))
        if "true" in row:
            cells.append(_equation(row["true"]))
        table.add_row(*cells)
    Console().print(table)


def _equation(true: dict[str, float]) -> str:
    """Return the frequency and the damping ratio of a mode of the equation as text, or the time constant of a decay.

    >>> _equation({"im": 0.0, "time_constant": 1.5569}), _equation({"im": 3.0, "frequency": 0.4775, "damping_ratio": 0.0665})
    ('decay, 1.557 s', '0.4775 Hz, 0.0665')
    """
    if true["im"] == 0:
        return f"decay, {true['time_constant']:.4g} s"
    return f"{true['frequency']:.4g} Hz, {abs(true['damping_ratio']):.4g}"


def plain_rows(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the rows with `re` and `im` in place of the complex `pole`, which JSON cannot hold."""
    plain = [{k: v for k, v in row.items() if k != "pole"} for row in rows]
    return [{**one, "re": row["pole"].real, "im": row["pole"].imag} for one, row in zip(plain, rows, strict=True)]


def print_layers(rows: list[dict[str, Any]], unit: str, members: int = 1) -> None:
    """Print the table of the poles of the network's layers. The network is the first of `members` ensemble members.

    unit: the unit of time. The poles along an axis of space have the unit of this axis, so no column has a unit then.
    """
    from rich.console import Console
    from rich.table import Table

    from lfno.core.grid import frequency_unit

    first = " (of the first member)" if members > 1 else ""
    table = Table(title=f"poles of the layers{first}", caption="share: part of the impulse response of the layer")
    hertz, unit = (frequency_unit(unit), unit) if len({row["axis"] for row in rows}) == 1 else ("", "")
    for heading in ("layer", "axis", f"frequency {hertz}".rstrip(), "damping ratio", f"time constant {unit}".rstrip(), "share"):
        table.add_column(heading, justify="right")
    for row in rows:
        cells = (f"{row[key]:.4g}" for key in ("frequency", "damping_ratio", "time_constant", "contribution"))
        table.add_row(str(row["layer"]), str(row["axis"]), *cells)
    Console().print(table)
