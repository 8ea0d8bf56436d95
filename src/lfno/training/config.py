"""How a model is trained: one frozen dataclass."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

from lfno.models.config import check_choice, check_count, check_number
from lfno.training.losses import LOSSES

#: the `steady_decay` of an R that is not trained: it keeps its initial value, zero where R is added to exact layers
HELD: Literal["held"] = "held"
SteadyDecay = float | Literal["held"] | None
MOST_STARTS = 1000  # initialisations of one run; a larger number is a typing error


@dataclass(frozen=True)
class TrainingConfig:
    """epochs, batch: passes over the training samples, and samples per step.

    schedule: "cosine" (a linear warm-up over `warmup` of the epochs, then half a cosine down to zero) or "step" (the
        rate is multiplied by `gamma` every `step_size` epochs).
    weight_decay: decoupled from the gradient (AdamW); poles are never decayed.
    steady_decay: the decay of R, the free weights of the steady modes, where a network overfits first; None lets a
        short pilot choose it on the validation samples, "held" keeps R at its initial value.
    starts: initial weights that are tried for a short while; those with the lowest validation loss go on. A small network
        may get stuck where another start would not.
    clip: the largest gradient norm of a step, 0 for no limit.
    patience: stop when the validation loss has not improved for this many epochs, 0 for never.
    validate_every: epochs between two looks at the validation set; the best look is the model that is kept.
    unscored: time steps at the start of every sample that are fed to the model but not compared with the truth.
    seed: the order of the samples and the initial weights; the split has its own.
    """

    epochs: int = 500
    batch: int = 64
    learning_rate: float = 2.5e-3
    weight_decay: float = 1e-4
    steady_decay: SteadyDecay = 1e-4
    schedule: str = "cosine"
    warmup: float = 0.02
    step_size: int = 100
    gamma: float = 0.85
    starts: int = 1
    clip: float = 1.0
    loss: str = "l2"
    patience: int = 0
    validate_every: int = 5
    unscored: int = 0
    seed: int = 0

    def __post_init__(self) -> None:
        for name in ("epochs", "batch", "step_size", "validate_every"):
            check_count(name, getattr(self, name), high=10**9)
        check_count("patience", self.patience, low=0, high=10**9)
        check_count("unscored", self.unscored, low=0, high=10**9)
        check_count("starts", self.starts, high=MOST_STARTS)
        check_count("seed", self.seed, low=0, high=2**62)
        check_choice("schedule", self.schedule, ("cosine", "step"))
        check_choice("loss", self.loss, tuple(LOSSES))
        limits: dict[str, tuple[float, float]] = {"learning_rate": (0, 10), "gamma": (0, 1), "warmup": (0, 1)}
        limits |= {"weight_decay": (0, 10), "clip": (0, 1e9)}
        for name, (low, high) in limits.items():
            check_number(name, getattr(self, name), low, high)
        if self.steady_decay is not None and self.steady_decay != HELD:
            check_number("steady_decay", self.steady_decay, 0, 1000)

    def rate(self, epoch: int) -> float:
        """The learning rate of an epoch, counted from 0."""
        if self.schedule == "step":
            return self.learning_rate * self.gamma ** (epoch // self.step_size)
        rising = self.warmup * self.epochs
        if epoch < rising:
            return self.learning_rate * (epoch + 1) / (rising + 1)
        return self.learning_rate * 0.5 * (1 + math.cos(math.pi * (epoch - rising) / max(1.0, self.epochs - rising)))
