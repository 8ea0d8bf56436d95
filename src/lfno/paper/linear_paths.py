"""Linear paths for LFNOs on nearly linear fields.

A linear path is a linear model of the field. The network learns the residual of the linear path. The prediction is the sum of
both. Each linear path is identified once per data set and fold, and stored in the cache.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from lfno.core.errors import LfnoError
from lfno.data.cache import cache_directory
from lfno.identification.field import FieldModel, identify_field, is_line
from lfno.paper.record import scored
from lfno.paper.scoring import CellRun
from lfno.surrogate.search import NEARLY_LINEAR


def give_linear_paths(runs: Sequence[CellRun]) -> None:
    """Add a linear path to the runs that fulfil these conditions. `run.path` and `run.known` are set in place.

    The run is an LFNO of the main study with the default preset and all training samples. The data are fields over one space
    axis with known boundary conditions. The validation error of the linear path is below NEARLY_LINEAR.
    """
    paths: dict[tuple[str, int], FieldModel | None] = {}
    for run in runs:
        cell, grid = run.cell, run.data.grid
        usual = cell.model == "lfno" and cell.preset == "default" and cell.study == "main" and cell.train_samples is None
        if not (usual and is_line(run.data) and grid.axes[0].boundary):
            continue
        key = cell.task, cell.fold
        if key not in paths:
            paths[key] = _good_enough(run, _identified(run))
        run.path = paths[key]
        if run.path is not None:
            run.known = run.path.predict(np.asarray(run.data.inputs)).astype(np.float32)
    # all runs of a stack need the array `known` if one of them has it. It is zero for a run without a linear path
    if any(run.path is not None for run in runs):
        for run in runs:
            run.known = np.zeros_like(run.data.outputs) if run.known is None else run.known


def _identified(run: CellRun) -> FieldModel:
    """Return the linear model of the training samples. The model is read from the cache if it was identified before."""
    file = cache_directory() / "linear" / f"{run.cell.task}-f{run.cell.fold}.safetensors"
    try:
        return FieldModel.load(file)
    except LfnoError:
        rows = run.split.train
        model = identify_field(run.data.inputs[rows], run.data.outputs[rows], run.data.grid)
        file.parent.mkdir(parents=True, exist_ok=True)
        model.save(file)
        return model


def _good_enough(run: CellRun, model: FieldModel) -> FieldModel | None:
    """Return the linear model if its validation error is below NEARLY_LINEAR, else None."""
    held = run.split.validation
    error = scored(model.predict(np.asarray(run.data.inputs[held])), run.data.outputs[held])["l2"].mean()
    return model if error < NEARLY_LINEAR else None
