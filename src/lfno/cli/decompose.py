"""`lfno decompose MODEL FILE`: split a predicted response into its transient and its steady part."""

from __future__ import annotations

from dataclasses import asdict, replace
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer

from lfno.cli.predict import warmup, writable
from lfno.cli.reading import Reading, with_reading
from lfno.cli.shared import Json, ModelPath, Quiet
from lfno.core.errors import LfnoError
from lfno.core.json_text import to_json
from lfno.core.progress import progress


def register(app: typer.Typer) -> None:
    """Add `lfno decompose` to the command line."""
    app.command("decompose")(with_reading(decompose))


def decompose(
    model: ModelPath,
    file: Annotated[Path, typer.Argument(help="File with the inputs.")],
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="Folder of figure and arrays. By default FILE-decomposition.")
    ] = None,
    trajectory: Annotated[
        int, typer.Option(help="Number of the trajectory in a file of trajectories, counted from 0.", min=0)
    ] = 0,
    start: Annotated[
        float | None, typer.Option(help="Split one window of a long record. The window starts from rest at this time.")
    ] = None,
    *,
    reading: Reading,
    quiet: Quiet = False,
    as_json: Json = False,
) -> None:
    """Split the predicted response into a transient and a steady part. Their sum is the prediction.

    The steady part is the response to the input repeated for ever. The transient part is the rest.

    Example: lfno decompose runs/rig new.csv
    """
    import numpy as np

    from lfno.core.grid import with_unit
    from lfno.data.files import Variable
    from lfno.data.files.write import TABLES, write
    from lfno.data.signals.record import Record
    from lfno.plots.modes import SHOWN, decomposition_figure, save
    from lfno.surrogate import load
    from lfno.surrogate.trust import split_trust

    if out is not None and out.suffix and out.suffix.lower() == file.suffix.lower():
        raise LfnoError(f"--out {out} is the name of a file; the command writes a folder: leave out the ending {out.suffix}")
    surrogate = load(model)
    data: Any
    data, known = surrogate.read(file, **reading)
    asked = data
    notes = list(data.provenance.get("notes", []))
    shown = slice(None)
    if isinstance(data, Record) and start is not None:
        data = _window(surrogate, data, start)
        notes.append("the prediction of the window starts from rest")
    elif isinstance(data, Record):
        first = warmup(surrogate, data)
        shown = slice(first, min(first + SHOWN, len(data)))
        notes.append(
            "steady is the response to the whole record repeated for ever"
            if surrogate.causal
            else "the record is predicted window by window; transient is the effect of the start from rest in each window"
        )
        if len(data) > SHOWN:
            notes.append(f"the figure shows {SHOWN} samples after the warm-up, the arrays hold all; --start splits one window")
    elif start is not None:
        raise LfnoError("--start places a window in one long record; the file holds trajectories: use --trajectory")
    elif trajectory >= len(data):
        raise LfnoError(f"there is no trajectory {trajectory}: the file has {len(data)}, counted from 0")
    else:
        data = data[[trajectory]]
    with progress(quiet or as_json) as show:
        transient, steady = surrogate.decompose(data, progress=partial(show, "decomposition"), warn=False)
    truth = data.outputs if known else None
    if not isinstance(data, Record):
        transient, steady = transient[0], steady[0]
        truth = None if truth is None else truth[0]
    names = surrogate.signals.names("outputs") or [f"u{k}" for k in range(len(transient))]
    units = surrogate.signals.units("outputs") or [""] * len(names)
    labels = [with_unit(name, unit) for name, unit in zip(names, units, strict=True)]
    folder = out or Path(f"{file.stem}-decomposition")
    grid = data.part(shown.start, shown.stop).grid if isinstance(data, Record) else data.grid
    drawn = transient[..., shown], steady[..., shown], None if truth is None else truth[..., shown]
    figure = save(folder / "decomposition.png", lambda: decomposition_figure(grid, *drawn, labels))
    variables = [Variable.of(axis.name, axis.points, axis.unit, (axis.name,)) for axis in reversed(data.grid.axes)]
    for name, values in (("transient", transient), ("steady", steady), ("prediction", transient + steady)):
        for k, channel in enumerate(names):
            label = name if len(names) == 1 else f"{name}_{channel}"
            variables.append(Variable.of(label, np.asarray(values[k]), units[k], data.grid.names))
    table = file.suffix.lower() in TABLES and data.grid.ndim > 1
    arrays = folder / f"decomposition{'.npz' if table else file.suffix}"
    write(arrays, [replace(variable, name=writable(variable.name, arrays)) for variable in variables], like=file)
    axes = tuple(range(1, transient.ndim))  # a mean for each output, because units may differ
    power = np.maximum(((transient + steady) ** 2).mean(axes), 1e-300)
    caveat = surrogate.split_caveat
    trust, measured = split_trust(surrogate, asked, known)
    share = float(np.sqrt(((transient**2).mean(axes) / power).mean()))
    if as_json:
        facts = {"figure": str(figure), "arrays": str(arrays), "transient_share": share, "caveat": caveat, "notes": notes}
        facts |= {"trust": trust, "measured": None if measured is None else asdict(measured)}
        typer.echo(to_json(facts))
        return
    for note in [] if quiet else notes:
        typer.echo(f"note: {note}", err=True)
    typer.echo(f"RMS of the transient part: {100 * share:.1f} % of the RMS of the prediction")
    typer.echo(trust)
    if caveat:
        typer.echo(caveat)
    typer.echo(f"figure  {figure}\narrays  {arrays}")


def _window(surrogate: Any, data: Any, start: float) -> Any:
    """Return the window of the record `data` that begins at the time `start`, as a data set of one trajectory.

    The window is as long as the windows of training. Raises LfnoError if the window does not lie inside the record.
    """
    from lfno.data.dataset import Dataset

    axis, own = data.grid.axes[-1], surrogate.grid.axes[-1]
    first, length = round((start - axis.origin) / axis.step), round(own.length / axis.step)
    if not 0 <= first <= axis.size - length:
        last = axis.origin + (axis.size - length) * axis.step
        raise LfnoError(
            f"a window of {own.length:g} {axis.unit} cannot start at {start:g}: the record allows {axis.origin:g} to {last:g}"
        )
    part = data.part(first, first + length)
    grid = part.grid.change(axis.name, origin=axis.origin + first * axis.step)
    dataset = Dataset(part.inputs[None], part.outputs[None], grid, {}, part.input_channels, part.output_channels)
    return replace(dataset, provenance=data.provenance)
