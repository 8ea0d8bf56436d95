"""The matrix of runs behind every table: which there are, and how to run those of one shape as one stack."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from lfno.data.dataset import Dataset
from lfno.data.make import dataset
from lfno.data.split import Split, standard
from lfno.evaluation.cost import count_parameters
from lfno.evaluation.record import Record, environment, regime_summary, rounded, scored, thin
from lfno.models.pole_operator import PoleOperator
from lfno.models.storage import MODELS
from lfno.systems.registry import find
from lfno.training.fit import task
from lfno.training.loop import Trainer, Watcher
from lfno.training.pilot import choose_strength
from lfno.training.presets import PAPER_EPOCHS, Preset, find_preset


@dataclass(frozen=True)
class Cell:
    """One run of the matrix: a row label of a table, on one data set, with one seed."""

    task: str
    model: str
    preset: str = "default"
    label: str = ""
    study: str = "main"
    seed: int = 0
    fold: int = 0
    train_samples: int | None = None
    changes: dict[str, Any] = field(default_factory=dict)

    @property
    def key(self) -> str:
        label = (self.label or self.model.upper()).replace(" ", "-")
        return f"{self.study}/{self.preset}/{self.task}/{label}-s{self.seed}-f{self.fold}.json"

    def resolved(self) -> Preset:
        return find_preset(self.preset, self.model, find(self.task).grid).change(**self.changes)

    def shape(self) -> str:
        """Cells of equal shape may be trained together."""
        grid = find(self.task).grid
        preset = self.resolved()
        parts = [self.model, grid.shape, preset.fields, asdict(preset.training), self.train_samples]
        return json.dumps(parts, sort_keys=True, default=list)


def missing(cells: Iterable[Cell], folder: Path) -> list[Cell]:
    """Those that have no record yet: a matrix that was stopped goes on where it was."""
    return [cell for cell in cells if not (folder / cell.key).exists()]


def groups(cells: Sequence[Cell], most: int) -> list[list[Cell]]:
    """Cells that can be trained together, at most so many at a time, in the order given."""
    found: dict[str, list[Cell]] = {}
    for cell in cells:
        found.setdefault(cell.shape(), []).append(cell)
    return [group[k : k + most] for group in found.values() for k in range(0, len(group), most)]


def run_group(
    cells: Sequence[Cell], folder: Path, device: str, watch: Watcher | None = None, weights: Path | None = None
) -> list[Record]:
    """Train a group as one stack, score it on the test samples, write a record for each cell (and seed 0's weights)."""
    preset = cells[0].resolved()
    data = {name: dataset(name) for name in dict.fromkeys(cell.task for cell in cells)}
    parts = [_split(data[cell.task], cell) for cell in cells]
    tasks = [
        task(data[cell.task], part, preset, cell.seed, cell.key) for cell, part in zip(cells, parts, strict=True)
    ]
    tasks = choose_strength(tasks, preset.training, device, watch)
    trainer = Trainer(tasks, preset.training, device)
    x = np.stack([data[cell.task].inputs[part.test] for cell, part in zip(cells, parts, strict=True)])
    y = np.stack([data[cell.task].outputs[part.test] for cell, part in zip(cells, parts, strict=True)])
    milestones = sorted({*PAPER_EPOCHS.values(), 5000}) if preset.training.epochs > 4000 else []
    at: dict[int, list[dict[str, float]]] = {}

    def observe(trainer: Trainer, record: dict[str, Any]) -> None:
        if record["epoch"] in milestones:
            at[record["epoch"]] = [_means(scored(p, t)) for p, t in zip(trainer.predict(x), y, strict=True)]
        if watch is not None:
            watch(trainer, record)

    trainer.run(observe)
    predictions, models = trainer.predict(x), trainer.models()
    where = environment(device)
    records = []
    for k, (cell, part) in enumerate(zip(cells, parts, strict=True)):
        own = data[cell.task]
        errors = scored(predictions[k], y[k])
        middle = len(part.test) // 2  # the same sample for every model, so that pictures can be compared
        transient, steady = models[k].to("cpu").decompose(x[k, middle : middle + 1])
        looks = sorted({*thin(np.arange(len(trainer.history.epoch)), 100).tolist(), len(trainer.history.epoch) - 1})
        history = {
            "epoch": [trainer.history.epoch[i] for i in looks],
            "rate": rounded(np.array([trainer.history.rate[i] for i in looks])),
            "seconds": rounded(np.array([trainer.history.seconds[i] for i in looks])),
            "train": rounded(np.array([trainer.history.train[i][k] for i in looks])),
            "validation": rounded(np.array([trainer.history.validation[i][k] for i in looks])),
        }
        example = {"truth": y[k, middle], "prediction": predictions[k, middle], "input": x[k, middle]}
        example |= {"transient": transient[0], "steady": steady[0]}
        model = models[k]
        if isinstance(model, PoleOperator):
            table = model.poles().top(200)
            example["poles"] = np.stack((table.pole.real, table.pole.imag, table.contribution), 1)
        if cell.seed or cell.fold:
            example = {}  # one picture is enough, and the record stays small
        parameters = {
            name: rounded(values[part.test]) for name, values in own.parameters.items() if np.ndim(values) == 1
        }
        record = Record(
            task=cell.task,
            model=cell.model,
            label=cell.label or cell.model.upper(),
            preset=cell.preset,
            seed=cell.seed,
            fold=cell.fold,
            study=cell.study,
            config=asdict(models[k].config),
            training=asdict(preset.training) | {"steady_decay": tasks[k].steady_decay or preset.training.steady_decay},
            parameters=count_parameters(models[k]),
            train_samples=len(part.train),
            best_epoch=int(trainer.best_epoch[k]),
            seconds=round(trainer.seconds / len(cells), 3),
            stacked=len(cells),
            scores=_means(errors),
            at={str(epoch): scores[k] for epoch, scores in at.items()},
            samples={name: rounded(values) for name, values in errors.items()} | parameters,
            regimes=regime_summary(predictions[k], y[k], own.grid),
            history=history,
            example={"index": int(part.test[middle])} | {name: rounded(_small(v), 4) for name, v in example.items()},
            environment=where,
        )
        record.write(folder)
        records.append(record)
        if weights is not None and cell.seed == 0 and cell.fold == 0:
            name = cell.task if cell.model == "lfno" else f"{cell.task}-{cell.model}"
            score = {"test_l2": record.scores["l2"], "test_linf": record.scores["linf"]}
            models[k].save(weights / f"{name}.safetensors", data=cell.task, **score, training=record.training)
    return records


def deep_enough(cell: Cell) -> int:
    """Layers an FNO of the same width and modes needs to have at least as many parameters as the cell's LFNO."""
    grid = find(cell.task).grid
    wanted = _count("LFNO", cell.resolved(), grid)
    fno = find_preset(cell.preset, "fno", grid)
    one, two = (_count("FNO", fno.change(layers=layers), grid) for layers in (1, 2))
    return max(4, math.ceil((wanted - one) / (two - one)) + 1)


def _count(kind: str, preset: Preset, grid: Any) -> int:
    return count_parameters(MODELS[kind](grid, MODELS[kind].Config.from_fields(preset.fields)))["complex_once"]


def _split(data: Dataset, cell: Cell) -> Split:
    part = standard(len(data), cell.fold)
    if cell.train_samples is None:
        return part
    # equally spaced among the training samples, so that a small set covers the same range
    chosen = np.linspace(0, len(part.train) - 1, cell.train_samples).round().astype(int)
    return Split(part.train[chosen], part.validation, part.test)


def _means(errors: dict[str, np.ndarray]) -> dict[str, float]:
    return {name: float(values.mean()) for name, values in errors.items()}


def _small(values: np.ndarray) -> np.ndarray:
    """An example for a figure: a series thinned to 512 steps, a field (x, t) as it is, (x, y, t) at its last moment."""
    if values.ndim == 2:
        return thin(values, 512)
    return values[..., -1] if values.ndim == 4 else values
