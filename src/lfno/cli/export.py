"""`lfno export MODEL --to c | fmu | onnx-step | onnx | torch`: write a model as a file that runs without lfno."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from lfno.cli.shared import Json, ModelPath
from lfno.core.errors import LfnoError
from lfno.core.json_text import to_json

if TYPE_CHECKING:
    from lfno.surrogate import Surrogate

SUFFIX = {"onnx": ".onnx", "torch": ".pt2", "c": ".c", "fmu": ".fmu", "onnx-step": ".onnx"}
BY_SAMPLE = ("c", "fmu", "onnx-step")  # forms that take one sample per call; the others take a whole window


def register(app: typer.Typer) -> None:
    """Add `lfno export` to the command line."""
    app.command("export")(export)


def export(
    model: ModelPath,
    to: Annotated[
        str, typer.Option(help="c, fmu and onnx-step run sample by sample. onnx and torch take a whole window.")
    ] = "onnx",
    out: Annotated[
        Path | None,
        typer.Option("--out", "-o", help="File to write. By default in the folder of the run, or in the current folder."),
    ] = None,
    size: Annotated[
        int | None, typer.Option(help="Points of a window, for onnx and torch. By default as in training.", min=8)
    ] = None,
    dt: Annotated[
        float | None,
        typer.Option(help="Time step. By default as in training. Without --size, a window keeps its duration."),
    ] = None,
    member: Annotated[int, typer.Option(help="Number of the ensemble member, counted from 0.", min=0)] = 0,
    precision: Annotated[
        str | None, typer.Option(help="float or double. Default: double for c; for onnx-step float, if accurate enough.")
    ] = None,
    fmi: Annotated[str | None, typer.Option(help="FMI version, for fmu: 2.0 (default) or 3.0.")] = None,
    as_json: Json = False,
) -> None:
    """Write a model as C99 code, as a functional mock-up unit (FMU), or for ONNX or PyTorch. The files run without lfno.

    Example: lfno export runs/rig --to fmu --out rig.fmu
    """
    from lfno.surrogate import load

    if to not in SUFFIX:
        raise LfnoError(f"a model cannot be exported to {to!r}; choose {', '.join(SUFFIX)}")
    if dt is not None and not dt > 0:
        raise LfnoError(f"the step --dt {dt:g} must be positive")
    surrogate = load(model)
    stem = model.name if model.is_dir() else model.stem
    target = out or (model if model.is_dir() else Path(".")) / f"{stem}{SUFFIX[to]}"
    step = dt or surrogate.grid.axes[-1].step
    _check_options(to, size, precision, fmi)
    if to in BY_SAMPLE:
        told, lines = _by_sample(surrogate, to, target, step, member, precision, fmi or "2.0")
    else:
        told, lines = _window(surrogate, to, target, size, step, member)
    for line in [to_json(told)] if as_json else lines:
        typer.echo(line)


def _check_options(to: str, size: int | None, precision: str | None, fmi: str | None) -> None:
    """Raise LfnoError for an option that the form `to` does not have."""
    if size is not None and to in BY_SAMPLE:
        raise LfnoError(f"--size is the size of a window, for onnx and torch; {to} runs sample by sample: leave out --size")
    if precision is not None and to not in ("c", "onnx-step"):
        raise LfnoError(f"--precision is for c and onnx-step; {to} has only one precision: leave out --precision")
    if fmi is not None and to != "fmu":
        raise LfnoError(f"--fmi is for fmu; leave out --fmi for {to}")


def _by_sample(
    surrogate: Surrogate, to: str, target: Path, step: float, member: int, precision: str | None, fmi: str
) -> tuple[dict[str, Any], list[str]]:
    """Write a form that runs sample by sample. Returns the facts for `--json`, and lines of text."""
    written = surrogate.export(to, target, member=member, dt=step, precision=precision, version=fmi)
    unit = surrogate.grid.axes[-1].unit
    if to == "c":
        size = sum(file.stat().st_size for file in written)
        names = " and ".join(str(file) for file in written)
        line = f"{names}: C99, {precision or 'double'}, step {step:g} {unit}, {size / 1e3:.0f} kB"
        return {"out": [str(file) for file in written], "bytes": size}, [line]
    size = target.stat().st_size
    if to == "onnx-step":
        told = {"out": str(target), "bytes": size, "error": written.error, "precision": written.precision}
        return told, [
            f"{target}: each call computes one step of {step:g} {unit} from input and state, "
            f"{written.precision}, {size / 1e3:.0f} kB",
            f"largest difference from the model on test inputs: {written.error:.1e} of the largest output",
            *_instead_of_single(written.single, "the file has double precision"),
        ]
    told = {"out": str(target), "bytes": size, "version": fmi, "binary": written.binary, "reason": written.reason}
    inside = f"source and a binary for {written.binary}" if written.binary else f"source only: {written.reason}"
    return told, [f"{target}: FMI {fmi} co-simulation, step {step:g} {unit}, {inside}, {size / 1e3:.0f} kB"]


def _window(
    surrogate: Surrogate, to: str, target: Path, size: int | None, step: float, member: int
) -> tuple[dict[str, Any], list[str]]:
    """Write a form that takes a whole window. Returns the facts for `--json`, and lines of text."""
    grid, axis = surrogate.grid, surrogate.grid.axes[-1]
    if size is not None or step != axis.step:
        grid = grid.change(axis.name, step=step, size=size or round(axis.length / step))
    written = surrogate.export(to, target, grid, member)
    shape = " × ".join(["batch", str(surrogate.channels[0]), *map(str, grid.shape)])
    told = {"out": str(target), "error": written.error, "bytes": written.size}
    told |= {"input": [None, surrogate.channels[0], *grid.shape]}
    return told, [
        f"{target}: input float32 ({shape}), step {step:g} {axis.unit}, {written.size / 1e3:.0f} kB",
        f"largest difference from the model for a random input: {written.error:.1e} of the largest output",
        *_instead_of_single(getattr(written, "single", None), "inside, the file computes in double precision"),
    ]


def _instead_of_single(error: float | None, fact: str) -> list[str]:
    """Return a line that says why a file has double precision, or no line if `error` is None.

    error: the largest difference between a file in single precision and the model, if this difference is too large; else None.
    fact: the beginning of the line.
    """
    return [] if error is None else [f"{fact}: in single precision the difference would be {error:.1e}"]
