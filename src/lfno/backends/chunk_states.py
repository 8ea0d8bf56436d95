"""The states before every chunk, s[c+1] = A s[c] + p[c] with one A per pole, and the adjoint of this recurrence.

The chunks c = g·T + t are cut into groups g of T chunks. Arrays have the axis t before the axis g. So one step of the
recurrence in all groups is an operation on long rows. The states before groups follow another recurrence, with A^T (the power
T), which `lfno.backends.scan` solves.

Complex numbers are planes (re, im) on the first axis. Shapes are (2, M, channels, T, signals·groups).
"""

from __future__ import annotations

from itertools import pairwise
from typing import NamedTuple

import torch
from torch import Tensor

from lfno.backends.scan import Level, cut, make_levels, planes, scan
from lfno.spectral.hold import powers

#: largest number of chunks in a group; small groups need a longer recurrence of groups, large groups need more operations
GROUP = 8


#: both planes of an array together, the real plane, and the imaginary plane
Split = tuple[Tensor, Tensor, Tensor]


class Powers(NamedTuple):
    """Powers of A.

    inside: A, …, A^T as planes (2, M, 1, T, 1).
    levels: powers of A^T, for the states before groups.
    If several layers are prepared together, each tensor has a leading axis of layers.
    """

    inside: Tensor
    levels: tuple[Level, ...]


def make_powers(poles: Tensor, step: float, groups: int, size: int, dtype: torch.dtype) -> Powers:
    """Return the powers of A = e^{μ step}.

    poles: (S, M).
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
    """Return the states s before every chunk.

    added: the terms p that chunks add to the state; this tensor is overwritten.
    start: the state before the first chunk, (2, M, channels, signals).
    given: the powers of A.
    """
    local = _steps(added, given.inside, back=False)
    ends = local[:, :, :, -1].unflatten(-1, (start.shape[-1], -1))
    entering = torch.cat((start[..., None], ends[..., :-1]), -1)
    entering = scan(entering.flatten(2, 3), given.levels).reshape(ends.shape)
    return _spread(local, entering, given.inside, back=False)


def states_back(slopes: Tensor, signals: int, given: Powers) -> tuple[Tensor, Tensor]:
    """Return the gradients with respect to `added` and `start` of `states_before`.

    slopes: the gradient with respect to the states; this tensor is overwritten.
    signals: number of signals.
    given: the powers of A.
    """
    local = _steps(slopes, given.inside, back=True)
    ends = local[:, :, :, 0].unflatten(-1, (signals, -1))
    entering = scan(ends.flatten(2, 3), given.levels, back=True).reshape(ends.shape)
    leaving = torch.nn.functional.pad(entering[..., 1:], (0, 1))
    return _spread(local, leaving, given.inside, back=True), entering[..., 0]


def _steps(values: Tensor, table: Tensor, back: bool) -> Tensor:
    """Solve the recurrence inside groups from zero, in place: v[t] += A v[t−1], or v[t] += conj(A) v[t+1] with `back`."""
    re, im = table[:, :, :, 0]
    im = -im if back else im
    steps = list(zip(values.unbind(3), values[0].unbind(2), values[1].unbind(2), strict=True))
    for before, after in pairwise(reversed(steps) if back else steps):
        _add_product(after, re, im, before)
    return values


def _spread(local: Tensor, entering: Tensor, table: Tensor, back: bool) -> Tensor:
    """Return the states inside groups from the states that enter groups.

    The result is A^t times the entering state plus the local state (the solution from zero) of the step before. With `back`,
    the result uses conj(A) and the step after.
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
