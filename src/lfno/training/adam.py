"""Adam with decoupled weight decay for a stack of runs. Each run has its own learning rate and clipping."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

FIRST = 0.9  # decay per step of the running mean of the gradient (β₁ of Adam)
SECOND = 0.999  # decay per step of the running mean of the squared gradient (β₂ of Adam)
EPSILON = 1e-8  # ε of Adam: it prevents a division by zero


@dataclass
class Adam:
    """The optimiser: θ ← θ − η (m̂ / (√v̂ + ε) + w θ) with learning rate η and weight decay w.

    m̂ = m / (1 − β₁ᵏ) and v̂ = v / (1 − β₂ᵏ) after k steps. All tensors are updated in place, so that a CUDA graph can replay a
    step.

    theta: the parameters θ, (runs, parameters).
    mean: the running mean m of the gradient, (runs, parameters).
    square: the running mean v of the squared gradient, (runs, parameters).
    count: the number of steps k, (1,).
    """

    theta: Tensor
    mean: Tensor
    square: Tensor
    count: Tensor

    @classmethod
    def start(cls, theta: Tensor) -> Adam:
        """Return the optimiser before its first step: both running means are zero."""
        count = torch.zeros(1, dtype=torch.float64, device=theta.device)
        return cls(theta.clone(), torch.zeros_like(theta), torch.zeros_like(theta), count)

    def tensors(self) -> dict[str, Tensor]:
        """Return the tensors of the state by name, for a checkpoint."""
        return {"theta": self.theta, "mean": self.mean, "square": self.square, "count": self.count}

    def step(self, gradient: Tensor, rate: Tensor, decay: Tensor, clip: float) -> None:
        """Make one step in place.

        gradient: (runs, parameters).
        rate: the learning rate of each run, (runs, 1); 0 for a run that has stopped.
        decay: the weight decay of each parameter, (runs, parameters). An infinite decay marks a parameter that is not trained.
        clip: a gradient with a larger norm is scaled down to this norm; 0 for no limit. Each run has its own norm.
        """
        zero, held = torch.zeros_like(gradient), decay.isinf()
        gradient = torch.where(held, zero, gradient)
        if clip > 0:
            norm = torch.linalg.vector_norm(gradient, dim=1, keepdim=True)
            gradient = gradient * (clip / norm.clamp(min=clip))
        self.count += 1
        self.mean.lerp_(gradient, 1 - FIRST)
        self.square.lerp_(gradient.square(), 1 - SECOND)
        first = (1 - FIRST**self.count).to(gradient.dtype)
        second = (1 - SECOND**self.count).to(gradient.dtype)
        update = (self.mean / first) / ((self.square / second).sqrt() + EPSILON)
        # a stopped run keeps its parameters, even if its gradient is NaN
        self.theta.sub_(torch.where((rate > 0) & ~held, rate * (update + decay * self.theta), zero))
