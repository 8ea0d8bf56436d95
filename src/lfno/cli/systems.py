"""`lfno systems`: the table of the built-in systems and their data sets."""

from __future__ import annotations

from typing import Any

import typer

from lfno.cli.shared import Json
from lfno.core.json_text import to_json


def register(app: typer.Typer) -> None:
    """Add `lfno systems` to the command line."""
    app.command()(systems)


def systems(as_json: Json = False) -> None:
    """List the built-in systems with their equations, grids, parameters and data sets."""
    rows = describe()
    if as_json:
        print(to_json(rows, indent=2, ensure_ascii=False))
        return
    from rich.console import Console
    from rich.table import Table

    table = Table(show_lines=True)
    table.add_column("data sets", no_wrap=True)
    table.add_column("equation, conditions, grid", overflow="fold")
    table.add_column("parameters", overflow="fold")
    for row in rows:
        names = [line for name, suffixes in _grouped(row["sets"]).items() for line in (name, f"  {suffixes}".rstrip())]
        steps = [f"d{axis['name']} = {axis['step']:.4g} {axis['unit']} (× {axis['size']})" for axis in row["grid"]]
        laws = [f"[bold]{row['title']}[/]", row["equation"], row["conditions"], ", ".join(steps)]
        parameters = [
            line
            for p in row["parameters"]
            for line in (f"{p['name']} = {_shown(p['default'])} {p['unit']}".rstrip(), f"  in {p['range']}")
        ]
        table.add_row("\n".join(filter(None, names)), "\n".join(laws), "\n".join(parameters))
    Console().print(table)
    print("NAME-rich: random inputs; interpolation between training samples is not possible")
    print("NAME-out: other kinds of input, for tests only; no model is trained on them")


def _shown(value: float | str) -> str:
    """Return a value as text; numbers have six digits."""
    return value if isinstance(value, str) else f"{value:.6g}"


def _grouped(names: list[str]) -> dict[str, str]:
    """Return the endings of the variants of each data set by its name: `{"duffing-c0": "-rich -out"}`."""
    from lfno.systems import REGISTRY

    groups: dict[str, str] = {}
    for name in names:
        base = next((n for n in REGISTRY[name].system.sets if name.startswith(f"{n}-") and n in groups), None)
        if base is None or name in REGISTRY[name].system.sets:
            groups[name] = ""
        else:
            groups[base] = f"{groups[base]} {name.removeprefix(base)}".strip()
    return groups


def describe() -> list[dict[str, Any]]:
    """Return one row of plain values per system: title, equation, conditions, grid, parameters and data sets."""
    from dataclasses import asdict

    from lfno.systems import REGISTRY

    rows = []
    for system in dict.fromkeys(entry.system for entry in REGISTRY.values()):
        rows.append(
            {
                "title": system.title,
                "equation": system.equation,
                "conditions": system.conditions,
                "grid": [asdict(axis) for axis in system.grid.axes],
                "parameters": [
                    {"name": p.name, "default": p.default, "unit": p.unit, "range": p.range, "meaning": p.meaning}
                    for p in system.parameters
                ],
                "sets": [name for name, entry in REGISTRY.items() if entry.system is system],
            }
        )
    return rows
