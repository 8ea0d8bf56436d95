"""Modes of a model with feedback: in small motion, and as the amplitude grows.

The model is x′ = A x + B u + Γ φ(z) with z = E x (see `law`). About z = 0 the feedback is linear with the slope φ′(0). So small
motions follow x′ = (A + Γ φ′(0) E) x + B u. In a motion of one frequency, z = Z cos ωt, the feedback acts like a linear
feedback whose slope depends on the amplitude Z. This slope is called the describing function,

    N(Z) = 1/(π Z) ∫₀^{2π} φ(Z cos τ) cos τ dτ.

The eigenvalues of A + Γ N(Z) E give the frequency and the damping at the amplitude Z.
"""

from __future__ import annotations

import numpy as np

from lfno.core.errors import LfnoError
from lfno.identification.feedback.law import Law, split
from lfno.identification.feedback.structure import Structure
from lfno.identification.identify import Modes

#: number of points of one cycle in the sum for the describing function
CYCLE = 256
#: relative change of a parameter for a derivative by central differences
NUDGE = 1e-5


def closed_matrix(law: Law, slope: np.ndarray | None = None) -> np.ndarray:
    """Return A + Γ slope E (n, n). The slope (q, m) of φ is by default the slope at z = 0."""
    if not law.gains.any():
        return law.matrix
    if slope is None:
        slope = law.feedback_slopes(np.zeros((1, len(law.pick))))[1][0]
    return law.matrix + law.gains @ slope @ law.pick


def small_signal(law: Law, structure: Structure, covariance: np.ndarray, hold: str, error: float) -> Modes:
    """Return the poles, residues and pole covariance of the law in small motion about z = 0, strongest mode first.

    The contribution of a mode is the rms of its response to white noise, relative to the root of the sum of squares of all
    modes.

    structure, covariance: free parameters of the law, and covariance of these parameters.
    hold, error: hold and validation error of the fit, which are copied to the result.
    """
    poles, residues = _eigenmodes(law)
    weight = np.sqrt((np.abs(residues) ** 2).sum((0, 1)) / np.maximum(-2 * poles.real, 1e-300))
    order = np.argsort(-weight)
    vector = structure.pack(law)
    moved = np.zeros((len(poles), 2, len(vector)))
    size = np.sqrt(np.maximum(np.diag(covariance), 0))
    for n in range(len(vector)):
        step = max(NUDGE * abs(vector[n]), 1e-3 * size[n], 1e-12)
        ends = []
        for sign in (1, -1):
            there = _eigenmodes(structure.unpack(vector + sign * step * np.eye(len(vector))[n], law))[0]
            nearest = [there[np.abs(there - pole).argmin()] for pole in poles]
            ends.append(np.array(nearest))
        slope = (ends[0] - ends[1]) / (2 * step)
        moved[:, 0, n], moved[:, 1, n] = slope.real, slope.imag
    spread = moved @ covariance @ moved.swapaxes(1, 2)
    share = weight[order] / np.sqrt((weight**2).sum())
    return Modes(poles[order], residues[..., order], law.direct, share, error, hold, (), spread[order])


def _eigenmodes(law: Law) -> tuple[np.ndarray, np.ndarray]:
    """Return the poles with Im μ ≥ 0 and the residues (outputs, inputs, modes) of the law in small motion."""
    values, vectors = np.linalg.eig(closed_matrix(law))
    inward = np.linalg.solve(vectors, split(law.drive.T, law.decays).T) @ law.input_slopes()
    residues = np.einsum("on,ni->oin", law.output_slopes(np.zeros(law.states)) @ vectors, inward)
    keep = values.imag >= 0
    double = np.where(values.imag[keep] > 0, 2.0, 1.0)
    return values[keep].astype(complex), residues[..., keep].astype(complex) * double


def amplitude_modes(law: Law, visited: np.ndarray, mode: int, output: int, count: int) -> tuple[np.ndarray, ...]:
    """Return three arrays (count,): amplitude of an output, frequency in Hz, and damping ratio of one oscillation.

    The amplitude of z grows up to the largest |z| of the training data. Raises LfnoError for a linear model, for feedback of
    more than one signal, and if there is no oscillation with the index `mode`.

    visited: (signals, 2), the range of z in the training data.
    mode: index of the oscillation; the strongest oscillation in small motion has the index 0.
    output: index of the output.
    count: number of amplitudes.
    """
    if not law.terms.count:
        raise LfnoError("a linear model has no backbone: frequency and damping do not depend on the amplitude")
    if law.actuator is not None:
        raise LfnoError("a model with curved actuators has no backbone: frequency and damping do not depend on the amplitude")
    if len(law.pick) != 1:
        raise LfnoError(f"a backbone needs feedback of one signal; this model has {len(law.pick)}")
    poles, residues = _eigenmodes(law)
    order = np.argsort(-np.abs(residues).sum((0, 1)) / np.sqrt(np.maximum(-poles.real, 1e-300)))
    swings = [pole for pole in poles[order] if pole.imag > 0]
    if mode >= len(swings):
        raise LfnoError(f"there is no oscillation number {mode + 1}: the model has {len(swings)}")
    pole, points = swings[mode], []
    turn = np.cos(2 * np.pi * np.arange(CYCLE) / CYCLE)
    for size in np.linspace(0, np.abs(visited).max(), count + 1)[1:]:
        slope = 2 / size * (law.feedback((size * turn)[:, None]) * turn[:, None]).mean(0)
        values, vectors = np.linalg.eig(closed_matrix(law, slope[:, None]))
        nearest = np.abs(values - pole).argmin()
        pole, shape = values[nearest], vectors[:, nearest]
        read = law.read if law.sensor is None else law.read + law.sensor @ slope[:, None] @ law.pick
        seen = np.abs(read[output] @ shape) / max(np.abs(law.pick[0] @ shape), 1e-300) * size
        points.append((seen, abs(pole.imag) / (2 * np.pi), -pole.real / abs(pole)))
    return tuple(np.array(points).T)
