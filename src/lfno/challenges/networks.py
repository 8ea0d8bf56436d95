"""Train the networks of all seeds together, as one batched computation. The modules `steady` and `windows` use this."""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import torch

from lfno.challenges.fitted import Settings
from lfno.core.errors import LfnoError
from lfno.core.grid import Grid
from lfno.data.files.variables import counted
from lfno.models.kernel import WINDOW, PoleResidue
from lfno.models.lfno import LFNO, LFNOConfig
from lfno.training.device import usable_device
from lfno.training.estimate import Estimate, duration, estimate
from lfno.training.labels import Samples
from lfno.training.loop import Trainer
from lfno.training.pace import Pace
from lfno.training.presets import Preset
from lfno.training.run import train
from lfno.training.task import Task


@dataclass(frozen=True)
class Trained:
    """The networks of all seeds, their device, and details of the training (`facts`) for the result file of the run."""

    networks: list[LFNO]
    device: str
    facts: dict[str, Any]


#: a function that makes a network from a configuration
Build = Callable[[LFNOConfig], LFNO]


def train_seeds(
    build: Build, preset: Preset, outputs: int, samples: Samples, validation: Samples, settings: Settings
) -> Trained:
    """Train one network for each seed, all together. Return the networks.

    Each network has the parameters of its best epoch on the validation samples.

    Args:
        build: Makes a network from a configuration, with initial weights and scales. The random seed is set before the call.
        preset: The network and its training, before the user's changes.
        outputs: The number of output channels.
        samples: The training samples.
        validation: The validation samples.
        settings: The user's choices.
    """
    preset = preset.change(**settings.changes)
    device = str(usable_device(settings.device))
    config = LFNO.Config.from_fields({**preset.fields, "in_channels": samples.x.shape[1], "out_channels": outputs})
    tasks = []
    for seed in range(preset.training.seed, preset.training.seed + settings.seeds):
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(seed)
            tasks.append(Task(build(config), samples, validation, seed, f"seed {seed}"))
    expected = estimate(tasks, preset.training, device, None)
    expected.check()
    pace = Pace.of(tasks, preset.training, expected, settings.left(device))
    told = f"training {counted(settings.seeds, 'network')} on {device}{_times(expected, pace, preset)}"
    logging.getLogger("lfno").info(told)
    trainer = Trainer(tasks, pace.config, device)
    train(trainer, watch=pace.watcher(settings.watch))
    if failed := trainer.failed():
        raise LfnoError(failed[0])
    networks = [model.to(device) for model in trainer.models()]
    facts = {
        "network": asdict(config),
        "training": asdict(pace.config),
        "parameters": sum(parameter.numel() for parameter in networks[0].parameters()),
        "best_epoch": [int(epoch) for epoch in trainer.best_epoch.tolist()],
        "validation_loss": trainer.best_loss.tolist(),
        "training_seconds": trainer.seconds,
    }
    return Trained(networks, device, facts)  # type: ignore[arg-type]


def _times(expected: Estimate, pace: Pace, preset: Preset) -> str:
    """Return a text with the expected time of the training, or with the number of epochs that fit into the time budget."""
    if pace.config.epochs == preset.training.epochs or pace.budget is None:
        return f" takes {expected}"
    return f": {pace.config.epochs} of {preset.training.epochs} epochs fit into the {duration(pace.budget)} that are left"


@torch.no_grad()
def place_poles(network: LFNO, poles: np.ndarray) -> None:
    """Initialise the poles of all layers with given poles.

    The residue β of each changed pole μ is rescaled, so that the energy |β|² / (2 |Re μ|) of its impulse response is unchanged.
    If a layer has more poles than `poles`, its further poles keep their own initial values. The channels of each layer must
    share their poles.

    Args:
        network: The network, changed in place.
        poles: Poles in 1/s, (poles,), the most important first.
    """
    unit = network.grid.axes[0].length / WINDOW
    for kernel in network.modules():
        if isinstance(kernel, PoleResidue):
            stored, residues = kernel.get_parameter("poles_0"), kernel.residues
            count = min(len(poles), len(stored))
            decay = torch.as_tensor(-poles.real[:count] * unit).to(stored)
            residues[..., :count, :] *= (decay / stored[:count, 0].exp()).sqrt()[:, None]
            stored[:count, 0] = decay.log()
            stored[:count, 1] = torch.as_tensor(poles.imag[:count] * unit).to(stored)


def respond(network: LFNO, device: str, inputs: np.ndarray, grid: Grid, transient: bool) -> np.ndarray:
    """Return the output of a network, (channels, time), computed on its device.

    Args:
        network: The network.
        device: The device of the network.
        inputs: Inputs, (channels, time).
        grid: The grid of the inputs.
        transient: True for the full response from rest, False for the steady response.
    """
    x = torch.as_tensor(np.ascontiguousarray(inputs[None]), dtype=torch.float32, device=device)
    with torch.no_grad():
        return network.respond(x, grid, transient=transient)[0].cpu().numpy().astype(np.float64)
