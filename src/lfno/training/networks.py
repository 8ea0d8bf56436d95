"""Train networks on the samples of a data set: one network, or the members of an ensemble as one stack."""

from __future__ import annotations

import logging
import math
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch

from lfno.core.errors import LfnoError
from lfno.core.short import Short
from lfno.data.dataset import Dataset
from lfno.data.scaling import scale_of
from lfno.data.split import Split
from lfno.data.stretches import PERIODIC, SAMPLE_START
from lfno.identification.probe import input_band
from lfno.models.marching import Marching
from lfno.models.operator import Operator
from lfno.models.storage import MODELS
from lfno.training import parallel
from lfno.training.device import usable_device
from lfno.training.estimate import estimate
from lfno.training.frames import pieces
from lfno.training.labels import Samples
from lfno.training.loop import Trainer
from lfno.training.pace import Pace
from lfno.training.pilot import chosen
from lfno.training.presets import Preset
from lfno.training.run import Watch, train
from lfno.training.task import Task, hasten

MOST_MEMBERS = 1000  # largest number of members of an ensemble; a larger number is a typing error
#: keys in the provenance of a data set that are copied into a model file
REPEATED = ("name", "system", "seed", "source", "signals")


@dataclass(frozen=True, repr=False)
class Trained(Short):
    """The result of `train_networks`.

    models: the trained networks.
    preset: the model, its hyper-parameters and the options of training.
    trainer: the trainer, which contains the losses over the epochs.
    pilot: the time of the pilot runs in seconds.
    stopped: whether Ctrl-C ended the training before its last epoch.
    """

    models: list[Operator]
    preset: Preset
    trainer: Trainer
    pilot: float = 0.0
    stopped: bool = False

    def facts(self) -> dict[str, Any]:
        """Return the facts about the training that are written to the file metrics.json."""
        return {
            "model": self.preset.model,
            "members": len(self.models),
            "parameters": sum(p.numel() for p in self.models[0].parameters()),
            "epochs": self.trainer.epoch,
            "best_epoch": [int(epoch) for epoch in self.trainer.best_epoch.tolist()],
            "seconds": self.pilot + self.trainer.seconds,
            "stopped": self.stopped,
            "steady_decay": [task.steady_decay for task in self.trainer.tasks],
        }


def train_networks(
    dataset: Dataset,
    split: Split,
    preset: Preset,
    *,
    ensemble: int = 1,
    folder: str | Path | None = None,
    resume: bool = False,
    watch: Watch | None = None,
    device: str | None = None,
    known: np.ndarray | None = None,
    seconds: float | None = None,
    haste: float = 1.0,
) -> Trained:
    """Train one network or an ensemble, and return the networks. A network whose loss was never finite is left out.

    dataset, split: the samples and their split.
    preset: the model, its hyper-parameters and the options of training.
    ensemble: the number of networks; each has another seed.
    folder: the folder for checkpoints and a log; None to write no files.
    resume: whether to continue from the last checkpoint in `folder`.
    watch: called as `watch(trainer, record)` at every validation of the pilot runs and of the training. `Trainer.run` describes
        the record. It has one more entry, "left": the expected time in seconds until the end.
    device: "cpu", "cuda" or "cuda:1"; None for the best device.
    known: the prediction of a fitted model, in the shape of the outputs. The networks then learn the residual.
    seconds: time limit for pilot runs and training together. A short limit reduces the number of epochs.
    haste: factor by which the initial poles decay faster than usual.

    Ctrl-C ends the training early, and the best networks so far are returned. Raises KeyboardInterrupt if there is no network
    yet. Raises LfnoError if the run does not fit into memory or on the disk, or if no network could be trained.
    """
    check_request(dataset, preset, ensemble, folder, resume)
    home = None if folder is None else Path(folder)
    place = usable_device(device)
    first = make_task(dataset, split, preset, preset.training.seed, known=known, haste=haste)
    tasks = [first, *(first.reseeded(first.seed + k) for k in range(1, ensemble))]
    expected = estimate(tasks, preset.training, place, home)
    expected.check()
    pace = Pace.of(tasks, preset.training, expected, seconds)
    logger = logging.getLogger("lfno")
    if parallel.leader():
        logger.info(f"this run takes {replace(expected, seconds=pace.total)}")
    tasks, piloted = chosen(tasks, pace.config, place, home, resume, pace.watcher(watch))
    trainer = Trainer(tasks, pace.after_pilot(piloted), place)
    stopped = False
    try:
        train(trainer, home, resume, pace.watcher(watch))
    except KeyboardInterrupt:
        if not torch.isfinite(trainer.best_loss).any():
            raise
        stopped = True
        logger.warning(f"stopped in epoch {trainer.epoch + 1}: the best networks so far are kept")
    failed = trainer.failed()
    if len(failed) == len(tasks):
        raise LfnoError(failed[0])
    for message in failed:
        logger.warning(message)
    learned = torch.isfinite(trainer.best_loss).tolist()
    models = [model for model, some in zip(trainer.models(), learned, strict=True) if some]
    told = provenance(dataset, split, preset, trainer)
    for model in models:
        model.provenance = told
    return Trained(models, preset, trainer, piloted, stopped)


def check_request(dataset: Dataset, preset: Preset, ensemble: int, folder: str | Path | None, resume: bool) -> None:
    """Raise LfnoError if these options do not define a network or an ensemble, or if there is no run to resume."""
    if not (isinstance(ensemble, int) and 1 <= ensemble <= MOST_MEMBERS):
        raise LfnoError(f"ensemble is {ensemble!r}: a whole number of members from 1 to {MOST_MEMBERS} is needed")
    if resume and (folder is None or not Path(folder).exists()):
        raise LfnoError(f"there is nothing to resume in {folder or 'a run without a folder'}")
    make_network(dataset, preset, seed=0)


def make_network(dataset: Dataset, preset: Preset, seed: int) -> Operator:
    """Return a network for the channels and the grid of a data set, with the initial weights of `seed`."""
    channels = {"in_channels": dataset.inputs.shape[1], "out_channels": dataset.outputs.shape[1]}
    kind = MODELS[preset.model]
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        return kind(dataset.grid, kind.Config.from_fields({**preset.fields, **channels}))


def make_task(
    dataset: Dataset, split: Split, preset: Preset, seed: int, name: str = "", known: np.ndarray | None = None,
    haste: float = 1.0,
) -> Task:  # fmt: skip
    """Return a network with its training and validation samples. The network contains the offsets and scales of the samples.

    seed: seed of the initial weights.
    name: name of the run; by default "seed" with its number.
    known: the prediction of a fitted model for every sample. The labels are then the residuals.
    haste: factor by which the initial poles decay faster than usual.
    """
    model = make_network(dataset, preset, seed)
    hasten(model, haste)
    if len(split.validation) == 0:
        raise LfnoError("the split has no validation samples; at least one is needed to choose the best epoch")
    unscored = preset.training.unscored
    parts = [_measured(dataset, rows, unscored, known) for rows in (split.train, split.validation)]
    train, validation = parts
    if isinstance(model, Marching):
        train = pieces(train)
    offset, scale = scale_of(train.label, train.mask)
    if known is not None:
        # the loss is relative to the responses. The scales of the channels are therefore proportional to the scales of the
        # responses; one common factor adapts them to the residuals
        mask = None if dataset.mask is None else dataset.mask[split.train]
        whole = scale_of(dataset.outputs[split.train], mask)[1]
        scale = whole * np.sqrt(np.mean((scale / whole) ** 2))
    model.normalise(*scale_of(train.x), offset, scale)
    return Task(model, train, validation, seed, name or f"seed {seed}", haste=haste)


def _measured(dataset: Dataset, rows: np.ndarray, unscored: int, known: np.ndarray | None) -> Samples:
    """Return the samples with the indices `rows`, without samples that have no measured point to score.

    unscored: length of the warm-up in time steps, which is not scored.
    known: the prediction of a fitted model for every sample, or None.
    """
    if dataset.mask is None:
        samples = Samples.of(dataset[rows])
    else:
        counts = dataset.mask[rows][..., unscored:].any(axis=tuple(range(1, dataset.mask.ndim)))
        rows = np.asarray(rows)[counts]
        if not len(rows):
            raise LfnoError("all outputs of the training or of the validation samples are missing: measure more outputs")
        samples = replace(Samples.of(dataset[rows]), mask=dataset.mask[rows])
    return samples if known is None else samples.remainder(known[rows], unscored)


def labels_of(dataset: Dataset) -> list[str]:
    """Return the labels of a data set: "rest" for responses from rest, "steady" for periodic steady states, or both."""
    if dataset.provenance.get(SAMPLE_START) == PERIODIC:
        return ["steady"]
    return ["rest"] if dataset.steady is None else ["rest", "steady"]


def provenance(dataset: Dataset, split: Split, preset: Preset, trainer: Trainer) -> dict[str, Any]:
    """Return the description of the training that is stored in a model file."""
    best = list(zip(trainer.best_loss.tolist(), trainer.best_epoch.tolist(), strict=True))
    return {
        "training": asdict(preset.training),
        "data": {name: value for name, value in dataset.provenance.items() if name in REPEATED},
        "split": list(split.sizes),
        "labels": labels_of(dataset),
        "band": input_band(dataset.inputs[split.train], dataset.grid.steps[-1]),
        "validation_loss": [loss for loss, _ in best if math.isfinite(loss)],
        "best_epoch": [int(epoch) for loss, epoch in best if math.isfinite(loss)],
    }
