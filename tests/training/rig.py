"""A small data set and a small trainer that the tests of training share."""

import numpy as np
import torch

from lfno.core.grid import Grid
from lfno.data.dataset import Dataset
from lfno.data.split import standard
from lfno.paper.presets import find_preset
from lfno.training.loop import Trainer
from lfno.training.networks import make_task

GRID = Grid.line(48, dt=0.1)
SMALL = {"width": 4, "projection": 8, "batch": 8, "validate_every": 2}


def oscillator(samples=30, seed=0):
    """Return a data set of a damped oscillator under three random tones, simulated step by step."""
    draw, t = np.random.default_rng(seed), 0.1 * np.arange(48)
    rate, phase = draw.uniform(0.5, 5, (samples, 3, 1)), draw.uniform(0, 6.28, (samples, 3, 1))
    force = np.sin(rate * t + phase).sum(1, keepdims=True)
    x, v = np.zeros(samples), np.zeros(samples)
    out = np.zeros_like(force)
    for n in range(48):
        out[:, 0, n] = x
        v = v + 0.1 * (force[:, 0, n] - 0.4 * v - 4 * x)
        x = x + 0.1 * v
    return Dataset(force, out, GRID)


def trainer(model="lfno", epochs=6, seeds=(0,), data=None, **changes):
    """Return a trainer of small networks, one for each seed. changes: options of the model and of the training."""
    data = data or oscillator()
    preset = find_preset("default")(model, data.grid).change(epochs=epochs, **{**SMALL, **changes})
    if model == "lfno":
        preset = preset.change(**{"n_poles": 3, "modes": 6, "transient_layers": 3, "steady_decay": 1e-4, **changes})
    return Trainer([make_task(data, standard(len(data)), preset, seed) for seed in seeds], preset.training)


def felt(stack):
    """Return a mask (parameters,) of booleans: True for the parameters that have an effect on predictions.

    The imaginary part of the Fourier weights R (`lfno.models.fourier_weights`) at frequency zero has no effect. Its gradient is
    a rounding error, which Adam amplifies.
    """
    masks = []
    for name, shape in stack.layout():
        mask = torch.ones(shape, dtype=torch.bool)
        if "weights." in name:
            mask[..., 0, 1] = False
        masks.append(mask.flatten())
    return torch.cat(masks)
