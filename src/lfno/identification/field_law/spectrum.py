"""Modes of small motion about a field: the eigenvalues of the linearised equation."""

from __future__ import annotations

import numpy as np

from lfno.identification.field_law.equation import Equation
from lfno.identification.field_law.terms import INPUT, LINEAR, RATES, Line
from lfno.identification.identify import Modes

#: step h of the derivative Im N(y + ih)/h of the reaction N; no difference is formed, so h can be tiny without rounding errors
PROBE = 1e-30
#: step of the finite differences of coefficients, relative to the coefficient
CHANGE = 1e-4


def eigenvalues(equation: Equation, line: Line, start: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the eigenvalues of small motion about the field with the modes `start`, and the spatial mode of each eigenvalue.

    Conjugate pairs are represented by the eigenvalue with Im μ > 0. The spatial mode is the index of the largest entry of the
    eigenvector.
    """
    pairs, count = equation.pairs, len(start)
    stiffness, damping = (
        sum((pairs.get(name, 0.0) * factor(line.waves) for name, factor in table.items()), np.zeros(count))
        for table in (LINEAR, RATES)
    )
    reaction = equation.reaction(line, start + 1j * PROBE * np.eye(count)).imag / PROBE
    matrix = np.diag(stiffness) + reaction.T
    if equation.order == 2:
        matrix = np.block([[np.zeros_like(matrix), np.eye(count)], [matrix, np.diag(damping)]])
    found, vectors = np.linalg.eig(matrix)
    upper = found.imag >= 0
    return found[upper], np.abs(vectors[:count, upper]).argmax(0)


def small_motion(
    equation: Equation, line: Line, start: np.ndarray, covariance: np.ndarray, shares: np.ndarray, error: float
) -> Modes:
    """Return the modes of small motion about the field with the modes `start`, strongest first.

    The residue of a mode is not computed; the field `residues` of the result holds the contributions.

    shares: contribution of each spatial mode to the field, (count,).
    covariance: covariance of the coefficients, (terms, terms).
    error: relative validation error of the equation.
    """
    poles, places = eigenvalues(equation, line, start)
    order = np.argsort(-shares[places], kind="stable")
    poles, places = poles[order], places[order]
    slopes = np.zeros((len(poles), len(equation.terms)), dtype=complex)
    for k, name in enumerate(equation.terms):
        if name != INPUT:
            change = np.zeros(len(equation.terms))
            change[k] = CHANGE * equation.coefficients[k]
            moved, _ = eigenvalues(equation.change(equation.coefficients + change), line, start)
            nearest = moved[np.abs(moved - poles[:, None]).argmin(1)]
            slopes[:, k] = (nearest - poles) / change[k]
    both = np.stack([slopes.real, slopes.imag], axis=1)
    spread = both @ covariance @ both.swapaxes(1, 2)
    residues = shares[places].astype(complex)[None, None]
    return Modes(poles, residues, np.zeros((1, 1)), shares[places], error, "cubic", covariance=spread)
