"""Small models with two inputs and two outputs, for the tests of streams and of exported code."""

from __future__ import annotations

import shutil
from dataclasses import replace
from functools import partial

import numpy as np
import pytest
import torch

import lfno
from lfno.core.grid import Grid
from lfno.identification.feedback import FeedbackModel
from lfno.identification.feedback.law import Law
from lfno.identification.feedback.structure import Structure
from lfno.identification.feedback.terms import Terms
from lfno.identification.identify import Modes
from lfno.identification.modal import ModalModel
from lfno.surrogate import Surrogate

GRID = Grid.line(300, dt=0.02)
SIGNALS = {"inputs": [["force", "N"], ["flow", "m³/s"]], "outputs": [["x", "m"], ["dx*/dt", "m/s"]]}
STRICT = ["-std=c99", "-O2", "-Wall", "-Wextra", "-Werror", "-pedantic"]
needs_compiler = pytest.mark.skipif(shutil.which("cc") is None, reason="no C compiler")


def modes(hold: str = "linear") -> Modes:
    """Return two oscillations and one decay with random residues."""
    rng = np.random.default_rng(0)
    residues = rng.normal(size=(2, 2, 3)) + 1j * rng.normal(size=(2, 2, 3))
    poles = np.array([-0.4 + 6j, -1.0 + 20j, -3.0 + 0j])
    return Modes(poles, residues, rng.normal(size=(2, 2)), np.ones(3), 0.0, hold)


def linear(hold: str = "linear") -> Surrogate:
    """Return a linear model with the modes of `modes` and with offsets."""
    offsets = np.array([0.3, -1.0]), np.array([2.0, 0.0])
    return Surrogate([ModalModel(modes(hold), *offsets, GRID, {"data": {"signals": SIGNALS}})])


def network(gate: bool = True, activation: str = "gelu", **more: object) -> Surrogate:
    """Return a causal LFNO with random weights, in double precision."""
    torch.manual_seed(0)
    fields = {"width": 5, "modes": 8, "n_poles": 3, "share_poles": True, "projection": 7, "transient_layers": 3}
    fields |= {"in_channels": 2, "out_channels": 2, "gate": gate, "activation": activation, "steady": "exact"}
    model = lfno.LFNO(GRID, **fields, **more).double()
    model.normalise([0.3, -1.0], [2.0, 0.5], [1.0, 0.0], [3.0, 0.1])
    model.provenance = {"data": {"signals": SIGNALS}}
    return Surrogate([model])


def feedback(hold: str = "linear", terms: Terms | None = None, limits: float = 1.0, sensor: bool = False) -> Surrogate:
    """Return a model of three modes with random feedback. The simulation takes three sub-steps in a time step.

    terms: the terms of the feedback; by default one or more of each kind.
    limits: the limits of the signals z. With the default, the signals exceed their limits.
    sensor: the terms belong to curved sensors, and there is no feedback.
    """
    rng = np.random.default_rng(0)
    terms = terms or Terms(2, powers=((2, 0), (1, 1), (0, 3)), sines=(1,), moduli=((0, 1),), units=2, knees=(0, 1))
    poles = np.array([-2.0, -0.3 + 6j, -0.8 + 15j])
    drive = rng.normal(size=(3, 2)) + 1j * rng.normal(size=(3, 2)) * (poles.imag > 0)[:, None]
    gains, pick = 0.2 * rng.normal(size=(5, terms.count)), rng.normal(size=(terms.signals, 5))
    law = Law(
        poles, drive, gains, pick, rng.normal(size=terms.shapes), rng.normal(size=(2, 5)), rng.normal(size=(2, 2)),
        rng.normal(size=2), 0.1 * rng.normal(size=5), np.tile([-limits, limits], (terms.signals, 1)), terms,
    )  # fmt: skip
    if sensor:
        law = replace(law, gains=np.zeros_like(gains), sensor=rng.normal(size=(2, terms.count)))
    rest = np.zeros((terms.signals, 2)), np.zeros((1, 1)), np.zeros(2), {"data": {"signals": SIGNALS}}
    structure = Structure(1, 2, terms, sensor=sensor)
    return Surrogate([FeedbackModel(law, structure, np.array([0.3, -1.0]), GRID, hold, 0.007, *rest)])  # type: ignore[arg-type]


def actuator() -> Surrogate:
    """Return a model of three modes with two curved actuators. The first input has a dead time of 2.5 steps.

    Both inputs of `forces` exceed the limits of the curves.
    """
    terms = Terms(2, powers=((2, 0), (0, 3)), knees=(0, 1))
    [model] = feedback("cubic", terms).members
    assert isinstance(model, FeedbackModel)
    matrix = np.array([[1.0, 0, 0.2, 0, 0.8, 0], [0, -0.5, 0, 0.1, 0, 1.5]])
    law = replace(
        model.law, gains=np.zeros((5, 4)), pick=np.diag([1.0, 0.7]), actuator=matrix, direct=np.zeros((2, 2)), start=np.zeros(5)
    )
    structure = Structure(1, 2, terms, actuator=(0, 1))
    return Surrogate([replace(model, law=law, structure=structure, delays=GRID.steps[-1] * np.array([2.5, 0.0]))])


def forces(size: int = 300) -> np.ndarray:
    """Return inputs (2, size): random walks."""
    return np.cumsum(np.random.default_rng(1).normal(size=(2, size)), -1) * 0.2


MODELS = {
    "linear": linear,
    "zero": partial(linear, "zero"),
    "feedback": feedback,
    "pendulum": partial(feedback, "cubic", Terms(1, powers=((3,),), sines=(0,)), np.inf),
    "spring": partial(feedback, "linear", Terms(1, powers=((3,), (2,)), units=1, knees=(0,)), 0.5),
    "sensor": partial(feedback, sensor=True),
    "actuator": actuator,
    "gated": network,
    "plain": partial(network, gate=False),
    "tanh": partial(network, activation="tanh"),
    "cubic network": partial(network, hold="cubic"),
    "no skip": partial(network, skip=False, gate=False),
}
