"""From data to trained models: build, normalise, train, keep the best."""

from __future__ import annotations

import logging
import math
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch

from lfno.core.checks import real_array
from lfno.core.errors import LfnoError
from lfno.core.grid import Grid
from lfno.data import prepare as own
from lfno.data import split as splits
from lfno.data.dataset import Dataset
from lfno.data.scaling import scale_of
from lfno.data.split import Split
from lfno.data.variation import check_variation
from lfno.models.operator import Operator
from lfno.models.storage import MODELS
from lfno.training import parallel
from lfno.training.choose import choose
from lfno.training.estimate import estimate
from lfno.training.labels import Samples
from lfno.training.loop import Trainer
from lfno.training.pilot import prepare, read_choices, write_choices
from lfno.training.presets import Preset, PresetMaker, default_preset
from lfno.training.run import Watch, train
from lfno.training.task import Task

MOST_MEMBERS = 1000  # of an ensemble: beyond that it is a slip of the finger
#: what a model file repeats of the provenance of its data
TOLD = ("name", "system", "seed", "source", "signals")


@dataclass
class Fit:
    """Trained models (one, or the members of an ensemble), the data and split they were trained on, and the trainer."""

    models: list[Operator]
    dataset: Dataset
    split: Split
    preset: Preset
    trainer: Trainer

    @property
    def model(self) -> Operator:
        return self.models[0]

    def predict(self, inputs: np.ndarray, grid: Grid | None = None) -> np.ndarray:
        """The mean of the members."""
        return np.mean([model.predict(inputs, grid) for model in self.models], axis=0)

    def provenance(self) -> dict[str, Any]:
        """What a model file says about its training."""
        looks = list(zip(self.trainer.best_loss.tolist(), self.trainer.best_epoch.tolist(), strict=True))
        return {
            "training": asdict(self.preset.training),
            "data": {k: v for k, v in self.dataset.provenance.items() if k in TOLD},
            "split": list(self.split.sizes),
            "validation_loss": [loss for loss, _ in looks if math.isfinite(loss)],
            "best_epoch": [int(epoch) for loss, epoch in looks if math.isfinite(loss)],
        }

    def save(self, folder: str | Path) -> list[Path]:
        """model.safetensors, or member-0.safetensors … of an ensemble."""
        names = ["model"] if len(self.models) == 1 else [f"member-{k}" for k in range(len(self.models))]
        paths = [Path(folder) / f"{name}.safetensors" for name in names]
        for path, model in zip(paths, self.models, strict=True):
            model.save(path, **self.provenance())
        return paths


def fit(
    data: Dataset | own.Source | tuple[Any, Any],
    model: str = "lfno",
    preset: PresetMaker = default_preset,
    *,
    dt: float | None = None,
    split: Split | None = None,
    fold: int = 0,
    ensemble: int = 1,
    folder: str | Path | None = None,
    resume: bool = False,
    watch: Watch | None = None,
    device: str | None = None,
    **changes: Any,
) -> Fit:
    """Train a model on a data set, by name or given, on arrays `(inputs, outputs)` with their `dt`, or on a file.

    A file (or a `Record`, or named arrays) may need the options of `lfno.data.signals.load`, such as `input="force"`,
    and takes those of `lfno.data.prepare.prepare`; the size of the model then comes from the data.
    All other `changes` are fields of the model's or the training's configuration. With a `folder` the run leaves
    checkpoints, a log and its models there, and `resume=True` goes on where it stopped.

    >>> t = np.arange(256) * 0.1
    >>> forces = np.sin(np.linspace(1, 2, 8)[:, None] * t)
    >>> run = lfno.fit((forces, forces**2), dt=0.1, width=4, modes=8, epochs=2)
    >>> path = run.model.save("square.safetensors")
    """
    if own.is_own(data):
        options = {name: changes.pop(name) for name in (*own.READING, *own.CUTTING) if name in changes}
        prepared = own.prepare(data, fold=fold, **options | ({} if dt is None else {"dt": dt}))  # type: ignore[arg-type]
        dataset, split = prepared.dataset, split or prepared.split
    else:
        dataset = as_dataset(data, dt)  # type: ignore[arg-type]
        check_variation(dataset)
    split = split or (splits.of(dataset) if "split" in dataset.provenance else splits.standard(len(dataset), fold))
    chosen = preset(model, dataset.grid)
    signals = dataset.provenance.get("signals")
    if preset is default_preset and signals:
        chosen = chosen.change(**choose(dataset, split, model, signals["warmup"]).fields)
    chosen = chosen.change(**changes)
    if not (isinstance(ensemble, int) and 1 <= ensemble <= MOST_MEMBERS):
        raise LfnoError(f"an ensemble of {ensemble!r} members: a whole number from 1 to {MOST_MEMBERS} is needed")
    first = task(dataset, split, chosen, chosen.training.seed)
    tasks = [first, *(first.reseeded(first.seed + k) for k in range(1, ensemble))]
    place = parallel.start() or device or best_device()
    try:
        torch.empty(0, device=place)
    except (RuntimeError, AssertionError, TypeError) as error:
        raise LfnoError(f"the device {place!r} cannot be used: {str(error).splitlines()[0]}; choose cpu or cuda") from error
    home = None if folder is None else Path(folder)
    if resume and (home is None or not home.exists()):
        raise LfnoError(f"there is nothing to resume in {home or 'a run without a folder'}")
    expected = estimate(tasks, chosen.training, place, home)
    expected.check()
    if parallel.leader():
        logging.getLogger("lfno").info(f"this run takes {expected}")
    tasks = _prepared(tasks, chosen, place, home if resume else None, watch)
    trainer = Trainer(tasks, chosen.training, place)
    if home is not None and parallel.leader():
        write_choices(home, tasks)
    train(trainer, home, resume, watch)
    for sentence in trainer.failed():
        logging.getLogger("lfno").warning(sentence)
    learned = torch.isfinite(trainer.best_loss).tolist()
    result = Fit([one for one, some in zip(trainer.models(), learned, strict=True) if some], dataset, split, chosen, trainer)
    for trained in result.models:
        trained.provenance = result.provenance()
    if folder is not None and parallel.leader():
        result.save(folder)
    return result


def _prepared(tasks: list[Task], preset: Preset, device: Any, home: Path | None, watch: Watch | None) -> list[Task]:
    """The tasks with what an earlier part of the same run chose, or a pilot chooses now."""
    before = None if home is None else read_choices(home, tasks)
    if before is not None:
        return before[0]
    return prepare(tasks, preset.training, device, watch if parallel.leader() else None)


def task(dataset: Dataset, split: Split, preset: Preset, seed: int, name: str = "") -> Task:
    """A model with the initial weights of `seed`, normalised on the training samples, and its data."""
    channels = {"in_channels": dataset.inputs.shape[1], "out_channels": dataset.outputs.shape[1]}
    kind = MODELS[preset.model]
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        model = kind(dataset.grid, kind.Config.from_fields({**preset.fields, **channels}))
    if len(split.validation) == 0:
        raise LfnoError("the split has no validation samples; at least one is needed to choose the best epoch")
    train, validation = (_measured(dataset, rows, preset.training.unscored) for rows in (split.train, split.validation))
    assert train.y is not None
    model.normalise(*scale_of(train.x), *scale_of(train.y, train.mask))
    return Task(model, train, validation, seed, name or f"seed {seed}")


def _measured(dataset: Dataset, rows: np.ndarray, unscored: int) -> Samples:
    """The samples of these rows; those of which nothing was measured after the first `unscored` steps are left out."""
    if dataset.mask is None:
        return Samples.of(dataset[rows])
    counts = dataset.mask[rows][..., unscored:].any(axis=tuple(range(1, dataset.mask.ndim)))
    rows = np.asarray(rows)[counts]
    if not len(rows):
        raise LfnoError("no output was measured in the training or in the validation samples: too much is missing")
    return replace(Samples.of(dataset[rows]), mask=dataset.mask[rows])


def as_dataset(data: Dataset | str | tuple[Any, Any], dt: float | None) -> Dataset:
    """A data set from its name, itself, or a pair of arrays (samples, time) or (samples, channels, time) with dt."""
    if isinstance(data, Dataset):
        return data
    if isinstance(data, str):
        from lfno.data.make import dataset

        return dataset(data)
    if dt is None:
        raise LfnoError("arrays need their sampling interval: fit((inputs, outputs), dt=0.01)")
    if len(data) != 2:
        raise LfnoError(f"{len(data)} arrays were given; a pair (inputs, outputs) is needed")
    pair = zip(("the inputs", "the outputs"), data, strict=True)
    inputs, outputs = (real_array(values, name).astype(np.float64) for name, values in pair)
    inputs, outputs = (values[:, None] if values.ndim == 2 else values for values in (inputs, outputs))
    if inputs.ndim != 3 or outputs.ndim != 3:
        raise LfnoError(
            f"the arrays have shapes {inputs.shape} and {outputs.shape}; (samples, time) or (samples, channels, time) "
            "is needed, or a Dataset for fields"
        )
    return Dataset(inputs, outputs, Grid.line(inputs.shape[-1], dt))


def best_device() -> str:
    return "cuda" if torch.cuda.is_available() else "cpu"
