"""Modes and poles as rows, and as tables on the screen."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from lfno.identification.identify import Modes


def mode_rows(first: Modes, members: list[Modes] | None = None) -> list[dict[str, Any]]:
    """One row per mode, strongest first; spread is over the nearest modes of the other members."""
    import numpy as np

    from lfno.spectral.physics import describe_poles

    described, shapes = describe_poles(first.poles), first.shapes
    rows: list[dict[str, Any]] = []
    for n, pole in enumerate(first.poles):
        row: dict[str, Any] = {name: float(values[n]) for name, values in described.items()}
        row |= {"re": float(pole.real), "im": float(pole.imag), "contribution": float(first.contributions[n])}
        row["shape"] = [[round(float(z.real), 6), round(float(z.imag), 6)] for z in shapes[:, n]]
        others = [other for other in members or [] if len(other.poles)]
        if len(others) > 1:
            nearest = np.array([other.poles[np.abs(other.poles - pole).argmin()] for other in others])
            spread = describe_poles(nearest)
            row["frequency_spread"] = float(spread["frequency"].std(ddof=1))
            row["damping_spread"] = float(spread["damping_ratio"].std(ddof=1))
        rows.append(row)
    return rows


def print_modes(rows: list[dict[str, Any]], title: str) -> None:
    from rich.console import Console
    from rich.table import Table

    several = bool(rows) and len(rows[0]["shape"]) > 1
    table = Table(title=title)
    for heading in ("frequency Hz", "damping ratio", "time constant s", "contribution", *(["mode shape"] if several else [])):
        table.add_column(heading, justify="right")
    for row in rows:
        frequency, damping = f"{row['frequency']:.5g}", f"{row['damping_ratio']:.4g}"
        if "frequency_spread" in row:
            frequency += f" ± {row['frequency_spread']:.1g}"
            damping += f" ± {row['damping_spread']:.1g}"
        cells = [frequency, damping, f"{row['time_constant']:.4g}", f"{row['contribution']:.3g}"]
        if several:
            cells.append("  ".join(f"{math.copysign(math.hypot(*z), z[0]):+.3f}" for z in row["shape"]))
        table.add_row(*cells)
    Console().print(table)


def plain_rows(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Complex poles as two numbers, which JSON can hold."""
    plain = [{k: v for k, v in row.items() if k != "pole"} for row in rows]
    return [{**one, "re": row["pole"].real, "im": row["pole"].imag} for one, row in zip(plain, rows, strict=True)]


def print_layers(rows: list[dict[str, Any]], members: int = 1) -> None:
    from rich.console import Console
    from rich.table import Table

    first = " (of the first member)" if members > 1 else ""
    table = Table(title=f"poles of the layers{first}, by share of their layer's impulse response")
    for heading in ("layer", "axis", "frequency Hz", "damping ratio", "time constant s", "share"):
        table.add_column(heading, justify="right")
    for row in rows:
        cells = (f"{row[key]:.4g}" for key in ("frequency", "damping_ratio", "time_constant", "contribution"))
        table.add_row(str(row["layer"]), str(row["axis"]), *cells)
    Console().print(table)
