"""Losses by name: (prediction, truth), each (sample, channel, *grid), → one loss per sample, (sample,).

mask: 1 where the truth was measured, 0 elsewhere, in the shape of the truth. Only measured points count.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import torch
from torch import Tensor

#: added to squared norms: the gradient stays finite at an exact fit, and a target that is zero causes no division by zero
TINY = 1e-12

Mask = Tensor | None


def relative_l2(prediction: Tensor, truth: Tensor, mask: Mask = None) -> Tensor:
    """‖prediction − truth‖₂ / ‖truth‖₂"""
    error, truth = _measured(prediction - truth, mask), _measured(truth, mask)
    return torch.sqrt((error.flatten(1).square().sum(1) + TINY) / (truth.flatten(1).square().sum(1) + TINY))


def relative_h1(prediction: Tensor, truth: Tensor, mask: Mask = None) -> Tensor:
    """The mean of the relative L2 errors of the values and of their slopes along every axis.

    For an oscillator, value and slope are displacement and velocity, its whole state. This loss therefore uses more information
    from the same samples than the relative L2 error.

    The norm of the true slope has a lower bound: the slope of half a sine period over the axis. An almost constant sample
    therefore causes no division by a tiny number. A slope counts if both its end points were measured.
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
    """Return the values, with 0 where nothing was measured."""
    return values if mask is None else values * mask


LOSSES: dict[str, Callable[[Tensor, Tensor, Mask], Tensor]] = {
    "l2": relative_l2,
    "h1": relative_h1,
    "linf": relative_max,
    "mse": mean_square,
}
