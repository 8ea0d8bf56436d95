"""The stabilisation diagram: poles of realisations of growing order, with a mark for poles that do not move."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from lfno.core.errors import LfnoError
from lfno.core.short import Short
from lfno.identification.realisation import realise

#: largest relative change of |μ| of a stable pole from one order to the next
SAME_FREQUENCY = 0.01
#: largest relative change of the damping ratio of a stable pole from one order to the next
SAME_DAMPING = 0.05


@dataclass(frozen=True, repr=False)
class Stabilisation(Short):
    """The poles of all orders, one entry for each pole of each order.

    order: number of states of the realisation, (entries,).
    pole: in 1/s, complex, (entries,).
    stable: whether the pole decays and the previous order has a pole with the same |μ| and damping ratio, (entries,) of bool.
    """

    order: np.ndarray
    pole: np.ndarray
    stable: np.ndarray


def stabilisation(markov: np.ndarray, step: float, most: int = 24) -> Stabilisation:
    """Return the poles of realisations with 2, 4, … `most` states.

    A mode of the system appears at every order above a certain order. A pole that describes noise moves from order to order.

    markov: impulse responses or free decays `(outputs, inputs, time)`.
    step: sampling step in seconds.
    most: largest number of states.

    >>> t = 0.02 * np.arange(600)
    >>> decay = np.exp(-0.3 * t) * np.cos(8 * t) + 1e-3 * np.random.default_rng(0).normal(size=600)
    >>> found = stabilisation(decay[None, None], 0.02, most=12)
    >>> near = np.abs(found.pole - (-0.3 + 8j)) < 0.05
    >>> near.sum(), (found.stable & near).sum()  # all six orders have the pole; the first order has no previous order
    (np.int64(6), np.int64(5))
    """
    if most < 2:
        raise LfnoError(f"a stabilisation diagram up to {most} states shows nothing: at least 2 are needed")
    orders, poles, stable = [], [], []
    before = np.zeros(0, dtype=np.complex128)
    for order in range(2, most + 1, 2):
        found = realise(markov, step, order).poles
        orders.append(np.full(len(found), order))
        poles.append(found)
        stable.append(np.array([_known(pole, before) for pole in found], dtype=bool))
        before = found
    return Stabilisation(np.concatenate(orders), np.concatenate(poles), np.concatenate(stable))


def _known(pole: complex, before: np.ndarray) -> bool:
    """Return whether the nearest pole of the previous order has the same |μ| and damping ratio; False for a growing pole."""
    if not len(before) or pole.real >= 0:
        return False
    near = before[np.abs(before - pole).argmin()]
    size, damping = abs(pole), -pole.real / abs(pole)
    return bool(
        abs(abs(near) - size) < SAME_FREQUENCY * size and abs(-near.real / abs(near) - damping) < SAME_DAMPING * damping
    )
