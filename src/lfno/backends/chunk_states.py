"""The states s before every chunk c, from s[c+1] = A s[c] + p[c] with one number A per pole, and their gradient.

T chunks form a group: chunk t of group g is c = g·T + t. The axis of t comes before the axis of g, so that one step of the
recurrence in all groups works on long contiguous rows. The states before groups follow another recurrence, with the power A^T
in place of A. `lfno.backends.scan` solves that recurrence.

The first axes of an array are the pole and the plane (re, im) of complex numbers. Arrays have the shape
(M, 2, channels, T, signals·groups) for M poles.
"""

from __future__ import annotations

from itertools import pairwise
from typing import NamedTuple

import torch
from torch import Tensor

from lfno.backends.scan import Level, cut, make_levels, scan
from lfno.spectral.hold import powers

#: largest number of chunks in a group. Smaller groups need more steps between groups; larger groups need more operations
GROUP = 8
#: up to this number of chunks in all signals, a group has one chunk. The steps inside groups would be many tiny operations
FEW = 256


class Powers(NamedTuple):
    """Powers of A.

    inside: A, …, A^T as planes (M, 2, 1, T, 1).
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
    planes = torch.stack((inside.real, inside.imag), 2).to(dtype)
    return Powers(planes, make_levels(poles, step * size, groups, dtype))


def group_chunks(signals: int, count: int) -> tuple[int, int]:
    """Return the number of groups for `count` chunks in each of `signals` signals, and the size of each group."""
    return cut(count, 1 if signals * count <= FEW else GROUP)


def states_before(added: Tensor, start: Tensor, given: Powers) -> Tensor:
    """Return the states s before every chunk, in the shape of `added`.

    added: the terms p that chunks add to the state. This tensor is overwritten.
    start: the state before the first chunk, (M, 2, channels, signals).
    given: the powers of A.
    """
    local = _steps(added, given.inside, back=False)
    ends = local[:, :, :, -1].unflatten(-1, (start.shape[-1], -1))
    entering = torch.cat((start[..., None], ends[..., :-1]), -1)
    entering = scan(entering.flatten(2, 3), given.levels).reshape(ends.shape)
    if added.shape[3] == 1:
        return entering.reshape(added.shape)
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
    steps, factor = values.unbind(3), table[:, :, :, 0]
    for before, after in pairwise(reversed(steps) if back else steps):
        after.addcmul_(factor[:, :1], before)
        _add_turned(after, factor, before, back)
    return values


def _spread(local: Tensor, entering: Tensor, table: Tensor, back: bool) -> Tensor:
    """Return the states before every chunk from the states before every group.

    local: the solution inside groups that start from zero, from `_steps`.
    entering: the state before each group. With `back`, the state after each group.

    The state before chunk t is A^t · entering + local[t−1]. With `back`, conj(A) and local[t+1] are used.
    """
    size = local.shape[3]
    result = torch.empty_like(local)
    factor, rest = table[:, :, :, : size - 1].flip(3) if back else table[:, :, :, : size - 1], int(not back)
    entering = entering.flatten(-2).unsqueeze(3)
    result.narrow(3, size - 1 if back else 0, 1).copy_(entering)
    inside, local = result.narrow(3, rest, size - 1), local.narrow(3, 1 - rest, size - 1)
    torch.addcmul(local, factor[:, :1], entering, out=inside)
    _add_turned(inside, factor, entering, back)
    return result


def _add_turned(to: Tensor, factor: Tensor, values: Tensor, conjugate: bool) -> None:
    """Add i Im(factor) · values, or with `conjugate` −i Im(factor) · values, to `to` in place. All are planes (M, 2, …)."""
    im, sign = factor[:, 1], -1 if conjugate else 1
    to[:, 0].addcmul_(im, values[:, 1], value=-sign)
    to[:, 1].addcmul_(im, values[:, 0], value=sign)
