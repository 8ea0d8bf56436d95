"""Modes of a measured record, for `lfno poles`. The record is forced by an input, or a free decay without input."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from lfno.cli.reading import Reading
from lfno.core.errors import LfnoError

if TYPE_CHECKING:
    import numpy as np

    from lfno.data.dataset import Dataset
    from lfno.data.signals.record import Record
    from lfno.identification.mode import Mode
    from lfno.identification.stabilisation import Stabilisation

    RecordModes = tuple[list[Mode], Stabilisation | None, list[str], str, str]

MODEL_SUFFIX = ".safetensors"  # ending of model files


def is_record(path: Path) -> bool:
    """Return True if `path` is a file of signals, and False if it is a model."""
    return path.is_file() and path.suffix.lower() != MODEL_SUFFIX


def record_modes(file: Path, reading: Reading, diagram: bool) -> RecordModes:
    """Return the modes, a stabilisation diagram or None, notes, the title of the table, and the unit of time.

    If `reading` names an output and no input, the record is a free decay. Otherwise the modes are those of the linear model of
    the record.

    diagram: True for a stabilisation diagram.

    Raises LfnoError if a diagram is wanted and the record is not a free decay.
    """
    if reading["input"] is None and reading["output"] is not None:
        return _decay(file, reading, diagram)
    if diagram:
        raise LfnoError("a stabilisation diagram needs a model or a free decay; fit a model first, with lfno fit")
    from lfno.surrogate import fit

    fitted = fit(str(file), model="linear", **{name: value for name, value in reading.items() if value})
    assert fitted.fitted is not None
    notes, unit = list(fitted.fitted.prepared.notes), fitted.grid.axes[-1].unit
    return fitted.modes(), None, notes, "modes of the linear model of the record", unit


def _decay(file: Path, reading: Reading, diagram: bool) -> RecordModes:
    """Return the modes of a free decay; the result has the form of the result of `record_modes`."""
    import numpy as np

    from lfno.data.signals.decays import load_decays
    from lfno.data.signals.record import Record
    from lfno.identification.modes import free_modes
    from lfno.identification.stabilisation import stabilisation

    options: dict[str, Any] = {name: value for name, value in reading.items() if value and name != "input"}
    data: Record | Dataset = load_decays(file, **options)
    if data.grid.ndim > 1:
        raise LfnoError(f"{file.name}: a free decay needs signals over time, not fields; take the signals at some points")
    if data.mask is not None and not np.all(data.mask):
        raise LfnoError(f"{file.name}: the free decay has gaps; cut the record to a part without gaps")
    outputs: np.ndarray = data.outputs[None] if isinstance(data, Record) else data.outputs
    notes = [*data.provenance.get("notes", []), "no input is given: the record is read as a free decay"]
    found = free_modes(outputs, data.grid)
    centred = outputs - outputs[..., -outputs.shape[-1] // 4 :].mean(-1, keepdims=True)
    picture = stabilisation(np.moveaxis(centred, 0, 1), data.grid.steps[0]) if diagram else None
    return found, picture, notes, "modes of the free decay", data.grid.axes[-1].unit
