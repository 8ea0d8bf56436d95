"""The recurrence s[k] = A s[k−1] + a[k] along the last axis as matrix products, with one number A per pole.

The axis is cut into groups of T entries. Inside a group, s is the product of a with a triangular matrix of powers of A. The
states at the ends of groups follow another recurrence, with the power A^T in place of A. We solve that recurrence in the same
way.

The first axis of an array is the plane (re, im) of complex numbers. In this layout every product reads and writes whole
matrices.
"""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor

from lfno.spectral.hold import powers

#: largest number T of entries in a group. The products cost 8 T floating-point operations per entry
GROUP = 16


class Level(NamedTuple):
    """The matrices for groups of entries, or for groups of smaller groups.

    inside: planes of A^{t−j} for t ≥ j, else zero, (…, 2, M, T, T).
    step: planes of A, (…, 2, M, 1, 1).
    """

    inside: Tensor
    step: Tensor


def cut(count: int, most: int) -> tuple[int, int]:
    """Cut `count` entries into as few groups of at most `most` entries as possible.

    Returns the number of groups, and the number of entries in each group.
    """
    groups = -(-count // most)
    return groups, -(-count // groups)


def planes(values: Tensor, dtype: torch.dtype) -> Tensor:
    """Return real and imaginary part of complex values (S, M, …) as planes (S, 2, M, …)."""
    return torch.stack((values.real, values.imag), 1).to(dtype)


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
    once = powers(poles, step, torch.ones(1, device=poles.device))[..., None]
    level = Level(planes(inside, dtype), planes(once, dtype))
    return (level, *(make_levels(poles, step * size, groups, dtype) if groups > 1 else ()))


def scan(added: Tensor, levels: tuple[Level, ...], back: bool = False) -> Tensor:
    """Return s from s[k] = A s[k−1] + a[k]. With `back`, return s from the adjoint equation s[k] = conj(A) s[k+1] + a[k].

    added: planes of a, (2, M, rows, count). The planes of s have the same shape.
    """
    level, rest = levels[0], levels[1:]
    _, poles, rows, count = added.shape
    (re, im), by_re, by_im = level.inside.mT if back else level.inside, *level.step
    im, by_im = (-im, -by_im) if back else (im, by_im)
    size = re.shape[-1]
    added = torch.nn.functional.pad(added, (0, -count % size))
    grouped = added.reshape(2, poles, -1, size)
    if rest:
        last, start = (0, size - 1) if back else (size - 1, 0)
        ends = _times(grouped, re[..., last:][..., :1], im[..., last:][..., :1])
        s_re, s_im = scan(ends.view(2, poles, rows, -1), rest, back)
        onward = torch.stack((s_re * by_re - s_im * by_im, s_re * by_im + s_im * by_re))
        to = grouped.view(2, poles, rows, -1, size)[..., start]
        if back:
            to[..., :-1] += onward[..., 1:]
        else:
            to[..., 1:] += onward[..., :-1]
    return _times(grouped, re, im).view(added.shape)[..., :count]


def _times(values: Tensor, re: Tensor, im: Tensor) -> Tensor:
    """Return the complex products along the last axis, planes (2, M, rows, k).

    values: planes (2, M, rows, j).
    re, im: real and imaginary part of the matrices, each (M, j, k).
    """
    real = torch.bmm(values[0], re).baddbmm_(values[1], im, alpha=-1)
    return torch.stack((real, torch.bmm(values[1], re).baddbmm_(values[0], im)))
