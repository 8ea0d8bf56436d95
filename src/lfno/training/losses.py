"""Losses by name: (sample, channel, *grid) twice → one number for each sample."""

from __future__ import annotations

import math
from collections.abc import Callable

import torch
from torch import Tensor

#: keeps the gradient of a norm finite at an exact fit, and a zero target from dividing by zero
TINY = 1e-12


def relative_l2(prediction: Tensor, truth: Tensor) -> Tensor:
    """‖prediction − truth‖₂ / ‖truth‖₂"""
    error = (prediction - truth).flatten(1).square().sum(1)
    return torch.sqrt((error + TINY) / (truth.flatten(1).square().sum(1) + TINY))


def relative_h1(prediction: Tensor, truth: Tensor) -> Tensor:
    """The mean of the relative L2 errors of the values and of their slopes along every axis.

    Of an oscillator that is its state, displacement and velocity: a network that has both right has understood more
    from the same samples than one that has the first. A slope counts as at least half a swing over the axis, so that a
    sample which hardly moves is not divided by nothing.
    """
    parts = [relative_l2(prediction, truth)]
    size = truth.flatten(1).square().sum(1)
    for axis in range(2, truth.ndim):
        slope = truth.diff(dim=axis).flatten(1).square().sum(1)
        slope = torch.maximum(slope, size * (math.pi / truth.shape[axis]) ** 2)
        error = (prediction - truth).diff(dim=axis).flatten(1).square().sum(1)
        parts.append(torch.sqrt((error + TINY) / (slope + TINY)))
    return torch.stack(parts).mean(0)


def relative_max(prediction: Tensor, truth: Tensor) -> Tensor:
    """max |prediction − truth| / max |truth|"""
    return (prediction - truth).flatten(1).abs().amax(1) / (truth.flatten(1).abs().amax(1) + TINY)


def mean_square(prediction: Tensor, truth: Tensor) -> Tensor:
    return (prediction - truth).flatten(1).square().mean(1)


LOSSES: dict[str, Callable[[Tensor, Tensor], Tensor]] = {
    "l2": relative_l2,
    "h1": relative_h1,
    "linf": relative_max,
    "mse": mean_square,
}
