"""The stabilisation diagram: poles of realisations of growing order, and which of them stay where they are."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from lfno.core.errors import LfnoError
from lfno.identification.realisation import realise

#: a pole is stable from one order to the next if its frequency changes by less than this part …
SAME_FREQUENCY = 0.01
#: … and its damping ratio by less than this part
SAME_DAMPING = 0.05


@dataclass(frozen=True)
class Stabilisation:
    """One entry for each pole of each order: the order (number of states), the pole in 1/s and whether it is stable."""

    order: np.ndarray
    pole: np.ndarray
    stable: np.ndarray


def stabilisation(markov: np.ndarray, step: float, most: int = 24) -> Stabilisation:
    """Realise impulse responses or free decays `(outputs, inputs, time)` with 2, 4, … `most` states.

    Modes of the system appear at every order from some order on; poles that explain noise move from order to order.

    >>> t = 0.02 * np.arange(600)
    >>> decay = np.exp(-0.3 * t) * np.cos(8 * t) + 1e-3 * np.random.default_rng(0).normal(size=600)
    >>> found = stabilisation(decay[None, None], 0.02, most=12)
    >>> near = np.abs(found.pole - (-0.3 + 8j)) < 0.05
    >>> near.sum(), (found.stable & near).sum()  # at all six orders, and stable at all but the first
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
    """Whether one of the poles before has the same frequency and damping."""
    if not len(before) or pole.real >= 0:
        return False
    near = before[np.abs(before - pole).argmin()]
    size, damping = abs(pole), -pole.real / abs(pole)
    return bool(
        abs(abs(near) - size) < SAME_FREQUENCY * size and abs(-near.real / abs(near) - damping) < SAME_DAMPING * damping
    )
