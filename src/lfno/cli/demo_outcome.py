"""The result of the demo: the errors of all models, and the parts and modes of LFNO beside their true values."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from lfno.core.grid import Grid
from lfno.data.dataset import Dataset
from lfno.data.split import Split
from lfno.evaluation.baselines import fit_linear
from lfno.evaluation.metrics import relative_l2
from lfno.identification.mode import Mode
from lfno.models.operator import Operator
from lfno.surrogate import Surrogate
from lfno.surrogate.verdict import NAMES
from lfno.systems import Duffing
from lfno.systems.base import System

PARTS = ("transient", "steady")
LINEAR = NAMES["linear"]
LONGER = "FNO, similar time"  # name of the FNO that trains for about as long as LFNO


@dataclass(frozen=True)
class Trained:
    """A trained network with its cost.

    split: the samples of training, validation and test.
    epochs: passes over the training samples.
    seconds: processor time of the training.
    """

    model: Operator
    split: Split
    epochs: int
    seconds: float

    @property
    def parameters(self) -> int:
        """The number of parameters. A complex parameter counts once."""
        from lfno.paper.cost import count_parameters

        return count_parameters(self.model)["complex_once"]


@dataclass(frozen=True)
class Outcome:
    """The result of the demo.

    runs: the trained networks by name.
    error: mean relative L2 error over the test samples, by name of the model.
    curves: signals of the test sample in the figure, (time,), by name: "force", "truth", the names of the networks,
        "transient", "steady", "true transient" and "true steady".
    split_error: mean L2 errors of the transient and of the steady part of LFNO. They are relative to the response or to its
        steady part, whichever is larger. The mean is over the test samples with a periodic steady state.
    modes: modes of LFNO for small inputs, strongest first.
    true_pole: eigenvalue of the equation linearised about rest, in 1/s.
    grid: the time grid of the samples.
    """

    runs: dict[str, Trained]
    error: dict[str, float]
    curves: dict[str, np.ndarray]
    split_error: dict[str, float]
    modes: list[Mode]
    true_pole: complex
    grid: Grid

    @property
    def true_frequency(self) -> float:
        """Frequency of the true mode in Hz, from the imaginary part of the pole."""
        return self.true_pole.imag / (2 * np.pi)

    @property
    def true_damping(self) -> float:
        """Damping ratio of the true mode."""
        return -self.true_pole.real / abs(self.true_pole)

    def to_dict(self) -> dict[str, Any]:
        """Return plain values that JSON can hold."""
        runs = {name: {"epochs": run.epochs, "seconds": run.seconds} for name, run in self.runs.items()}
        true = {"frequency": self.true_frequency, "damping_ratio": self.true_damping}
        modes = [mode.to_dict() for mode in self.modes]
        return {"runs": runs, "error": self.error, "split_error": self.split_error, "modes": modes, "true_mode": true}


def judge(data: Dataset, runs: dict[str, Trained], system: System | None = None) -> Outcome:
    """Return the errors of the trained networks and of the linear baseline, and compare LFNO with the equation.

    runs: the trained networks by name; "LFNO" must be one of them.
    system: the equation, by default `Duffing(c=0.5)`.
    """
    system = system or Duffing(c=0.5)
    model, split = runs["LFNO"].model, runs["LFNO"].split
    inputs, truth = data.inputs[split.test], data.outputs[split.test]
    answers = {name: run.model.predict(inputs) for name, run in runs.items()}
    known = np.sort(np.concatenate([split.train, split.validation]))
    linear = fit_linear(data.inputs[known], data.outputs[known], None, data.grid)
    error = {name: float(relative_l2(answer, truth).mean()) for name, answer in answers.items()}
    error[LINEAR] = float(relative_l2(linear(inputs, None), truth).mean())
    steady = system.steady_state(inputs[:, 0].astype(np.float64), data.grid)
    own = dict(zip(PARTS, model.decompose(inputs), strict=True))
    true = {"transient": truth - steady.values, "steady": steady.values}
    settled = steady.reached
    size = np.maximum(_norm(true["steady"]), _norm(truth))[settled]
    split_error = {name: float((_norm(own[name] - true[name])[settled] / size).mean()) for name in PARTS}
    shown = _typical(relative_l2(answers["LFNO"], truth), np.where(settled, _norm(true["transient"]), -np.inf))
    curves = {"force": inputs[shown, 0], "truth": truth[shown, 0], **{name: answers[name][shown, 0] for name in answers}}
    curves |= {name: own[name][shown, 0] for name in PARTS} | {f"true {name}": true[name][shown, 0] for name in PARTS}
    model.provenance["test_l2"] = error["LFNO"]  # `modes()` leaves out modes that explain less than this error
    pole = complex(system.linearised_poles()[0])
    return Outcome(runs, error, curves, split_error, Surrogate([model]).modes(), pole, data.grid)


def _norm(signals: np.ndarray) -> np.ndarray:
    """Return the L2 norm of each sample."""
    return np.linalg.norm(signals.reshape(len(signals), -1), axis=1)


def _typical(errors: np.ndarray, transients: np.ndarray) -> int:
    """Return the index of the sample for the figure. Its error is average, and its transient part is large.

    The sample is one of the middle third of the samples, ordered by `errors`. In this third, it is at the upper quartile of
    `transients`, the norms of the true transient parts.
    """
    order = np.argsort(errors)
    middle = order[len(order) // 3 : -(-2 * len(order) // 3)]
    ranked = middle[np.argsort(transients[middle])]
    return int(ranked[3 * (len(ranked) - 1) // 4])
