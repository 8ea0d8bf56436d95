"""Train the seeds of a network as one stack, for records in steady state and for windows of long records alike."""

from __future__ import annotations

import logging
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import torch

from lfno.challenges.fitted import Settings
from lfno.core.errors import LfnoError
from lfno.core.grid import Grid
from lfno.data.scaling import scale_of
from lfno.models.layers import WINDOW, PoleResidue
from lfno.models.lfno import LFNO
from lfno.training.estimate import estimate
from lfno.training.labels import Samples
from lfno.training.loop import Trainer
from lfno.training.networks import usable_device
from lfno.training.presets import Preset
from lfno.training.run import train
from lfno.training.task import Task


@dataclass(frozen=True)
class Trained:
    """The networks of all seeds, and the facts of their training for the record of the run."""

    networks: list[LFNO]
    device: str
    facts: dict[str, Any]


def train_seeds(
    preset: Preset, grid: Grid, samples: Samples, validation: Samples, settings: Settings, poles: np.ndarray | None = None
) -> Trained:
    """Train one network for each seed, all in one stack. Each keeps its best epoch on the validation samples.

    poles: complex poles (1/s) that all layers start from, the most important first; a layer that has more draws the rest.
    """
    preset = preset.change(**settings.changes)
    device = str(usable_device(settings.device))
    label = samples.steady if samples.steady is not None else samples.y
    assert label is not None
    channels = {"in_channels": samples.x.shape[1], "out_channels": label.shape[1]}
    config = LFNO.Config.from_fields({**preset.fields, **channels})
    tasks = []
    for seed in range(preset.training.seed, preset.training.seed + settings.seeds):
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(seed)
            network = LFNO(grid, config)
        network.normalise(*scale_of(samples.x), *scale_of(label))
        if poles is not None:
            place_poles(network, poles)
        tasks.append(Task(network, samples, validation, seed, f"seed {seed}"))
    expected = estimate(tasks, preset.training, device, None)
    expected.check()
    logging.getLogger("lfno").info(f"training {settings.seeds} network(s) on {device} takes {expected}")
    trainer = Trainer(tasks, preset.training, device)
    train(trainer, watch=settings.watch)
    if failed := trainer.failed():
        raise LfnoError(failed[0])
    networks = [model.to(device) for model in trainer.models()]
    facts = {
        "network": asdict(config),
        "training": asdict(preset.training),
        "parameters": sum(parameter.numel() for parameter in networks[0].parameters()),
        "best_epoch": [int(epoch) for epoch in trainer.best_epoch.tolist()],
        "validation_loss": trainer.best_loss.tolist(),
        "training_seconds": trainer.seconds,
    }
    return Trained(networks, device, facts)  # type: ignore[arg-type]


@torch.no_grad()
def place_poles(network: LFNO, poles: np.ndarray) -> None:
    """Let the layers of a network with shared poles start from these poles (1/s); residues keep their unit gain."""
    unit = network.grid.axes[0].length / WINDOW
    for kernel in network.modules():
        if not isinstance(kernel, PoleResidue):
            continue
        stored, residues = kernel.get_parameter("poles_0"), kernel.residues
        count = min(len(poles), stored.shape[0])
        decay = torch.as_tensor(-poles.real[:count] * unit).to(stored)
        residues[..., :count, :] *= (decay / stored[:count, 0].exp()).sqrt()[:, None]
        stored[:count, 0] = decay.log()
        stored[:count, 1] = torch.as_tensor(poles.imag[:count] * unit).to(stored)


def respond(trained: LFNO, device: str, inputs: np.ndarray, grid: Grid, transient: bool) -> np.ndarray:
    """One pass of a network for `(channels, time)`, on its device."""
    x = torch.as_tensor(np.ascontiguousarray(inputs[None]), dtype=torch.float32, device=device)
    with torch.no_grad():
        return trained.respond(x, grid, transient=transient)[0].cpu().numpy().astype(np.float64)
