"""Losses by name: (sample, channel, *grid) twice → one number for each sample."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor

#: keeps the gradient of a norm finite at an exact fit, and a zero target from dividing by zero
TINY = 1e-12


def relative_l2(prediction: Tensor, truth: Tensor) -> Tensor:
    """‖prediction − truth‖₂ / ‖truth‖₂"""
    error = (prediction - truth).flatten(1).square().sum(1)
    return torch.sqrt((error + TINY) / (truth.flatten(1).square().sum(1) + TINY))


def relative_max(prediction: Tensor, truth: Tensor) -> Tensor:
    """max |prediction − truth| / max |truth|"""
    return (prediction - truth).flatten(1).abs().amax(1) / (truth.flatten(1).abs().amax(1) + TINY)


def mean_square(prediction: Tensor, truth: Tensor) -> Tensor:
    return (prediction - truth).flatten(1).square().mean(1)


LOSSES: dict[str, Callable[[Tensor, Tensor], Tensor]] = {
    "l2": relative_l2,
    "linf": relative_max,
    "mse": mean_square,
}
