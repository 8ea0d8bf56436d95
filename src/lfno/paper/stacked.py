"""Train a group of runs as one stack. A run leaves the stack after its last epoch. A stopped stack can be resumed."""

from __future__ import annotations

import hashlib
import logging
import shutil
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from lfno.core.environment import environment
from lfno.core.json_text import to_json
from lfno.data import split as splits
from lfno.data.cache import cache_directory
from lfno.data.dataset import Dataset
from lfno.data.make import dataset
from lfno.data.split import Split
from lfno.evaluation.caveat import split_caveat
from lfno.identification.field import FieldModel
from lfno.models.operator import Operator
from lfno.paper.linear_paths import give_linear_paths
from lfno.paper.matrix import Cell
from lfno.paper.record import RunRecord
from lfno.paper.scoring import CellRun, mean_errors, record_of
from lfno.surrogate.storage import write
from lfno.surrogate.sum import Sum
from lfno.training import checkpoint
from lfno.training.checkpoint import CheckpointError
from lfno.training.estimate import space
from lfno.training.loop import Trainer, Watcher
from lfno.training.networks import make_task
from lfno.training.pilot import chosen
from lfno.training.run import train


def run_group(
    cells: Sequence[Cell], folder: Path, device: str, watch: Watcher | None = None, weights: Path | None = None
) -> list[RunRecord]:
    """Train a group of cells as one stack, compute the test errors, and write and return a record for each cell.

    cells: the cells of the group; see `lfno.paper.matrix.groups`.
    folder: the records are written into this folder.
    watch: called at every validation.
    weights: the models that `_keep` selects are written into this folder.

    A group that was stopped continues from its last checkpoint. No record is written before all runs of the group have ended.
    A repeated command therefore finds no record of the group, forms the same group again, and finds its checkpoint.
    """
    data = {name: dataset(name) for name in dict.fromkeys(cell.task for cell in cells)}
    runs = [CellRun(cell, data[cell.task], _split(data[cell.task], cell)) for cell in cells]
    give_linear_paths(runs)
    home, where = _home(cells), environment(device)
    finished: dict[str, tuple[RunRecord, Operator]] = {}
    for trainer, stack in _phases(runs, home, device, watch):
        for sentence in trainer.failed():
            logging.getLogger("lfno").warning(sentence)
        answers, models = trainer.predict(np.stack([run.inputs for run in stack])), trainer.models()
        predictions = [run.whole(answer, run.inputs) for run, answer in zip(stack, answers, strict=True)]
        outside = _out_of_family(trainer, stack)
        for k, run in enumerate(stack):
            if trainer.config.epochs in run.cell.milestones:
                run.at[str(trainer.config.epochs)] = mean_errors(predictions[k], run.outputs)
            if trainer.config.epochs == run.epochs:
                record = record_of(run, trainer, k, predictions[k], models[k], len(cells), outside[k], where)
                finished[run.cell.key] = record, models[k]
    paths = {run.cell.key: run.path for run in runs}
    for cell in cells:
        record, model = finished[cell.key]
        record.write(folder)
        if weights is not None:
            _keep(model, cell, record, weights, paths[cell.key])
    shutil.rmtree(home, ignore_errors=True)
    return [finished[cell.key][0] for cell in cells]


def _phases(runs: list[CellRun], home: Path, device: str, watch: Watcher | None) -> Iterator[tuple[Trainer, list[CellRun]]]:
    """Train in phases. A phase ends at an epoch at which a run ends or is scored.

    After each phase, yield the trainer and the runs in its stack. Runs that have ended leave the stack.
    """
    preset = runs[0].cell.resolved()
    tasks = [make_task(run.data, run.split, preset, run.cell.seed, run.cell.key, run.known) for run in runs]
    space(tasks, preset.training, device, home).check()
    tasks, spent = chosen(tasks, preset.training, device, home, True, watch)
    for run in runs:
        run.seconds = spent / len(runs)
    last = max(run.epochs for run in runs)
    ends = {run.epochs for run in runs} | {epoch for run in runs for epoch in run.cell.milestones}
    trainer, stack = Trainer(tasks, replace(preset.training, epochs=min(ends)), device), runs
    for end in sorted(end for end in ends if end <= last):
        if end > trainer.config.epochs:
            rows = [k for k, run in enumerate(stack) if run.epochs >= end]
            trainer, stack = checkpoint.narrowed(trainer, rows, end), [stack[k] for k in rows]
        before = trainer.seconds
        _train(trainer, home / str(end), watch)
        for run in stack:
            run.seconds += (trainer.seconds - before) / len(stack)
        yield trainer, stack


def _train(trainer: Trainer, home: Path, watch: Watcher | None) -> None:
    """Train to the last epoch from the checkpoint in `home`, or from the beginning if the checkpoint does not fit the data."""
    try:
        train(trainer, home, resume=True, watch=watch)
    except CheckpointError as error:  # another data set or another release
        logging.getLogger("lfno").warning(f"an unfinished run starts again: {error}")
        shutil.rmtree(home, ignore_errors=True)
        train(trainer, home, watch=watch)


def _home(cells: Sequence[Cell]) -> Path:
    """Return the folder of the checkpoints of a group. The name of the folder is a hash of the cells and their settings."""
    what = [(cell.key, cell.shape(), cell.resolved().training.epochs) for cell in cells]
    return cache_directory() / "unfinished" / hashlib.sha256(to_json(what).encode()).hexdigest()[:16]


def _out_of_family(trainer: Trainer, stack: list[CellRun]) -> list[dict[str, float]]:
    """Return the errors of each run on kinds of input that no training set has.

    The errors are {} for a run that is not finished, and for a run whose system has no such data set.
    """
    names = [run.cell.out_of_family if run.epochs == trainer.config.epochs else None for run in stack]
    data = {name: dataset(name) for name in dict.fromkeys(names) if name is not None}
    if not data:
        return [{} for _ in stack]
    any_inputs = next(iter(data.values())).inputs
    predictions = trainer.predict(np.stack([any_inputs if name is None else data[name].inputs for name in names]))
    return [
        {} if name is None else mean_errors(run.whole(prediction, data[name].inputs), data[name].outputs)
        for name, prediction, run in zip(names, predictions, stack, strict=True)
    ]


def _keep(model: Operator, cell: Cell, record: RunRecord, weights: Path, linear: FieldModel | None) -> None:
    """Write the model of a run of the main study with seed 0, fold 0 and no label. Other models are not written.

    The name of the file is TASK-MODEL-PRESET. The parts “lfno” and “default” are left out.
    """
    if cell.seed == 0 and cell.fold == 0 and cell.study == "main" and cell.title == cell.model.upper():
        unusual = [part for part, usual in ((cell.model, "lfno"), (cell.preset, "default")) if part != usual]
        facts: dict[str, Any] = {"data": {"name": cell.task}, "training": record.training}
        facts |= {"test_l2": record.scores["l2"], "test_linf": record.scores["linf"]}
        if caveat := split_caveat(model, facts):
            facts["split_caveat"] = caveat
        path = weights / f"{'-'.join([cell.task, *unusual])}.safetensors"
        write([model if linear is None else Sum(linear, model)], {**model.provenance, **facts}, path)


def _split(data: Dataset, cell: Cell) -> Split:
    """Return the samples of training, validation and test."""
    part = splits.of(data, cell.fold)
    if cell.train_samples is None:
        return part
    # take equally spaced training samples, so that a small training set covers the same range of parameters
    chosen = np.linspace(0, len(part.train) - 1, cell.train_samples).round().astype(int)
    return Split(part.train[chosen], part.validation, part.test)
