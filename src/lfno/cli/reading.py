"""The options that say how a file is read, shared by all commands that take one."""

from __future__ import annotations

from typing import Annotated, Any

import typer

Input = Annotated[str | None, typer.Option(help="Input variables: f, or f1,f2, or f*.")]
Output = Annotated[str | None, typer.Option(help="Output variables.")]
Time = Annotated[str | None, typer.Option(help="Time vector (two: the input's and the output's).")]
Sample = Annotated[str | None, typer.Option(help="Column that numbers the trajectories of a table.")]
Axes = Annotated[str | None, typer.Option(help='What the axes are: "sample,t" or "f=sample,t;u=sample,x,t".')]
Dt = Annotated[float | None, typer.Option(help="Time step of data without a time vector.")]
DropMissing = Annotated[bool, typer.Option("--drop-missing", help="Drop what has missing values.")]
Interpolate = Annotated[bool, typer.Option("--interpolate", help="Fill missing values by interpolation.")]
Resample = Annotated[bool, typer.Option("--resample", help="Bring clocks that are not uniform to one that is.")]


def options(
    input: str | None,
    output: str | None,
    time: str | None,
    sample: str | None,
    axes: str | None,
    dt: float | None,
    drop_missing: bool,
    interpolate: bool,
    resample: bool,
) -> dict[str, Any]:
    """The keywords of `lfno.data.signals.load`."""
    return dict(locals())
