"""Laws from physical matrices, and the internal state of a hysteresis.

The restoring force of a hysteresis depends on the past motion. An internal state ξ stores this dependence. ξ integrates the
velocity v = y′ and decays with the rate κ:

    y″ + c y′ + k y + ξ = b u,     ξ′ = α v − κ ξ + (terms of v and ξ).

y is the position, u is the force with the factor b, and c and k are damping and stiffness. α is the stiffness of the
hysteresis. With the terms abs(v) ξ and v abs(ξ), these equations are the Bouc–Wen model.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from lfno.identification.feedback.law import Law, split


def modal(matrix: np.ndarray, inward: np.ndarray, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Transform x′ = matrix x + inward u, with n states x, to modal coordinates of order one. Decays come first.

    matrix: (n, n).
    inward: (n, inputs).
    rows: signals as linear combinations of x, (rows, n).
    Returns the poles (modes,), the complex input matrix (modes, inputs), and the rows in modal coordinates (rows, n).
    """
    values, right = np.linalg.eig(matrix)
    keep = np.flatnonzero(values.imag >= 0)
    keep = keep[np.argsort(values[keep].imag > 0, kind="stable")]
    left = np.linalg.inv(right)[keep]
    poles, drive, seen = values[keep].astype(complex), left @ inward.astype(complex), rows @ right[:, keep].astype(complex)
    size = np.maximum(np.abs(drive).max(axis=1), 1e-12) / np.sqrt(np.abs(poles.real) + 0.1 * np.abs(poles))
    double = np.where(poles.imag > 0, 2.0, 1.0)
    return poles, drive / size[:, None], split((seen * size * double).conj(), int((poles.imag == 0).sum()))


def with_memory(law: Law, share: float, forget: float) -> tuple[Law, np.ndarray]:
    """Add a hysteresis state to the first oscillation of a linear law.

    The docstring of this module has the equations. The stiffness K of the oscillation is divided: α = share × K and k = K − α.

    share: part of the stiffness that moves to the state ξ.
    forget: the decay rate κ, relative to |μ| of the oscillation.
    Returns the linear law with n states, and three rows (3, n) that give position, velocity and ξ from the states.
    """
    decays, pole = law.decays, law.poles[law.decays]
    frequency = abs(pole)
    stiffness, damping = frequency**2, -2 * pole.real
    # y = Re c x with x′ = μ x + b u has the transfer function (n₁ s + n₀) / (s² + damping s + stiffness)
    own = slice(decays, decays + 2)
    complex_read = law.read[:, own] @ np.array([1.0, -1j])
    gain = np.einsum("o,i->oi", complex_read, law.drive[decays])
    rate, place = gain.real, (-gain * pole.conj()).real
    lead = int(np.abs(place).sum(0).argmax())
    inputs = law.drive.shape[1]
    alpha, kappa = share * stiffness, forget * frequency
    matrix = np.array([[0.0, 1.0, 0.0], [alpha - stiffness, -damping, -1.0], [0.0, alpha, -kappa]])
    inward = np.zeros((3, inputs))
    inward[1] = np.linalg.lstsq(place[:, lead : lead + 1], place, rcond=None)[0][0]
    read = np.stack([place[:, lead], rate[:, lead], np.zeros(len(place))], axis=1)
    poles, drive, rows = modal(matrix, inward, np.concatenate([read, np.eye(3)]))
    others = np.delete(np.arange(len(law.poles)), decays)
    rest = law.poles[others]
    order = np.argsort(np.concatenate([poles, rest]).imag > 0, kind="stable")
    wide = np.concatenate([np.where(poles.imag == 0, 1, 2), np.where(rest.imag == 0, 1, 2)])
    first = np.concatenate([[0], np.cumsum(wide)[:-1]])
    columns = np.concatenate([np.arange(first[n], first[n] + wide[n]) for n in order])
    kept = np.delete(law.read, np.arange(own.start, own.stop), axis=1)
    whole = np.concatenate([rows, np.concatenate([kept, np.zeros((3, kept.shape[1]))])], axis=1)[:, columns]
    moved = replace(
        law, poles=np.concatenate([poles, rest])[order], drive=np.concatenate([drive, law.drive[others]])[order],
        read=whole[: len(place)], gains=np.zeros((whole.shape[1], 0)), pick=np.zeros((1, whole.shape[1])),
        start=np.zeros(whole.shape[1]),
    )  # fmt: skip
    return moved, whole[len(place) :]


def with_decay(law: Law, forget: float = 0.3) -> Law:
    """Add one decay to a linear law, as its first state. No output depends on this state yet.

    forget: rate of the decay, relative to the largest |μ| of the law.
    """
    rate = forget * float(np.abs(law.poles).max())
    column = np.zeros((len(law.read), 1))
    return replace(
        law, poles=np.concatenate([[-rate + 0j], law.poles]), gains=np.zeros((law.states + 1, 0)),
        drive=np.concatenate([np.full((1, law.drive.shape[1]), rate + 0j), law.drive]),
        pick=np.zeros((1, law.states + 1)), read=np.concatenate([column, law.read], axis=1),
        start=np.concatenate([[0.0], law.start]),
    )  # fmt: skip
