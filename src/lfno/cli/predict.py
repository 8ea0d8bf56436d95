"""`lfno predict MODEL FILE -o OUT`: predict the outputs for a file of inputs, and write a file of the same format."""

from __future__ import annotations

import re
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from lfno.cli.reading import Reading, with_reading
from lfno.cli.shared import Json, ModelPath, Quiet
from lfno.core.errors import LfnoError
from lfno.core.json_text import to_json
from lfno.core.progress import progress

if TYPE_CHECKING:
    import numpy as np

    from lfno.data.dataset import Dataset
    from lfno.data.files import Variable
    from lfno.data.signals.record import Record
    from lfno.surrogate import Surrogate

FEWEST = 8  # samples after the warm-up; with fewer, no error is computed


def register(app: typer.Typer) -> None:
    """Add `lfno predict` to the command line."""
    app.command("predict")(with_reading(predict))


def predict(
    model: ModelPath,
    file: Annotated[
        Path, typer.Argument(help="File with the inputs. If it has outputs too, they are compared with the prediction.")
    ],
    out: Annotated[Path | None, typer.Option("--out", "-o", help="File of the prediction. By default FILE-prediction.")] = None,
    *,
    reading: Reading,
    interval: Annotated[
        float | None, typer.Option(help="Add bounds. A whole output signal lies between them with this probability, as 0.95.")
    ] = None,
    quiet: Quiet = False,
    as_json: Json = False,
) -> None:
    """Predict the outputs for the inputs in a file. The file may have another sampling rate than the training data.

    Example: lfno predict runs/rig new.csv -o answer.csv
    """
    from lfno.data.files.write import write
    from lfno.surrogate import load

    target = out or file.with_name(f"{file.stem}-prediction{file.suffix}")
    if target.resolve() == file.resolve():
        raise LfnoError(f"{target}: the prediction would overwrite the input file; choose another name with -o")
    surrogate = load(model)
    data, known = surrogate.read(file, **reading)
    with progress(quiet or as_json) as show:
        told = surrogate.ask(data, progress=partial(show, "prediction"))
    mean, spread = told.values, told.spread
    names = surrogate.signals.names("outputs") or [channel.name for channel in data.output_channels if known]
    bounds = None if interval is None else surrogate.interval(data, interval, warn=False)
    variables = answer(data, mean, spread, names, surrogate.signals.units("outputs"), bounds)
    variables = [replace(variable, name=writable(variable.name, target)) for variable in variables]
    write(target, variables, like=file)
    report: dict[str, Any] = {"out": str(target), "notes": [*data.provenance.get("notes", []), *told.notes]}
    if interval is not None and surrogate.calibration is not None:
        low, high = surrogate.calibration.promise(interval)
        count = surrogate.calibration.count
        report["notes"].append(
            f"the interval of {100 * interval:g} % is calibrated on {count} samples: with a probability of 90 %, it holds "
            f"{100 * low:.0f} % to {100 * high:.0f} % of new responses of the same kind"
        )
        report["notes"] += [surrogate.without_interval] if surrogate.without_interval else []
    if known and (error := _error(surrogate, data, mean)):
        report["error"] = error
    elif known:
        report["notes"].append("no comparison with the outputs in the file: too few samples are left after the warm-up")
    if as_json:
        typer.echo(to_json(report))
        return
    for note in [] if quiet else report["notes"]:
        typer.echo(f"note: {note}", err=True)
    if "error" in report:
        error = report["error"]
        each = ", ".join(f"{value:.4g}" for value in error["rmse"]) + (f" ({', '.join(names)})" if len(names) > 1 else "")
        values = f"error {error['nrmse']:.4g} (RMSE divided by the standard deviation), RMSE {each}, fit {error['fit']:.2f} %"
        typer.echo(f"compared with the outputs in the file: {values}")
    typer.echo(f"prediction written to {target}")


def writable(name: str, file: Path) -> str:
    """Return a name that the format of `file` allows. Other characters become `_`: `run1/f` becomes `run1_f`."""
    if file.suffix.lower() == ".mat":
        word = re.sub(r"\W", "_", name, flags=re.ASCII)[:30]
        return word if word[:1].isalpha() else f"v{word}"
    return re.sub(r"[/\\.:]", "_", name)


def answer(
    data: Record | Dataset, mean: np.ndarray, spread: np.ndarray | None, names: list[str], units: list[str],
    bounds: tuple[np.ndarray, np.ndarray] | None = None,
) -> list[Variable]:  # fmt: skip
    """Return the variables of the prediction file: axes, inputs, predictions, their standard deviations and bounds.

    mean: the predictions, ([samples,] outputs, *grid).
    spread: the standard deviations of the predictions of an ensemble, in the same shape; None for a single model.
    names, units: names and units of the outputs.
    bounds: the lower and upper bounds of `--interval`, in the same shape; None without this option.
    """
    import numpy as np

    from lfno.data.dataset import Dataset
    from lfno.data.files import Variable

    lead = ("sample",) if isinstance(data, Dataset) else ()
    place = len(lead)
    points = [Variable.of(axis.name, axis.points, axis.unit, (axis.name,)) for axis in reversed(data.grid.axes)]
    result = points if place == 0 or data.grid.ndim > 1 else points[:1]

    def add(values: np.ndarray, labels: list[tuple[str, str]]) -> None:
        for k, (name, unit) in enumerate(labels):
            column = np.ascontiguousarray(values.take(k, place), dtype=np.float64)
            result.append(Variable.of(name, column, unit, (*lead, *data.grid.names)))

    count = mean.shape[place]
    names = names if len(names) == count else ["u"] if count == 1 else [f"u{k}" for k in range(count)]
    units = units if len(units) == count else [""] * count
    add(np.asarray(data.inputs), [(channel.name, channel.unit) for channel in data.input_channels])
    add(mean, list(zip(names, units, strict=True)))
    if spread is not None:
        add(spread, [(f"{name}_spread", unit) for name, unit in zip(names, units, strict=True)])
    for which, values in zip(("lower", "upper"), bounds or (), strict=False):
        add(values, [(f"{name}_{which}", unit) for name, unit in zip(names, units, strict=True)])
    return result


def _error(surrogate: Surrogate, data: Record | Dataset, mean: np.ndarray) -> dict[str, float]:
    """Return the error measures of the prediction `mean`; {} if a record has fewer than FEWEST samples after the warm-up."""
    from lfno.data.signals.record import Record
    from lfno.evaluation.metrics import scores

    if not isinstance(data, Record):
        return scores(mean, data.outputs, data.mask)
    warm = warmup(surrogate, data)
    if len(data) - warm < FEWEST:
        return {}
    mask = None if data.mask is None else data.mask[None, ..., warm:]
    return scores(mean[None, ..., warm:], data.outputs[None, ..., warm:], mask)


def warmup(surrogate: Surrogate, record: Record) -> int:
    """Return the number of samples at the beginning of a record that the prediction needs to settle.

    These samples are right only if the system was at rest when the record began.
    """
    seconds = surrogate.signals.warmup * surrogate.grid.axes[-1].step
    return min(round(seconds / record.grid.axes[-1].step), len(record) - 1)
