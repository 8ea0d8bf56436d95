"""Losses. Each is a function loss(prediction, truth, mask) that returns the loss of each sample, (sample,).

prediction, truth: (sample, channel, *grid).
mask: shape of the truth, 1 where the truth was measured, else 0. Points with 0 are ignored. None if all points were measured.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import torch
from torch import Tensor

#: added to the squared norms of `relative_l2` and `relative_h1` and to the divisor of `relative_max`. The gradient is then
#: finite at an exact fit, and a truth of zero causes no division by zero
TINY = 1e-12

Mask = Tensor | None


def relative_l2(prediction: Tensor, truth: Tensor, mask: Mask = None) -> Tensor:
    """Return ‖prediction − truth‖₂ / ‖truth‖₂ of each sample."""
    error, truth = _measured(prediction - truth, mask), _measured(truth, mask)
    return torch.sqrt((error.flatten(1).square().sum(1) + TINY) / (truth.flatten(1).square().sum(1) + TINY))


def relative_h1(prediction: Tensor, truth: Tensor, mask: Mask = None) -> Tensor:
    """Return the mean of the relative L2 errors of the values and of their slopes along each axis, for each sample.

    For an oscillator, value and slope are displacement and velocity, which are its whole state. This loss therefore uses more
    information from the same samples than the relative L2 error.

    The error of the slopes is divided by the norm of the true slopes. This norm has a lower bound, so that an almost constant
    sample causes no division by a tiny number. The bound is the norm of the slopes of a sine with half a period over the axis
    and with the same norm as the truth. A slope is used only if both of its end points were measured.
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
    """Return max |prediction − truth| / max |truth| of each sample."""
    error, truth = _measured(prediction - truth, mask), _measured(truth, mask)
    return error.flatten(1).abs().amax(1) / (truth.flatten(1).abs().amax(1) + TINY)


def mean_square(prediction: Tensor, truth: Tensor, mask: Mask = None) -> Tensor:
    """Return the mean of |prediction − truth|² of each sample."""
    error = _measured(prediction - truth, mask).flatten(1).square()
    return error.mean(1) if mask is None else error.sum(1) / mask.flatten(1).sum(1).clamp(min=1)


def _measured(values: Tensor, mask: Mask) -> Tensor:
    """Return the values, with 0 at points that were not measured."""
    return values if mask is None else values * mask


#: name of the loss, an option of training -> function
LOSSES: dict[str, Callable[[Tensor, Tensor, Mask], Tensor]] = {
    "l2": relative_l2,
    "h1": relative_h1,
    "linf": relative_max,
    "mse": mean_square,
}
