"""The options of training as one frozen dataclass.

R are the Fourier weights of a network: one trainable channel matrix for each low Fourier mode of a layer
(`lfno.models.fourier_weights`). R belongs to the steady part of the response.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

from lfno.models.config import check_choice, check_count, check_number
from lfno.training.losses import LOSSES

#: value of `steady_decay` with which R is not trained
HELD: Literal["held"] = "held"
SteadyDecay = float | Literal["held"] | None
MOST_STARTS = 1000  # largest number of initialisations of one run; a larger number is a typing error


@dataclass(frozen=True)
class TrainingConfig:
    """The options of training.

    epochs: passes over the training samples.
    batch: samples per step of the optimiser.
    learning_rate: the largest learning rate.
    weight_decay: the weight decay of all parameters except R and the poles, decoupled from the gradient as in AdamW. Poles have
        no weight decay.
    steady_decay: the weight decay of R. R has its own decay, because R overfits before other parameters do. "held" keeps R at
        its initial value. With None, short pilot runs choose between 1e-4 and "held" by the validation loss.
    schedule: "cosine" or "step". With "cosine", the learning rate rises linearly over the share `warmup` of the epochs and then
        falls to zero as half a cosine. With "step", the learning rate is multiplied by `gamma` every `step_size` epochs.
    starts: the number of initialisations that are tried with short runs, because a small network can get stuck from a bad
        initialisation. The training then uses the initialisation with the lowest validation loss.
    clip: the largest gradient norm of a step; 0 for no limit.
    loss: the name of the loss, a key of `lfno.training.losses.LOSSES`.
    patience: stop if the validation loss has not improved for this number of epochs; 0 for never.
    validate_every: epochs between two validations. The parameters with the lowest validation loss are kept.
    unscored: the number of time steps at the start of each sample that the loss ignores (the warm-up).
    seed: the seed of the initialisation and of the order of the samples.

    >>> config = TrainingConfig(epochs=100, schedule="step", learning_rate=0.1, step_size=50, gamma=0.5)
    >>> config.rate(0), config.rate(50)
    (0.1, 0.05)
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
        """Return the learning rate of an epoch, counted from 0."""
        if self.schedule == "step":
            return self.learning_rate * self.gamma ** (epoch // self.step_size)
        rising = self.warmup * self.epochs
        if epoch < rising:
            return self.learning_rate * (epoch + 1) / (rising + 1)
        return self.learning_rate * 0.5 * (1 + math.cos(math.pi * (epoch - rising) / max(1.0, self.epochs - rising)))
