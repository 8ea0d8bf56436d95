"""The states of a recurrence before every chunk, s[c+1] = A s[c] + p[c], with one A per pole, and the adjoint of that.

The chunks c = g·T + t are cut into groups g of T chunks. Arrays have the axis t before the axis g, so that one step of the
recurrence of all groups is an operation on long rows. The states before groups follow a recurrence of their own, with A^T,
which `lfno.backends.scan` solves.

Complex numbers are planes (re, im) on the first axis. Shapes are (2, M, channels, T, signals·groups).
"""

from __future__ import annotations

from itertools import pairwise
from typing import NamedTuple

import torch
from torch import Tensor

from lfno.backends.scan import Level, cut, make_levels, planes, scan
from lfno.spectral.hold import powers

#: most chunks in a group: fewer leave a longer recurrence of groups, more take more operations
GROUP = 8


#: both planes of an array, and each of them
Split = tuple[Tensor, Tensor, Tensor]


class Powers(NamedTuple):
    """Powers of A. inside: A, …, A^T as planes (2, M, 1, T, 1). levels: those of A^T for the states before groups.

    All have a leading axis of layers as long as several layers are prepared together.
    """

    inside: Tensor
    levels: tuple[Level, ...]


def make_powers(poles: Tensor, step: float, groups: int, size: int, dtype: torch.dtype) -> Powers:
    """Powers of A = e^{μ step} for chunks that are `step` apart in time, in groups of `size`, with poles (S, M)."""
    inside = powers(poles, step, torch.arange(1, size + 1, device=poles.device))[:, :, None, :, None]
    return Powers(planes(inside, dtype), make_levels(poles, step * size, groups, dtype))


def group_chunks(count: int) -> tuple[int, int]:
    """The number of groups for `count` chunks and the size of each."""
    return cut(count, GROUP)


def states_before(added: Tensor, start: Tensor, given: Powers) -> Tensor:
    """s before every chunk from what chunks add to it (overwritten) and s before the first one, (2, M, channels, signals)."""
    local = _steps(added, given.inside, back=False)
    ends = local[:, :, :, -1].unflatten(-1, (start.shape[-1], -1))
    entering = torch.cat((start[..., None], ends[..., :-1]), -1)
    entering = scan(entering.flatten(2, 3), given.levels).reshape(ends.shape)
    return _spread(local, entering, given.inside, back=False)


def states_back(slopes: Tensor, signals: int, given: Powers) -> tuple[Tensor, Tensor]:
    """The adjoint: gradients with respect to `added` and `start` from those with respect to the states (overwritten)."""
    local = _steps(slopes, given.inside, back=True)
    ends = local[:, :, :, 0].unflatten(-1, (signals, -1))
    entering = scan(ends.flatten(2, 3), given.levels, back=True).reshape(ends.shape)
    leaving = torch.nn.functional.pad(entering[..., 1:], (0, 1))
    return _spread(local, leaving, given.inside, back=True), entering[..., 0]


def _steps(values: Tensor, table: Tensor, back: bool) -> Tensor:
    """The recurrence inside groups, in place and from nothing: v[t] += A v[t−1], or v[t] += conj(A) v[t+1] backwards."""
    re, im = table[:, :, :, 0]
    im = -im if back else im
    steps = list(zip(values.unbind(3), values[0].unbind(2), values[1].unbind(2), strict=True))
    for before, after in pairwise(reversed(steps) if back else steps):
        _add_product(after, re, im, before)
    return values


def _spread(local: Tensor, entering: Tensor, table: Tensor, back: bool) -> Tensor:
    """States that enter groups, carried on inside them, plus the states from nothing one step before (or after, `back`)."""
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
    """to += (re + i im) values, in place."""
    to[0].addcmul_(re, values[0])
    to[1].addcmul_(im, values[2], value=-1)
    to[2].addcmul_(im, values[1])
