"""Predict the outputs for a new file with the model of a run. The results are curves for the page and a table for download."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import numpy as np

from lfno.app.curves import curves
from lfno.app.exports import file_name
from lfno.app.files import receive, said
from lfno.app.outcome import MODEL, read_outcome
from lfno.app.workspace import Item, Workspace
from lfno.core.errors import LfnoError
from lfno.core.grid import Grid, with_unit
from lfno.core.json_text import jsonable

TABLE = "prediction.csv"  # file of the table
ANSWER = "answer.npz"  # file with input, prediction and measured output of each run
SIGNALS = ("input", "prediction", "truth")  # arrays in the file ANSWER, (runs, channels, time); "truth" may be missing
MASK = "mask"  # array in the file ANSWER, True where the output was measured; it may be missing
MOST_ROWS = 2_000_000  # largest number of rows of the table
MOST_KEPT = 20  # largest number of predictions in the workspace; older predictions are deleted


def predict_file(workspace: Workspace, run: Item, name: str, content: bytes) -> dict[str, Any]:
    """Store an uploaded file, predict its outputs with the model of a run, and return the prediction for the page.

    The workspace keeps the last MOST_KEPT predictions, so that the user can download a table.
    """
    uploaded = receive(workspace, name, content, kind="answers")
    try:
        return _answered(run, uploaded)
    except BaseException:
        workspace.delete("answers", uploaded.identity)
        raise
    finally:
        for old in workspace.items("answers")[MOST_KEPT:]:
            workspace.delete("answers", old.identity)


def _answered(run: Item, uploaded: Item) -> dict[str, Any]:
    """Write the table of the prediction, and return curves, errors and notes."""
    import lfno
    from lfno.data.signals.record import Record
    from lfno.evaluation.metrics import scores

    read_outcome(run.folder)
    model = lfno.load(run.folder / MODEL)
    files = uploaded.about["files"]
    try:
        data, known = model.read(uploaded.folder / files[0]["path"])
        answer = model.ask(data)
    except LfnoError as error:
        raise LfnoError(said(error, files)) from error
    runs = np.s_[None] if isinstance(data, Record) else np.s_[:]
    values = answer.values[runs]
    signals = {"input": data.inputs[runs], "prediction": values}
    (uploaded.folder / TABLE).write_bytes(_table(model, data, values))
    errors = None
    if known:
        signals["truth"] = data.outputs[runs]
        mask = None if data.mask is None else data.mask[runs]
        errors = scores(values, signals["truth"], mask)
        signals |= {} if mask is None else {MASK: np.broadcast_to(mask, values.shape)}
    np.savez(uploaded.folder / ANSWER, **signals)  # type: ignore[arg-type]
    uploaded.change(grid=data.grid.to_dict(), run=run.name)
    names = model.signals.names("outputs")
    return jsonable(
        {
            "id": uploaded.identity,
            "name": files[0]["name"],
            "run": run.name,
            "count": len(values),
            "notes": [*(said(note, files) for note in data.provenance.get("notes", [])), *answer.notes],
            "errors": errors,
            "missing": [] if known else names,
            "input_channels": [[channel.name, channel.unit] for channel in data.input_channels],
            "output_channels": [[name, unit] for name, unit in model.signals.outputs] or [["output", ""]],
            "axis": data.grid.to_dict()["axes"][-1],
            "drawn": predicted(uploaded, 0),
        }
    )


def predicted(item: Item, place: int) -> dict[str, Any]:
    """Return the curves of one run of a stored prediction. Outputs that were not measured are gaps.

    place: the number of the run, counted from 0.
    """
    with np.load(item.folder / ANSWER) as stored:
        arrays = dict(stored)
    count = len(arrays["prediction"])
    if not 0 <= place < count:
        raise LfnoError(f"there is no run {place}: the prediction has {count} runs, counted from 0")
    mask = arrays[MASK][place] if MASK in arrays else None
    signals = {name: arrays[name][place] for name in SIGNALS if name in arrays}
    return jsonable(curves(Grid.from_dict(item.about["grid"]), signals, {"truth": mask} if "truth" in signals else {}))


def saved_table(item: Item) -> tuple[str, bytes]:
    """Return (file name, content) of the table of a stored prediction. The name has the names of the file and of the model."""
    name = file_name(f"{Path(item.name).stem} predicted by {item.about['run']}")
    return f"{name}.csv", (item.folder / TABLE).read_bytes()


def _table(model: Any, data: Any, values: np.ndarray) -> bytes:
    """Return a CSV table with units: the run number (if there are several runs), the time, and one column for each output.

    values: the prediction, (runs, channels, time).
    """
    if data.grid.ndim > 1:
        raise LfnoError("the page cannot predict fields; use `lfno predict` in a terminal")
    time = data.grid.axes[-1].points
    if values.size > MOST_ROWS * values.shape[1]:
        raise LfnoError(f"the prediction has more than {MOST_ROWS:,} rows; use `lfno predict` in a terminal")
    names = [with_unit(*pair) for pair in model.signals.outputs] or [f"output{k}" for k in range(values.shape[1])]
    columns = [np.tile(time, len(values)), *values.transpose(1, 0, 2).reshape(values.shape[1], -1)]
    heads = [with_unit("t", data.grid.axes[-1].unit), *names]
    if len(values) > 1:
        columns.insert(0, np.repeat(np.arange(len(values)), len(time)).astype(float))
        heads.insert(0, "run")
    text = io.StringIO()
    text.write(",".join(f'"{head.replace(chr(34), chr(39))}"' for head in heads) + "\n")
    np.savetxt(text, np.stack(columns, 1), delimiter=",", fmt="%.9g")
    return text.getvalue().encode()
