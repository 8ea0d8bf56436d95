"""Find the role of each axis of an array: sample, channel, time or a coordinate of space.

The user states the role, the file names the axis, or only one role fits the length of the axis.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

import numpy as np

from lfno.core.errors import LfnoError, Option
from lfno.data.files.variables import Variable
from lfno.data.signals.vocabulary import CHANNELS, SAMPLES, TIMES

# roles of axes; the name of a coordinate is a role too
SAMPLE = "sample"
CHANNEL = "channel"
TIME = "t"
SINGLE = "single"  # an axis of size 1 without another role


def stated(axes: str) -> tuple[str, ...]:
    """Return the roles of axes that the user states, such as `"sample,x,t"`.

    >>> stated("Sample, time")
    ('sample', 't')
    """
    return tuple(_role(part.strip()) for part in axes.split(","))


def _role(name: str) -> str:
    """Return the role of an axis with this name. A name that is not in the vocabulary is a coordinate, such as "x"."""
    word = name.lower()
    return SAMPLE if word in SAMPLES else CHANNEL if word in CHANNELS else TIME if word in TIMES else name


def settle(variable: Variable, axes: tuple[str, ...] | None, known: dict[str, int]) -> tuple[str, ...]:
    """Return one role for each axis of `variable`: `sample`, `channel`, `t`, `single` (size 1) or the name of a coordinate.

    axes: roles that the user states; None if the user states none.
    known: number of points of the time `t` and of each coordinate.

    Without `axes`, the names in the file decide. For axes without a name, the lengths decide: the assignment with the most
    known roles is used.
    Raises LfnoError if no assignment fits the lengths, if several fit equally well, or if stated axes do not fit the array.
    """
    own = tuple(_role(name) for name in variable.axes)
    # the points of an axis with labels are channels, unless it is the sample axis
    own = tuple(CHANNEL if n in variable.labels and r != SAMPLE else r for n, r in zip(variable.axes, own, strict=True))
    if axes is not None or (own and all(own)):
        return _named(variable, own if axes is None else axes, known)
    large = [k for k, size in enumerate(variable.shape) if size > 1]
    fixed = [own[k] if own else "" for k in large]
    fitting = [
        roles
        for roles in _assignments([variable.shape[k] for k in large], known)
        if all(name in ("", role) for name, role in zip(fixed, roles, strict=True))
    ]
    if not fitting:
        raise _no_fit(variable, known)
    best = max(sum(role in known for role in roles) for roles in fitting)
    fitting = [roles for roles in fitting if sum(role in known for role in roles) == best]
    if best == 0 and known:
        raise _no_fit(variable, known)
    if len(fitting) > 1 or (best == 0 and len(large) > 1):
        fitting.sort(key=lambda roles: (roles[0] != SAMPLE, roles[-1] != TIME))
        choices = [",".join(roles) for roles in fitting] if best else ["sample,t", "t,sample"]
        raise LfnoError(
            f"{variable.name!r} of shape {variable.shape} can be read as {' or as '.join(choices)}; "
            "say which with ",
            Option("axes", choices[0]),
        )
    remaining = iter(fitting[0])
    return tuple(next(remaining) if size > 1 else SINGLE for size in variable.shape)


def _assignments(sizes: list[int], known: dict[str, int]) -> Iterator[tuple[str, ...]]:
    """Yield every assignment of distinct roles to axes of these sizes.

    sizes: length of each axis.
    known: role -> number of points. An axis can have a role only if its length agrees; every axis can be the sample axis.
    """
    options = [[*(name for name, points in known.items() if points == size), SAMPLE] for size in sizes]
    for roles in product(*options):
        if len(set(roles)) == len(roles):
            yield roles


def _named(variable: Variable, axes: tuple[str, ...], known: dict[str, int]) -> tuple[str, ...]:
    """Return the roles `axes`, with `single` for axes of size 1 that have no name. Raises LfnoError if lengths disagree."""
    large = tuple(size for size in variable.shape if size > 1)
    if len(axes) == len(variable.shape):
        roles = axes
    elif len(axes) == len(large):
        remaining = iter(axes)
        roles = tuple(next(remaining) if size > 1 else SINGLE for size in variable.shape)
    else:
        raise LfnoError(
            f"{variable.name!r} of shape {variable.shape} has {len(variable.shape)} axes and ",
            Option("axes"),
            f" names {len(axes)} ({','.join(axes)}); give one name for each axis",
        )
    counted = [role for role in roles if role != SINGLE]
    if len(set(counted)) != len(counted):
        raise LfnoError(f"{variable.name!r}: the axes {','.join(axes)} name the same axis twice")
    for role, size in zip(roles, variable.shape, strict=True):
        if role in known and size != known[role]:
            raise LfnoError(
                f"{variable.name!r} of shape {variable.shape} has {size} points along {role!r}, "
                f"but {role!r} has {known[role]}; check ",
                Option("axes"),
            )
    return roles


def _no_fit(variable: Variable, known: dict[str, int]) -> LfnoError:
    """Return the error for an array whose axes cannot have any of the known roles."""
    if not known:
        return LfnoError(
            f"{variable.name!r} has shape {variable.shape}, and there is no time vector that shows which axis is the time: "
            "name a time vector with ",
            Option("time", "NAME"),
            ", or name the axes with ",
            Option("axes", "sample,channel,t" if len(variable.shape) == 3 else "sample,t"),
        )
    lengths = " and ".join(f"{name!r} has {points}" for name, points in known.items())
    return LfnoError(
        f"{variable.name!r} has shape {variable.shape} and {lengths} points: the array has no axis of that length; "
        "choose the variables that belong together with ",
        Option("input"),
        ", ",
        Option("output"),
        " and ",
        Option("time"),
    )


def arrange(values: np.ndarray, roles: tuple[str, ...], order: tuple[str, ...]) -> np.ndarray:
    """Return a view with the axes in `order`. An axis that the array lacks gets size 1.

    >>> arrange(np.zeros((7, 3)), ("t", "sample"), ("sample", "channel", "t")).shape
    (3, 1, 7)
    """
    kept = [role for role in roles if role != SINGLE]
    values = values.reshape([size for role, size in zip(roles, values.shape, strict=True) if role != SINGLE])
    values = values.transpose([kept.index(role) for role in order if role in kept])
    sizes = iter(values.shape)
    return values.reshape([next(sizes) if role in kept else 1 for role in order])
