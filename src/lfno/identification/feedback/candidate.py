"""A candidate is one fitted structure with its validation errors. This module fits candidates and chooses between them.

Words and symbols: see the docstring of `lfno.identification.feedback`.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from lfno.identification.feedback.hold import CAUSAL
from lfno.identification.feedback.law import Law
from lfno.identification.feedback.levenberg import minimise, settled
from lfno.identification.feedback.problem import Point, Problem
from lfno.identification.feedback.structure import Structure
from lfno.identification.feedback.terms import Terms
from lfno.identification.feedback.windows import Windows

#: largest integration error of a fit, relative to the rms of the residual
FINE = 0.1
#: integration error, relative to the outputs, below which finer sub-steps are not tried
FINEST = 1e-7
#: a residual counts as white noise if its autocorrelation at lags of one to three samples is below this value
WHITE = 0.1
#: relative validation error below which the search stops
ENOUGH = 1e-5
#: numbers of sub-steps that are tried
SUBSTEPS = (1, 2, 4, 8)
#: factor between the limits of z and the largest |z| on the training data; beyond the limits φ is extrapolated
BEYOND = 2.0
#: a limit so large that z never reaches it
UNLIMITED = 1e9
#: a candidate with fewer parameters may be chosen if its mean squared error is below this multiple of the smallest one
MOST_WORSE = 1.2
#: standard error of the difference of two mean squared errors on a single window, as a part of the mean squared error
ONE_WINDOW = 0.02
#: each additional parameter must lower the mean squared error by at least this part
WORTH_PARAMETER = 0.01


@dataclass(frozen=True)
class Candidate:
    """A fitted law with its validation errors.

    label: a description of the candidate in words.
    law: the arrays of the equations.
    structure: which entries of these arrays are fitted.
    hold: interpolation of the input between samples.
    substeps: number of sub-steps between two samples.
    starts: initial states of the training windows, (windows, n).
    cost: mean square of the training residual.
    errors: mean square of the residual of each validation window, (windows,). Each output is divided by its standard deviation.
    size: number of parameters.
    delays: dead time of each input in samples, (inputs,); () for no dead times.
    """

    label: str
    law: Law
    structure: Structure
    hold: str
    substeps: int
    starts: np.ndarray
    cost: float
    errors: np.ndarray
    size: int
    delays: tuple[float, ...] = ()

    @property
    def error(self) -> float:
        """Return the relative error on validation data."""
        return float(np.sqrt(self.errors.mean()))


@dataclass(frozen=True)
class Bench:
    """Windows for the fit and for the validation of candidates.

    deadline: end of the search, a value of `time.monotonic`.
    delays: dead time of each input in samples, with which the windows are cut; () for no dead times.
    holds: the interpolations of the input that a candidate may have. The last one is the most accurate for smooth inputs.
    """

    train: Windows
    validation: Windows
    deadline: float = np.inf
    holds: tuple[str, ...] = CAUSAL
    delays: tuple[float, ...] = ()

    @property
    def late(self) -> bool:
        """Return whether the deadline has passed."""
        return time.monotonic() > self.deadline

    def finished(self, candidate: Candidate) -> bool:
        """Return whether the search can stop.

        It stops if the deadline has passed or the error is tiny. It also stops if the training residual is white noise and the
        mean squared validation error is below MOST_WORSE² times the mean squared training error.
        """
        general = candidate.errors.mean() < MOST_WORSE**2 * candidate.cost
        return self.late or candidate.error < ENOUGH or (general and self.is_white(candidate))

    def fit(
        self, label: str, law: Law, structure: Structure, hold: str, starts: np.ndarray | None = None, substeps: int = 1,
        iterations: int = 25, tolerance: float = 1e-3,
    ) -> Candidate:  # fmt: skip
        """Return a candidate: the structure, fitted to the training windows, with its errors on the validation windows.

        law: the initial law.
        starts: initial states of the training windows before the fit, (windows, n); None for zero.
        substeps: smallest number of sub-steps. A second fit uses more sub-steps if the integration error of the first fit is
            too large.
        iterations, tolerance: arguments of `levenberg.minimise`.
        """
        windows, structure = self.train.held(hold), structure.anchored(law)
        starts = np.zeros((len(windows), structure.states)) if starts is None else starts
        point = Point(structure.pack(law), starts)
        problem = Problem(windows, structure, law, substeps)
        found = minimise(problem, point, iterations, tolerance, self.deadline)
        needed = substeps_needed(problem, found.point, found.cost) if np.isfinite(found.cost) else substeps
        if needed > substeps:
            problem = replace(problem, substeps=needed)
            found = minimise(problem, found.point, iterations, tolerance, self.deadline)
        law = problem.law(found.point)
        if law.terms.count and np.isfinite(found.cost):
            law = replace(law, limits=limits(law.signals(problem.states(found.point), problem.inputs), law.terms))
        errors = self.validate(law, structure, hold, needed)
        cost = found.cost / windows.weights.sum()
        size = len(point.vector) + int(np.count_nonzero(self.delays))
        return Candidate(
            label, law, structure, hold, problem.substeps, found.point.starts, cost, errors, size, self.delays
        )  # fmt: skip

    def trajectory(self, candidate: Candidate) -> np.ndarray:
        """Return the states (sub-steps + 1, windows, n) of a candidate on the training windows."""
        problem = Problem(self.train.held(candidate.hold), candidate.structure, candidate.law, candidate.substeps)
        return problem.states(Point(candidate.structure.pack(candidate.law), candidate.starts))

    def residual(self, candidate: Candidate) -> np.ndarray:
        """Return the weighted residual of a candidate on the training windows, (windows, samples × outputs)."""
        problem = Problem(self.train.held(candidate.hold), candidate.structure, candidate.law, candidate.substeps)
        found = problem.residual(Point(candidate.structure.pack(candidate.law), candidate.starts))
        return np.asarray(found[:, : self.train.weights.size // len(self.train)])

    def is_white(self, candidate: Candidate) -> bool:
        """Return whether the residual on the training windows looks like white noise. Then no model can explain more."""
        residual = self.residual(candidate)
        errors = residual.reshape(len(residual), -1, self.train.targets.shape[2])
        power = np.maximum((errors**2).sum((0, 1)), 1e-300)
        lags = [np.abs((errors[:, lag:] * errors[:, :-lag]).sum((0, 1)) / power) for lag in (1, 2, 3)]
        return bool(np.max(lags) < WHITE)

    def validate(self, law: Law, structure: Structure, hold: str, substeps: int) -> np.ndarray:
        """Return the mean square of the residual of each validation window, (windows,), with fitted initial states.

        The mean square is infinite if the simulation diverges.
        """
        windows = self.validation.held(hold)
        problem = Problem(windows, structure, law, substeps)
        found = settled(problem, Point(structure.pack(law), np.zeros((len(windows), structure.states))))
        rows = windows.weights.size // len(windows)
        with np.errstate(over="ignore", invalid="ignore"):
            squares = (found.residual[:, :rows] ** 2).sum(1) / np.maximum(windows.weights.sum((0, 2)), 1)
        return np.nan_to_num(squares, nan=np.inf)


def substeps_needed(problem: Problem, point: Point, cost: float, share: float = FINE) -> int:
    """Return the smallest of SUBSTEPS with an integration error below `share` times the rms of the residual.

    The result is at least `problem.substeps`. If no number suffices, the result is the largest of SUBSTEPS. The change of the
    outputs with twice as many sub-steps is the estimate of the integration error.

    cost: sum of squares of the residual at `point`.
    """
    rows = np.arange(min(len(problem.windows), 8))
    part = replace(problem, windows=problem.windows.chosen(rows))
    some = Point(point.vector, point.starts[rows])
    level = max(share * np.sqrt(cost / max(problem.windows.weights.sum(), 1)), FINEST)
    coarse = replace(part, substeps=1).residual(some)
    for count in SUBSTEPS:
        fine = replace(part, substeps=2 * count).residual(some)
        with np.errstate(over="ignore", invalid="ignore"):
            change = np.sqrt(((fine - coarse) ** 2).mean())
        if not change > level:
            return max(count, problem.substeps)
        coarse = fine
    return SUBSTEPS[-1]


def extended(law: Law, terms: Terms, pick: np.ndarray, z: np.ndarray) -> Law:
    """Return the law with other terms. Terms that the old law has keep their columns of Γ, K and H; new terms have zeros.

    Shape parameters are kept if their number does not change. Otherwise they are zero.

    terms: the terms of the new law.
    pick: the matrix E of the new law, (signals, n).
    z: the signals on the training data, (…, signals), for the limits.
    """
    gains = _columns(law.gains, law.terms, terms)
    sensor = None if law.sensor is None else _columns(law.sensor, law.terms, terms)
    actuator, inputs = law.actuator, law.drive.shape[1]
    if actuator is not None:  # the first columns of H belong to u
        actuator = np.concatenate([actuator[:, :inputs], _columns(actuator[:, inputs:], law.terms, terms)], axis=1)
    shape = law.shape if len(law.shape) == terms.shapes else np.zeros(terms.shapes)
    return replace(
        law, gains=gains, pick=pick, terms=terms, shape=shape, limits=limits(z, terms), sensor=sensor, actuator=actuator
    )


def _columns(matrix: np.ndarray, old: Terms, new: Terms) -> np.ndarray:
    """Return a matrix with one column for each of the new terms: the column of the same old term, or zero."""
    known = {name: matrix[:, n] for n, name in enumerate(old.names)}
    return np.array([known.get(name, np.zeros(len(matrix))) for name in new.names]).reshape(new.count, len(matrix)).T


def limits(z: np.ndarray, terms: Terms) -> np.ndarray:
    """Return the limits (signals, 2) of z: ±BEYOND times the largest |z| in z (…, signals).

    Terms with a bounded slope have the limits UNLIMITED.
    """
    size = BEYOND * np.nanmax(np.abs(z.reshape(-1, z.shape[-1])), axis=0)
    size = np.full_like(size, UNLIMITED) if terms.bounded else size
    return np.stack([-size, size], axis=1)


def standard_error(gap: np.ndarray, size: float) -> float:
    """Return the standard error of the mean difference of the squared errors of two candidates.

    gap: the difference on each window, (windows,).
    size: the mean squared error. The standard error for one window is ONE_WINDOW times this number.
    """
    return float(gap.std(ddof=1) / np.sqrt(len(gap)) if len(gap) > 1 else ONE_WINDOW * size)


def choose(candidates: Sequence[Candidate]) -> Candidate:
    """Return the candidate with the fewest parameters whose error is close to the smallest error.

    An error is close if the mean squared error exceeds the smallest one by at most the larger of two values. The first value is
    one standard error of the mean difference of the squared errors on the same validation windows. The second value is the part
    WORTH_PARAMETER of the smallest error for each additional parameter of the best candidate. The mean squared error must also
    be at most MOST_WORSE times the smallest one.
    """
    best = min(candidates, key=lambda candidate: candidate.errors.mean())

    def close(candidate: Candidate) -> bool:
        gap = candidate.errors - best.errors
        if not np.isfinite(gap).all():
            return False
        spread = standard_error(gap, best.errors.mean())
        due = WORTH_PARAMETER * (best.size - candidate.size) * best.errors.mean()
        return bool(gap.mean() <= min(max(spread, due), (MOST_WORSE - 1) * best.errors.mean()))

    return min((c for c in candidates if c is best or close(c)), key=lambda c: (c.size, c.errors.mean()))
