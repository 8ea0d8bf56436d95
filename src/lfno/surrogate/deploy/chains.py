"""States of nearly equal poles that a computer can add without loss of digits.

Two poles with nearly equal factors e₁ and e₂ have nearly equal states x₁ and x₂ and large residues of opposite sign. Their sum
then loses many digits. A chain has the states x₁ and d = (x₂ − x₁)/(e₂ − e₁) instead, with moderate residues. For taps b and
samples v,

    x₁ ← e₁ x₁ + b₁ v,      d ← e₂ d + x₁ + (b₂ − b₁)/(e₂ − e₁) v.

The states on the right are those of the previous sample.

The limit e₂ → e₁ is a double pole. A longer chain has the divided differences of Newton's interpolation, s_k = x[e₁, …, e_k]:

    s_k ← e_k s_k + s_{k−1} + b[e₁, …, e_k] v,      Σ_m β_m x_m = Σ_k γ_k s_k,      γ_k = Σ_m β_m Π_{j<k} (e_m − e_j).
"""

from __future__ import annotations

from itertools import pairwise
from typing import NamedTuple

import numpy as np

#: two poles belong to one chain if their distance is below this part of the larger |Re μ|; the residues of poles that are
#: further apart cancel little
NEAR = 0.3


class Chained(NamedTuple):
    """The arguments of `Builder.filter`, and the residues of the new states.

    decay, taps, chain: see `Filter`.
    residues: complex (…, M).
    """

    decay: np.ndarray
    taps: np.ndarray
    residues: np.ndarray
    chain: np.ndarray


def chained(poles: np.ndarray, dt: float, taps: np.ndarray, residues: np.ndarray) -> Chained:
    """Put nearly equal poles into chains. Poles without a neighbour keep their states, taps and residues.

    poles: μ in 1/s, complex (M,); the factor of a state from one sample to the next is e^{μ dt}.
    taps: complex (taps, M).
    residues: complex (…, M).

    >>> poles = np.array([-1.0, -1.0 - 1e-6]) + 0j
    >>> found = chained(poles, 0.1, np.ones((2, 2)), np.array([1e6, -1e6]))
    >>> found.chain.tolist(), bool(np.abs(found.residues).max() < 1)
    ([False, True], True)
    """
    order, chain = _order(poles)
    poles, taps, residues = poles[order], np.array(taps[:, order], complex), np.array(residues[..., order], complex)
    decay = np.exp(poles * dt)
    starts = [*np.flatnonzero(~chain), len(poles)]
    for first, last in pairwise(starts):
        part = slice(first, last)
        # entry (j, m): e_m − e_j, without the loss of digits that the subtraction would cause
        apart = decay[part, None] * np.expm1((poles[part] - poles[part, None]) * dt)
        taps[:, part] = _differences(taps[:, part], apart)
        newton = np.cumprod(np.concatenate([np.ones((last - first, 1)), apart.T[:, :-1]], axis=1), axis=1)
        residues[..., part] = residues[..., part] @ newton
    return Chained(decay, taps, residues, chain)


def _order(poles: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return an order of the poles with neighbours side by side, and whether each pole continues a chain, both (M,)."""
    left, order, chain = list(range(len(poles))), list[int](), list[bool]()
    while left:
        group = [left.pop(0)]
        for one in group:  # the list grows while the loop runs
            size = np.maximum(np.abs(poles.real), abs(poles[one].real))
            near = [k for k in left if abs(poles[k] - poles[one]) < NEAR * size[k]]
            group += near
            left = [k for k in left if k not in near]
        order += group
        chain += [place > 0 for place in range(len(group))]
    return np.array(order, dtype=int), np.array(chain, dtype=bool)


def _differences(values: np.ndarray, apart: np.ndarray) -> np.ndarray:
    """Return the divided differences of values (…, M) at M points.

    apart: (M, M), the entry (j, m) is e_m − e_j. The difference of two equal points is set to 0. Its value has no effect,
        because the residue of the new state is 0, too.
    """
    found = values.copy()
    for k in range(1, found.shape[-1]):
        steps = np.diagonal(apart, k)
        above = found[..., k:] - found[..., k - 1 : -1]
        found[..., k:] = np.divide(above, steps, out=np.zeros_like(above), where=np.broadcast_to(steps != 0, above.shape))
    return found
