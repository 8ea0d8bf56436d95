"""`Cell`, the settings of one run, and the groups of cells that are trained together as one stack (one batched model)."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import MISSING, asdict, dataclass, field, fields
from pathlib import Path
from statistics import mean
from typing import Any

from lfno.core.errors import LfnoError
from lfno.core.json_text import to_json
from lfno.data.split import standard
from lfno.models.storage import MODELS
from lfno.paper.cost import count_parameters
from lfno.paper.presets import PAPER_EPOCHS, find_preset
from lfno.paper.record import RunRecord, read_record
from lfno.systems.registry import REGISTRY, find
from lfno.training.config import TrainingConfig
from lfno.training.pilot import STRENGTHS
from lfno.training.presets import Preset


@dataclass(frozen=True)
class Cell:
    """The settings of one run: a model on one data set with one seed.

    task: name of the data set.
    model: "lfno", "lno" or "fno".
    preset: "default" or "paper".
    label: name of the row in tables; "" for the name of the model.
    study: name of the study that the run belongs to.
    seed: seed of the initial weights.
    fold: index of the part of the samples that is the test set; `System.folds` is the number of parts, usually five.
    train_samples: number of training samples; None for all.
    changes: options of model and training that differ from the preset.
    """

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
    def title(self) -> str:
        """The label of the row in tables."""
        return self.label or self.model.upper()

    @property
    def key(self) -> str:
        """The path of the record inside the folder of records."""
        return f"{self.study}/{self.preset}/{self.task}/{self.title.replace(' ', '-')}-s{self.seed}-f{self.fold}.json"

    def resolved(self) -> Preset:
        """Return the preset with the changes of this run.

        A smaller training set gets as many optimisation steps as the whole training set, so that only the data differ.
        """
        preset = find_preset(self.preset)(self.model, find(self.task).grid)
        if self.milestones:
            preset = preset.change(epochs=max(self.milestones))
        preset = preset.change(**self.changes)
        if self.train_samples is None:
            return preset
        entry = find(self.task)
        batch, whole = preset.training.batch, len(standard(entry.count, self.fold, entry.system.folds).train)
        times = math.ceil(whole / batch) / math.ceil(self.train_samples / batch)
        return preset.change(epochs=round(times * preset.training.epochs))

    @property
    def milestones(self) -> tuple[int, ...]:
        """Epochs at which the run is scored, in addition to its last epoch. Empty except for ODEs with the paper preset.

        Two tables of the paper state different numbers of epochs for the same runs.
        """
        return (PAPER_EPOCHS[self.task], 5000) if self.preset == "paper" and self.task in PAPER_EPOCHS else ()

    @property
    def out_of_family(self) -> str | None:
        """The data set with other kinds of input on the same system and grid; None if there is none."""
        name = f"{self.task.removesuffix('-rich')}-out"
        entry = REGISTRY.get(name)
        # not for flows (two space axes and time), because solving their equations takes longer than a run
        return name if entry is not None and entry.grid.ndim < 3 and entry.grid == find(self.task).grid else None

    def shape(self) -> str:
        """Return a text of all settings that the runs of a stack share. Cells with the same text can be trained together.

        With the schedule "step", the learning rate of an epoch does not depend on the number of epochs. Runs with different
        numbers of epochs can then be trained together.
        """
        preset = self.resolved()
        training = asdict(preset.training)
        if preset.training.schedule == "step":
            del training["epochs"]
        parts = [self.model, find(self.task).grid.form, preset.fields, training, self.train_samples]
        return to_json(parts, sort_keys=True)


def missing(cells: Iterable[Cell], folder: Path) -> list[Cell]:
    """Return the cells that have no record in `folder`. A repeated command trains only these cells."""
    return [cell for cell in cells if not (folder / cell.key).exists()]


def with_other_settings(cells: Iterable[Cell], folder: Path) -> list[Cell]:
    """Return the cells whose record was made with other options of the model or of the training."""
    return [cell for cell in cells if (folder / cell.key).exists() and _differs(cell, folder / cell.key)]


def _differs(cell: Cell, path: Path) -> bool:
    """Return True if the record was made with other options than the cell has, or if the file holds no record."""
    record, preset = read_record(path), cell.resolved()
    if record is None:
        return True
    training = asdict(preset.training)
    if training["steady_decay"] is None:  # chosen by short trial runs (`lfno.training.pilot`)
        del training["steady_decay"]
        if record.training.get("steady_decay") not in STRENGTHS:
            return True
    # Old records lack newer options. A missing option takes the value that reproduces the old behaviour.
    kinds = (MODELS[preset.model].Config, TrainingConfig)
    before = {f.name: f.default for kind in kinds for f in fields(kind) if f.default is not MISSING}
    before |= {"hold": "trigonometric", "basis": "fourier"} if preset.model == "LFNO" else {}
    wanted, found = preset.fields | training, before | record.config | record.training
    return any(to_json(found.get(name)) != to_json(value) for name, value in wanted.items())


def groups(cells: Sequence[Cell], most: int) -> list[list[Cell]]:
    """Return groups of cells that can be trained together. A group has at most `most` cells, in the given order."""
    found: dict[str, list[Cell]] = {}
    for cell in cells:
        found.setdefault(cell.shape(), []).append(cell)
    return [group[k : k + most] for group in found.values() for k in range(0, len(group), most)]


def deep_enough(cell: Cell) -> int:
    """Return the number of layers that an FNO needs to have at least as many parameters as the LFNO of the cell.

    Both networks have the same width and modes. The FNO has at least four layers.
    """
    grid = find(cell.task).grid
    wanted = _count("LFNO", cell.resolved(), grid)
    fno = find_preset(cell.preset)("fno", grid).change(**known_to("fno", cell.changes))
    one, two = (_count("FNO", fno.change(layers=layers), grid) for layers in (1, 2))
    return max(4, math.ceil((wanted - one) / (two - one)) + 1)


def known_to(model: str, changes: dict[str, Any]) -> dict[str, Any]:
    """Return the changes without the options of LFNO that `model` does not have. An FNO, for example, has no poles.

    All other changes stay, for example options of the training.
    """
    own, most = (MODELS[name].Config.__dataclass_fields__ for name in (model.upper(), "LFNO"))
    return {name: value for name, value in changes.items() if name in own or name not in most}


def _count(kind: str, preset: Preset, grid: Any) -> int:
    """Return the number of parameters of a model."""
    return count_parameters(MODELS[kind](grid, MODELS[kind].Config.from_fields(preset.fields)))["complex_once"]


def long_enough(cell: Cell, folder: Path) -> int:
    """Return the number of epochs for which the FNO of the cell must train to need the training time of LFNO.

    The training times come from the records of both models in `folder`. The number is at least the number of epochs of FNO.
    It is rounded up to a multiple of 50, so that runs with nearly equal numbers can be trained as one stack.
    Raises LfnoError if a record of LFNO or FNO is missing.
    """
    place = folder / Path(cell.key).parent
    found = {
        label: [r for path in place.glob(f"{label}-s*.json") if (r := read_record(path)) is not None]
        for label in ("LFNO", "FNO")
    }
    for label, records in found.items():
        if not records:
            raise LfnoError(
                f"'fno long' trains as long as LFNO on {cell.task}, but {place} has no record of {label}: "
                "run the models lfno,fno first, or in the same command"
            )
    own, theirs = (mean(r.seconds for r in records) for records in found.values())
    pace = mean(_pace(r) for r in found["FNO"])
    epochs = found["FNO"][0].training["epochs"]
    return max(epochs, 50 * math.ceil(round((epochs + (own - theirs) / max(pace, 1e-9)) / 50, 6)))


def _pace(record: RunRecord) -> float:
    """Return the time of one epoch of one run in seconds.

    The time before the first validation is left out: on a GPU, the first epochs can take long. A record without a history of
    times has the training time divided by the number of epochs.
    """
    epoch, seconds = record.history.get("epoch", []), record.history.get("seconds", [])
    if len(epoch) < 2 or len(epoch) != len(seconds):
        return record.seconds / record.training["epochs"]
    return (seconds[-1] - seconds[0]) / (epoch[-1] - epoch[0]) / record.stacked
