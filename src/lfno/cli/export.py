"""`lfno export MODEL --to onnx | torch`: a file that runs without lfno."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from lfno.cli.predict import Json, ModelPath
from lfno.core.errors import LfnoError

SUFFIX = {"onnx": ".onnx", "torch": ".pt2"}


def register(app: typer.Typer) -> None:
    app.command("export")(export)


def export(
    model: ModelPath,
    to: Annotated[str, typer.Option(help="onnx or torch.")] = "onnx",
    out: Annotated[Path | None, typer.Option("--out", "-o", help="File to write; beside the model if not given.")] = None,
    size: Annotated[int | None, typer.Option(help="Points in time; those of training if not given.", min=8)] = None,
    dt: Annotated[float | None, typer.Option(help="Time step; the window keeps its duration if size is not given.")] = None,
    member: Annotated[int, typer.Option(help="Which member of an ensemble.", min=0)] = 0,
    as_json: Json = False,
) -> None:
    """Export a network on a fixed grid with any batch, and check the file against the original on random input."""
    from lfno.models.export import TARGETS
    from lfno.surrogate import load

    if to not in TARGETS:
        raise LfnoError(f"a model cannot be exported to {to!r}; choose {' or '.join(TARGETS)}")
    surrogate = load(model)
    grid, axis = surrogate.grid, surrogate.grid.axes[-1]
    if dt is not None and not dt > 0:
        raise LfnoError(f"the step --dt {dt:g} must be positive")
    step = dt or axis.step
    if dt is not None or size is not None:
        grid = grid.change(axis.name, step=step, size=size or round(axis.length / step))
    stem = model.name if model.is_dir() else model.stem
    target = out or (model if model.is_dir() else Path(".")) / f"{stem}{SUFFIX[to]}"
    written = surrogate.export(to, target, grid, member)
    shape = " × ".join(["batch", str(surrogate.channels[0]), *map(str, grid.shape)])
    if as_json:
        shape_of = [None, surrogate.channels[0], *grid.shape]
        typer.echo(json.dumps({"out": str(target), "error": written.error, "bytes": written.size, "input": shape_of}))
        return
    typer.echo(f"{target}: input float32 ({shape}), step {step:g} {axis.unit}, {written.size / 1e6:.1f} MB")
    typer.echo(f"largest difference from the original on random input: {written.error:.1e} of the largest output")
