"""How many poles: add them one at a time while each lowers the held-out error, and leave out those that do not matter."""

from __future__ import annotations

import math

import numpy as np

from lfno.identification.projection import Projection

#: a further pole must lower the held-out error to this part of its value …
IMPROVEMENT = 0.97
#: … or to this part, if the squared errors of the held-out pieces fall by SURE standard errors of their mean
SLIGHT = 0.997
SURE = 3.0
#: below this error a further pole must halve the error: what is left may be the way the input runs between samples
FINE = 1e-3
HALF = 0.5
#: a pole that contributes less than this part of the response may be left out
WEAK = 0.05
#: two poles that are closer than this part of their size may describe one mode
CLOSE = 0.3
#: points of data that suffice to find the neighbourhood of the next pole
GLANCE = 20_000


def search_poles(problems: dict[str, Projection], max_poles: int, enough: float) -> tuple[np.ndarray, list[float]]:
    """Add poles while each lowers the held-out error; return them and that error after each addition.

    problems: the same data with each hold of the input. enough: the relative error below which no pole is looked for.
    """
    problem = problems.get("linear") or next(iter(problems.values()))
    table = candidate_poles(problem.step, problem.length)
    poles, errors = np.zeros(0, dtype=np.complex128), [1.0]
    while len(poles) < max_poles and errors[-1] > enough:
        chosen, error = poles, errors[-1]
        for option in _grown(problem, poles, table):
            reached = problem.error(option)
            if _better(problem, chosen, option, error, reached):
                chosen, error = option, reached
        if chosen is poles:
            break
        # the wrong hold would hide what is left, or make up poles to explain itself
        problem = min(problems.values(), key=lambda other: other.error(chosen))
        poles = problem.refine(chosen)
        errors.append(problem.error(poles))
    return poles, errors[1:]


def _better(problem: Projection, poles: np.ndarray, more: np.ndarray, error: float, reached: float) -> bool:
    """Whether further poles earn their place: the error falls from `error` to `reached`."""
    if error < FINE:
        return reached < HALF * error
    return reached < IMPROVEMENT * error or (reached < SLIGHT * error and problem.gain(poles, more) > SURE)


def _grown(problem: Projection, poles: np.ndarray, table: np.ndarray) -> list[np.ndarray]:
    """The poles with a decay or an oscillation added, refined; fewest unknowns first: a richer one must earn it."""
    glance = problem.part(GLANCE)
    residual, basis = glance.residual_basis(poles)
    gains = np.array([glance.explained(pole, residual, basis) for pole in table])
    options = []
    for kind in (table.imag == 0, table.imag > 0):
        candidate = table[kind][gains[kind].argmax()]
        options.append(problem.refine(np.append(poles, candidate)))
    # an oscillation whose frequency went to zero is two decays
    slow = (options[-1].imag > 0) & (options[-1].imag < 0.05 * np.abs(options[-1]))
    if slow.any():
        split = options[-1][slow].real
        options.insert(1, problem.refine(np.concatenate([options[-1][~slow], 0.6 * split, 1.6 * split])))
    return options


def prune(problem: Projection, poles: np.ndarray, accuracy: float = 0.0) -> np.ndarray:
    """Leave out poles that explain next to nothing, and merge pairs that describe one mode, one at a time.

    Only a weak pole, one close to another, or one that decays more slowly than the record lasts is tried. It goes where the
    error of the others, refined, stays below `accuracy`, or hardly rises.
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
    """Whether the error with fewer poles is as good as before: the opposite of what adds a pole in `search_poles`."""
    reached = problem.error(fewer)
    if reached <= max(accuracy, error / IMPROVEMENT) and reached * SLIGHT <= error:
        return True
    return reached <= max(accuracy, error / IMPROVEMENT) and problem.gain(fewer, poles) <= SURE


def lasting(problem: Projection, poles: np.ndarray) -> np.ndarray:
    """Whether each pole decays by less than 1/e within the data: (poles,) of bool."""
    return -poles.real * problem.step * problem.length < 1


def contributions(problem: Projection, poles: np.ndarray) -> np.ndarray:
    """The rms of each mode's own response over that of the outputs, both without their mean where a constant is fitted.

    Sensors with an offset and inputs about a level would otherwise count as motion.
    """
    residues = residues_of(problem, poles)[1]

    def size(values: np.ndarray) -> float:
        return float(np.linalg.norm(values - values.mean(0) if problem.constant else values))

    whole = size(problem.targets) or 1.0
    rows = (problem.rows(problem.respond(pole)[0]) @ residues[:, :, n].T for n, pole in enumerate(poles))
    return np.array([size(values.real) / whole for values in rows])


def residues_of(problem: Projection, poles: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Direct term (outputs, inputs) and residues (outputs, inputs, modes)."""
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
    """The constant (outputs,) of the regression; zero where none is allowed."""
    if not problem.constant:
        return np.zeros(problem.targets.shape[1])
    return problem.solve(poles)[0][problem.fixed.shape[1] - 1]


def candidate_poles(step: float, length: int) -> np.ndarray:
    """Pure decays and oscillations from one swing in the record to 0.8 of the Nyquist frequency."""
    slowest, fastest = 2 * math.pi / (step * length), 0.8 * math.pi / step
    decays = np.geomspace(0.2 * slowest, fastest, 24)
    table = [complex(-decay, 0.0) for decay in decays]
    for damping in (0.01, 0.05, 0.2, 0.6):
        # neighbouring candidates overlap: their spacing is about the half-width of the resonance
        count = math.ceil(math.log(fastest / slowest) / math.log1p(max(2 * damping, 0.03)))
        for frequency in np.geomspace(slowest, fastest, count):
            table.append(frequency * complex(-damping, math.sqrt(1 - damping**2)))
    return np.array(table)
