"""Adam with decoupled weight decay on the rows of one matrix, each row with its own rate and its own clipping."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

FIRST, SECOND, EPSILON = 0.9, 0.999, 1e-8


@dataclass
class Adam:
    """θ ← θ − η (m̂ / (√v̂ + ε) + w θ); everything is updated in place, so that a CUDA graph can replay it.

    theta, mean, square: (runs, numbers). count: (1,), the number of steps done.
    """

    theta: Tensor
    mean: Tensor
    square: Tensor
    count: Tensor

    @classmethod
    def start(cls, theta: Tensor) -> Adam:
        count = torch.zeros(1, dtype=torch.float64, device=theta.device)
        return cls(theta.clone(), torch.zeros_like(theta), torch.zeros_like(theta), count)

    def tensors(self) -> dict[str, Tensor]:
        return {"theta": self.theta, "mean": self.mean, "square": self.square, "count": self.count}

    def step(self, gradient: Tensor, rate: Tensor, decay: Tensor, clip: float) -> None:
        """rate: (runs, 1), zero for a run that has stopped; decay: (runs, numbers), infinite for a number that stays as
        it is; clip: largest norm of a row."""
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
        # a stopped run keeps its parameters even if its gradient is not finite any more
        self.theta.sub_(torch.where((rate > 0) & ~held, rate * (update + decay * self.theta), zero))
