"""Losses by name: prediction and truth, (sample, channel, *grid), → one number for each sample.

A mask of the same shape is 1 where the truth was measured and 0 elsewhere; the loss is then that of the measured points.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import torch
from torch import Tensor

#: keeps the gradient of a norm finite at an exact fit, and a zero target from dividing by zero
TINY = 1e-12

Mask = Tensor | None


def relative_l2(prediction: Tensor, truth: Tensor, mask: Mask = None) -> Tensor:
    """‖prediction − truth‖₂ / ‖truth‖₂"""
    error, truth = _measured(prediction - truth, mask), _measured(truth, mask)
    return torch.sqrt((error.flatten(1).square().sum(1) + TINY) / (truth.flatten(1).square().sum(1) + TINY))


def relative_h1(prediction: Tensor, truth: Tensor, mask: Mask = None) -> Tensor:
    """The mean of the relative L2 errors of the values and of their slopes along every axis.

    Of an oscillator that is its state, displacement and velocity: a network that has both right has understood more
    from the same samples than one that has the first. A slope counts as at least half a swing over the axis, so that a
    sample which hardly moves is not divided by nothing. A slope counts where both its ends were measured.
    """
    parts = [relative_l2(prediction, truth, mask)]
    size = _measured(truth, mask).flatten(1).square().sum(1)
    for axis in range(2, truth.ndim):
        last = truth.shape[axis] - 1
        pairs = None if mask is None else mask.narrow(axis, 1, last) * mask.narrow(axis, 0, last)
        slope = _measured(truth.diff(dim=axis), pairs).flatten(1).square().sum(1)
        slope = torch.maximum(slope, size * (math.pi / truth.shape[axis]) ** 2)
        error = _measured((prediction - truth).diff(dim=axis), pairs).flatten(1).square().sum(1)
        parts.append(torch.sqrt((error + TINY) / (slope + TINY)))
    return torch.stack(parts).mean(0)


def relative_max(prediction: Tensor, truth: Tensor, mask: Mask = None) -> Tensor:
    """max |prediction − truth| / max |truth|"""
    error, truth = _measured(prediction - truth, mask), _measured(truth, mask)
    return error.flatten(1).abs().amax(1) / (truth.flatten(1).abs().amax(1) + TINY)


def mean_square(prediction: Tensor, truth: Tensor, mask: Mask = None) -> Tensor:
    """The mean of |prediction − truth|²"""
    error = _measured(prediction - truth, mask).flatten(1).square()
    return error.mean(1) if mask is None else error.sum(1) / mask.flatten(1).sum(1).clamp(min=1)


def _measured(values: Tensor, mask: Mask) -> Tensor:
    """The values, with 0 where nothing was measured."""
    return values if mask is None else values * mask


LOSSES: dict[str, Callable[[Tensor, Tensor, Mask], Tensor]] = {
    "l2": relative_l2,
    "h1": relative_h1,
    "linf": relative_max,
    "mse": mean_square,
}
