"""The recurrence s[k] = A s[k−1] + a[k] along the last axis as matrix products, with one number A per pole.

The axis is cut into groups of T entries. Inside a group, s is the product of a with a triangular matrix of powers of A. The
states at the ends of groups follow another recurrence, with the power A^T in place of A. We solve that recurrence in the same
way.

The first axes of an array are the pole and the plane (re, im) of complex numbers. In this layout one batched product computes
all poles.
"""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor

from lfno.spectral.hold import powers

#: largest number T of entries in a group. The products cost 8 T floating-point operations per entry
GROUP = 16


class Level(NamedTuple):
    """The matrices for groups of entries, or for groups of smaller groups. A complex factor is a real matrix of planes.

    inside: A^{t−j} for t ≥ j, else zero, (…, M, 2T, 2T): from both planes of all entries j to both planes of s[t].
    onward: A, …, A^T, (…, M, 2, 2, T): from both planes of s before a group to both planes of s in the group.
    """

    inside: Tensor
    onward: Tensor


def cut(count: int, most: int) -> tuple[int, int]:
    """Cut `count` entries into as few groups of at most `most` entries as possible.

    Returns the number of groups, and the number of entries in each group.
    """
    groups = -(-count // most)
    return groups, -(-count // groups)


def make_levels(poles: Tensor, step: float, count: int, dtype: torch.dtype) -> tuple[Level, ...]:
    """Return the levels for A = e^{μ step}. The last level has one group.

    poles: μ, (S, M).
    step: time between two entries.
    count: number of entries.
    """
    groups, size = cut(count, GROUP)
    place = torch.arange(size, device=poles.device)
    lag = place - place[:, None]
    inside = powers(poles, step, lag.clamp(min=0).flatten()).unflatten(-1, lag.shape) * (lag >= 0)
    onward = _matrix(powers(poles, step, place + 1)[:, :, None]).unflatten(-1, (2, -1))
    level = Level(_matrix(inside).to(dtype), onward.to(dtype))
    return (level, *(make_levels(poles, step * size, groups, dtype) if groups > 1 else ()))


def scan(added: Tensor, levels: tuple[Level, ...], back: bool = False) -> Tensor:
    """Return s from s[k] = A s[k−1] + a[k]. With `back`, return s from the adjoint equation s[k] = conj(A) s[k+1] + a[k].

    added: planes of a, (M, 2, rows, count). The planes of s have the same shape.
    """
    (inside, onward), rest = levels[0], levels[1:]
    if back:
        inside, onward = inside.mT, onward.transpose(1, 2).flip(-1)
    poles, _, rows, count = added.shape
    size = inside.shape[-1] // 2
    if count % size:
        added = torch.nn.functional.pad(added, (0, -count % size))
    grouped = added.reshape(poles, 2, rows, -1, size).permute(0, 2, 3, 1, 4)
    # rows of real numbers: all entries of a group, re then im
    states = torch.bmm(grouped.reshape(poles, -1, 2 * size), inside)
    if rest:
        ends = scan(states.view(grouped.shape)[..., 0 if back else -1].permute(0, 3, 1, 2), rest, back)
        before = torch.nn.functional.pad(ends[..., 1:], (0, 1)) if back else torch.nn.functional.pad(ends[..., :-1], (1, 0))
        states.baddbmm_(before.permute(0, 2, 3, 1).reshape(poles, -1, 2), onward.flatten(2))
    return states.view(grouped.shape).permute(0, 3, 1, 2, 4).flatten(3)[..., :count]


def _matrix(values: Tensor) -> Tensor:
    """Return the real matrix (…, 2j, 2k) of a complex matrix (…, j, k), for products with rows (re, im) from the left."""
    re, im = values.real, values.imag
    return torch.cat((torch.cat((re, im), -1), torch.cat((-im, re), -1)), -2)
