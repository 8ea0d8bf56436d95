"""The states s before every chunk c, from s[c+1] = A s[c] + p[c] with one number A per pole, and their gradient.

T chunks form a group: chunk t of group g is c = g·T + t. The axis of t comes before the axis of g, so that one step of the
recurrence in all groups works on long contiguous rows. The states before groups follow another recurrence, with the power A^T
in place of A. `lfno.backends.scan` solves that recurrence.

The first axis of an array is the plane (re, im) of complex numbers. Arrays have the shape (2, M, channels, T, signals·groups)
for M poles.
"""

from __future__ import annotations

from itertools import pairwise
from typing import NamedTuple

import torch
from torch import Tensor

from lfno.backends.scan import Level, cut, make_levels, planes, scan
from lfno.spectral.hold import powers

#: largest number of chunks in a group. Smaller groups need more steps between groups; larger groups need more operations
GROUP = 8

#: one complex array as three views: both planes, the real plane, the imaginary plane
Split = tuple[Tensor, Tensor, Tensor]


class Powers(NamedTuple):
    """Powers of A.

    inside: A, …, A^T as planes (2, M, 1, T, 1).
    levels: powers of A^T, for the states before groups.

    Tensors for several layers have a leading axis of layers.
    """

    inside: Tensor
    levels: tuple[Level, ...]


def make_powers(poles: Tensor, step: float, groups: int, size: int, dtype: torch.dtype) -> Powers:
    """Return the powers of A = e^{μ step} for S layers.

    poles: μ, (S, M).
    step: time between two chunks.
    groups: number of groups.
    size: number of chunks in a group.
    """
    inside = powers(poles, step, torch.arange(1, size + 1, device=poles.device))[:, :, None, :, None]
    return Powers(planes(inside, dtype), make_levels(poles, step * size, groups, dtype))


def group_chunks(count: int) -> tuple[int, int]:
    """Return the number of groups for `count` chunks, and the size of each group."""
    return cut(count, GROUP)


def states_before(added: Tensor, start: Tensor, given: Powers) -> Tensor:
    """Return the states s before every chunk, in the shape of `added`.

    added: the terms p that chunks add to the state. This tensor is overwritten.
    start: the state before the first chunk, (2, M, channels, signals).
    given: the powers of A.
    """
    local = _steps(added, given.inside, back=False)
    ends = local[:, :, :, -1].unflatten(-1, (start.shape[-1], -1))
    entering = torch.cat((start[..., None], ends[..., :-1]), -1)
    entering = scan(entering.flatten(2, 3), given.levels).reshape(ends.shape)
    return _spread(local, entering, given.inside, back=False)


def states_back(slopes: Tensor, signals: int, given: Powers) -> tuple[Tensor, Tensor]:
    """Return the gradients with respect to the arguments `added` and `start` of `states_before`.

    slopes: the gradient with respect to the states. This tensor is overwritten.
    signals: number of signals.
    given: the powers of A.
    """
    local = _steps(slopes, given.inside, back=True)
    ends = local[:, :, :, 0].unflatten(-1, (signals, -1))
    entering = scan(ends.flatten(2, 3), given.levels, back=True).reshape(ends.shape)
    leaving = torch.nn.functional.pad(entering[..., 1:], (0, 1))
    return _spread(local, leaving, given.inside, back=True), entering[..., 0]


def _steps(values: Tensor, table: Tensor, back: bool) -> Tensor:
    """Solve the recurrence inside groups, where each group starts from zero. The array `values` (v) is overwritten.

    v[t] += A v[t−1] for increasing t, or with `back` v[t] += conj(A) v[t+1] for decreasing t.
    """
    re, im = table[:, :, :, 0]
    im = -im if back else im
    steps = list(zip(values.unbind(3), values[0].unbind(2), values[1].unbind(2), strict=True))
    for before, after in pairwise(reversed(steps) if back else steps):
        _add_product(after, re, im, before)
    return values


def _spread(local: Tensor, entering: Tensor, table: Tensor, back: bool) -> Tensor:
    """Return the states before every chunk from the states before every group.

    local: the solution inside groups that start from zero, from `_steps`.
    entering: the state before each group. With `back`, the state after each group.

    The state before chunk t is A^t · entering + local[t−1]. With `back`, conj(A) and local[t+1] are used.
    """
    size = local.shape[3]
    result = torch.empty_like(local)
    (re, im), rest = table[:, :, :, : size - 1].flip(3) if back else table[:, :, :, : size - 1], int(not back)
    im = -im if back else im
    entering = entering.flatten(-2).unsqueeze(3)
    result.narrow(3, size - 1 if back else 0, 1).copy_(entering)
    inside, local = result.narrow(3, rest, size - 1), local.narrow(3, 1 - rest, size - 1)
    torch.addcmul(local, re, entering, out=inside)
    inside[0].addcmul_(im, entering[1], value=-1)
    inside[1].addcmul_(im, entering[0])
    return result


def _add_product(to: Split, re: Tensor, im: Tensor, values: Split) -> None:
    """Add (re + i im) values to `to`, in place."""
    to[0].addcmul_(re, values[0])
    to[1].addcmul_(im, values[2], value=-1)
    to[2].addcmul_(im, values[1])
