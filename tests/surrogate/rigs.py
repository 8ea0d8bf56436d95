"""Small models with two inputs and two outputs, for the tests of streams and of exported code."""

from __future__ import annotations

import shutil
from functools import partial

import numpy as np
import pytest
import torch

import lfno
from lfno.core.grid import Grid
from lfno.identification.identify import Modes
from lfno.identification.modal import ModalModel
from lfno.surrogate import Surrogate

GRID = Grid.line(300, dt=0.02)
SIGNALS = {"inputs": [["force", "N"], ["flow", "m³/s"]], "outputs": [["x", "m"], ["dx*/dt", "m/s"]]}
STRICT = ["-std=c99", "-O2", "-Wall", "-Wextra", "-Werror", "-pedantic"]
needs_compiler = pytest.mark.skipif(shutil.which("cc") is None, reason="no C compiler")


def modes(hold: str = "linear") -> Modes:
    rng = np.random.default_rng(0)
    residues = rng.normal(size=(2, 2, 3)) + 1j * rng.normal(size=(2, 2, 3))
    poles = np.array([-0.4 + 6j, -1.0 + 20j, -3.0 + 0j])
    return Modes(poles, residues, rng.normal(size=(2, 2)), np.ones(3), 0.0, hold)


def linear(hold: str = "linear") -> Surrogate:
    offsets = np.array([0.3, -1.0]), np.array([2.0, 0.0])
    return Surrogate([ModalModel(modes(hold), *offsets, GRID, {"data": {"signals": SIGNALS}})])


def network(gate: bool = True, activation: str = "gelu", **more: object) -> Surrogate:
    torch.manual_seed(0)
    fields = {"width": 5, "modes": 8, "n_poles": 3, "share_poles": True, "projection": 7, "transient_layers": 3}
    fields |= {"in_channels": 2, "out_channels": 2, "gate": gate, "activation": activation, "steady": "exact"}
    model = lfno.LFNO(GRID, **fields, **more).double()
    model.normalise([0.3, -1.0], [2.0, 0.5], [1.0, 0.0], [3.0, 0.1])
    model.provenance = {"data": {"signals": SIGNALS}}
    return Surrogate([model])


def forces(size: int = 300) -> np.ndarray:
    return np.cumsum(np.random.default_rng(1).normal(size=(2, size)), -1) * 0.2


MODELS = {
    "linear": linear,
    "zero": partial(linear, "zero"),
    "gated": network,
    "plain": partial(network, gate=False),
    "tanh": partial(network, activation="tanh"),
}
