"""Predict the outputs for a new file with the model of a run. The results are curves for the page and a table for download."""

from __future__ import annotations

import io
from typing import Any

import numpy as np

from lfno.app.curves import curves
from lfno.app.files import receive, said
from lfno.app.json_values import jsonable
from lfno.app.outcome import MODEL, read_outcome
from lfno.app.workspace import Item, Workspace
from lfno.core.errors import LfnoError

TABLE = "prediction.csv"  # file of the table
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
    record = isinstance(data, Record)
    truth = data.outputs if known else None
    values = answer.values
    (uploaded.folder / TABLE).write_bytes(_table(model, data, values, record))
    first = (slice(None),) if record else (0,)
    signals = {"input": data.inputs[first], "prediction": values[first]}
    if truth is not None:
        signals["truth"] = truth[first]
    errors = None
    if truth is not None:
        pair = (values[None], truth[None]) if record else (values, truth)
        mask = None if data.mask is None else (data.mask[None] if record else data.mask)
        errors = scores(*pair, mask)
    return jsonable(
        {
            "id": uploaded.identity,
            "name": files[0]["name"],
            "run": run.name,
            "count": 1 if record else len(values),
            "notes": list(answer.notes),
            "errors": errors,
            "input_channels": [[channel.name, channel.unit] for channel in data.input_channels],
            "output_channels": [[name, unit] for name, unit in model.signals.outputs] or [["output", ""]],
            "axis": data.grid.to_dict()["axes"][-1],
            "drawn": curves(data.grid, signals),
        }
    )


def saved_table(item: Item) -> tuple[str, bytes]:
    """Return (file name, content) of the table of a stored prediction."""
    return "prediction.csv", (item.folder / TABLE).read_bytes()


def _table(model: Any, data: Any, values: np.ndarray, record: bool) -> bytes:
    """Return a CSV table: the run number (for trajectories only), the time, and one column for each output."""
    if data.grid.ndim > 1:
        raise LfnoError("the page cannot predict fields; use `lfno predict` in a terminal")
    time = data.grid.axes[-1].points
    flat = values[None] if record else values
    if flat.size > MOST_ROWS * flat.shape[1]:
        raise LfnoError(f"the prediction has more than {MOST_ROWS:,} rows; use `lfno predict` in a terminal")
    names = [name for name, _ in model.signals.outputs] or [f"output{k}" for k in range(flat.shape[1])]
    columns = [np.tile(time, len(flat)), *flat.transpose(1, 0, 2).reshape(flat.shape[1], -1)]
    heads = ["t", *names]
    if not record:
        columns.insert(0, np.repeat(np.arange(len(flat)), len(time)).astype(float))
        heads.insert(0, "run")
    text = io.StringIO()
    text.write(",".join(f'"{head.replace(chr(34), chr(39))}"' for head in heads) + "\n")
    np.savetxt(text, np.stack(columns, 1), delimiter=",", fmt="%.9g")
    return text.getvalue().encode()
