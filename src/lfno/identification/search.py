"""The number of poles: add poles one at a time while the held-out error falls, then remove poles that do not matter."""

from __future__ import annotations

import math

import numpy as np

from lfno.identification.candidates import Candidates, candidate_poles
from lfno.identification.projection import Projection

#: a further pole is accepted if the new held-out error is below this part of the old one
IMPROVEMENT = 0.97
#: a further pole with a smaller gain is accepted if the new error is below this part of the old one, and if the gain is
#: statistically significant (see SURE)
SLIGHT = 0.997
#: smallest significant gain: the mean fall of the squared held-out errors, in standard errors of this fall
SURE = 3.0
#: relative error below which HALF replaces IMPROVEMENT; the interpolation of the input alone may cause such an error
FINE = 1e-3
#: for errors below FINE, a further pole is accepted if the new held-out error is below this part of the old one
HALF = 0.5
#: contribution below which `prune` tries to remove a pole
WEAK = 0.05
#: distance of two poles, relative to |μ|, below which both may describe one mode
CLOSE = 0.3
#: largest number of data points in the coarse search for the next pole; more points cost time and seldom change the choice
GLANCE = 20_000
#: the search for two integrators starts from a slow oscillation with this number of periods in the record
SLOWER = 0.1


def search_poles(problems: dict[str, Projection], max_poles: int, enough: float) -> tuple[np.ndarray, list[float]]:
    """Add poles while each addition clearly lowers the held-out error. Return the poles, and the error after each addition.

    Each step adds one decay, one oscillation or two decays. The errors are relative L2 errors on held-out data.

    problems: the problem for each interpolation of the input, keyed by the name of the hold.
    max_poles: largest number of poles.
    enough: relative error below which the search stops.
    """
    problem = problems.get("linear") or next(iter(problems.values()))
    table = candidate_poles(problem.step, problem.length)
    poles, errors = np.zeros(0, dtype=np.complex128), [1.0]
    candidates = Candidates(problem.part(GLANCE), table)
    while len(poles) < max_poles and errors[-1] > enough:
        chosen, error = poles, errors[-1]
        for option in _grown(problem, poles, candidates):
            reached = problem.error(option)
            if _better(problem, chosen, option, error, reached):
                chosen, error = option, reached
        if not len(poles):
            other, option = _integrators(problems)
            if other.error(option) < IMPROVEMENT * error:
                problem, chosen = other, option
        if chosen is poles:
            break
        # choose the hold again: with a wrong hold, false poles would imitate the correct hold
        problem = min(problems.values(), key=lambda other: other.error(chosen))
        if problem.hold != candidates.problem.hold:
            candidates = Candidates(problem.part(GLANCE), table)
        poles = problem.refine(chosen)
        errors.append(problem.error(poles))
    return poles, errors[1:]


def _integrators(problems: dict[str, Projection]) -> tuple[Projection, np.ndarray]:
    """Return the problem with the best hold, and one slow oscillation that stands for two integrators, (1,).

    The path from a force to a position has two integrators. Two integrators are the limit of an oscillation that is slower than
    the record. With a wrong hold, the force has small errors, and two integrators turn them into a growing drift of the
    position. In a control loop the measured position stays small, so that only the correct hold has a small error.
    """
    found = []
    for problem in problems.values():
        slow = SLOWER * 2 * math.pi / (problem.step * problem.length)
        found.append((problem, problem.part(GLANCE).refine(slow * np.array([-0.01 + 1j]))))
    return min(found, key=lambda pair: pair[0].error(pair[1]))


def _better(problem: Projection, poles: np.ndarray, more: np.ndarray, error: float, reached: float) -> bool:
    """Return whether the poles `more` are clearly better than `poles`. Their errors are `reached` and `error`."""
    if error < FINE:
        return reached < HALF * error
    return reached < IMPROVEMENT * error or (reached < SLIGHT * error and problem.gain(poles, more) > SURE)


def _grown(problem: Projection, poles: np.ndarray, candidates: Candidates) -> list[np.ndarray]:
    """Return refined sets of poles with one more decay or one more oscillation.

    An oscillation with a frequency near zero is also tried as two decays. Sets with fewer parameters come first, so that a
    larger set must lower the error further.

    candidates: the candidates for the next pole, with the hold of `problem`.
    """
    best = candidates.best(*candidates.problem.residual_basis(poles))
    options = [problem.refine(np.append(poles, candidate)) for candidate in best]
    # an oscillation with a frequency near zero may be two decays
    slow = (options[-1].imag > 0) & (options[-1].imag < 0.05 * np.abs(options[-1]))
    if slow.any():
        split = options[-1][slow].real
        options.insert(1, problem.refine(np.concatenate([options[-1][~slow], 0.6 * split, 1.6 * split])))
    return options


def prune(problem: Projection, poles: np.ndarray, accuracy: float = 0.0) -> np.ndarray:
    """Return the poles without superfluous poles, which are removed one at a time.

    Only three kinds of poles may be superfluous: weak poles, poles close to another pole, and poles whose time constant exceeds
    the record. For each of these poles, the other poles are refined without this pole. The pole is removed on two conditions:
    1. The error then rises by less than 3 % (`IMPROVEMENT`), or stays below `accuracy`.
    2. The rise is tiny (`SLIGHT`), or not statistically significant (`SURE`).
    """
    while len(poles) > 1:
        error = problem.error(poles)
        strength = contributions(problem, poles)
        near = np.abs(poles[:, None] - poles) + np.diag(np.full(len(poles), np.inf))
        doubtful = (strength < WEAK) | (near.min(1) < CLOSE * np.abs(poles)) | lasting(problem, poles)
        options = (problem.refine(np.delete(poles, n)) for n in np.argsort(strength) if doubtful[n])
        fewer = next((option for option in options if _hardly_worse(problem, option, poles, error, accuracy)), None)
        if fewer is None:
            break
        poles = fewer
    return poles


def _hardly_worse(problem: Projection, fewer: np.ndarray, poles: np.ndarray, error: float, accuracy: float) -> bool:
    """Return whether the error hardly rises with the poles `fewer` instead of `poles`, as in `prune`.

    error: held-out error with `poles`.
    """
    reached = problem.error(fewer)
    if reached <= max(accuracy, error / IMPROVEMENT) and reached * SLIGHT <= error:
        return True
    return reached <= max(accuracy, error / IMPROVEMENT) and problem.gain(fewer, poles) <= SURE


def lasting(problem: Projection, poles: np.ndarray) -> np.ndarray:
    """Return whether the time constant of each pole exceeds the duration of the data, (poles,) of bool."""
    return -poles.real * problem.step * problem.length < 1


def contributions(problem: Projection, poles: np.ndarray) -> np.ndarray:
    """Return the rms of the response of each mode, relative to the rms of the outputs, (poles,).

    If the problem has a constant, the means are subtracted first, so that the offset of a sensor does not count as motion.
    """
    residues = residues_of(problem, poles)[1]

    def size(values: np.ndarray) -> float:
        return float(np.linalg.norm(values - values.mean(0) if problem.constant else values))

    whole = size(problem.targets) or 1.0
    rows = (problem.rows(problem.values(pole)) @ residues[:, :, n].T for n, pole in enumerate(poles))
    return np.array([size(values.real) / whole for values in rows])


def residues_of(problem: Projection, poles: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the direct term (outputs, inputs) and the residues (outputs, inputs, modes)."""
    solution = problem.solve(poles)[0]
    outputs, width, place = problem.targets.shape[1], problem.inputs.shape[1], problem.fixed.shape[1]
    direct = solution[:width].T if problem.direct else np.zeros((outputs, width))
    residues = np.zeros((outputs, width, len(poles)), dtype=np.complex128)
    for n, pole in enumerate(poles):
        block = solution[place : place + (1 if pole.imag == 0 else 2) * width]
        place += len(block)
        residues[:, :, n] = block[:width].T + (0 if pole.imag == 0 else 1j * block[width:].T)
    return direct, residues


def constant_of(problem: Projection, poles: np.ndarray) -> np.ndarray:
    """Return the fitted constant of each output, (outputs,); zeros if the problem has no constant."""
    if not problem.constant:
        return np.zeros(problem.targets.shape[1])
    return problem.solve(poles)[0][problem.fixed.shape[1] - 1]
