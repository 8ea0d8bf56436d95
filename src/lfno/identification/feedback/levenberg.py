"""The Levenberg–Marquardt method with geodesic acceleration. The initial state of each window is eliminated.

A window is a piece of a record (see `windows`). All windows share the parameters θ, and each window has its own initial state
x. So the matrix of the normal equations has an arrow shape, with the blocks Hθθ, Hθx and Hxx. gθ and gx are the parts of the
gradient. The Schur complement gives the steps δθ of the parameters and δx of the initial states:

    (Hθθ − Σ Hθx Hxx⁻¹ Hxθ) δθ = −(gθ − Σ Hθx Hxx⁻¹ gx),      δx = −Hxx⁻¹ (gx + Hxθ δθ).

The sums run over the windows.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, replace

import numpy as np

from lfno.identification.feedback.problem import Point, Problem
from lfno.identification.feedback.sensitivity import state_sensitivities

#: step of the finite difference for the geodesic acceleration, relative to the damped step
PROBE = 0.1
#: the geodesic acceleration is used if its norm is below this part of the norm of the damped step
MOST_BENT = 0.75
#: growing horizons for the fit of initial states: numbers of samples at the beginning of each window
HORIZONS = (24, 96, 384)
#: initial damping
DAMPING = 1e-3
#: damping above which the search stops
MOST_DAMPING = 1e8


@dataclass(frozen=True)
class Fit:
    """The result of a fit: the point, its cost (sum of squares with the prior), and the residual (windows, rows)."""

    point: Point
    cost: float
    residual: np.ndarray


class Normal:
    """The normal equations at a point, with the blocks of the arrow-shaped matrix.

    jacobian: result of `Problem.jacobian` at the point.
    """

    def __init__(self, problem: Problem, jacobian: np.ndarray, point: Point) -> None:
        self.jacobian, self.count = jacobian, len(point.vector)
        self.prior, self.pulled = problem.prior, problem.prior * (point.vector - problem.reference)
        self.bound = problem.windows.rest
        n = jacobian.shape[-1] - self.count
        squares = jacobian.swapaxes(1, 2) @ jacobian
        self.shared = squares[:, : self.count, : self.count].sum(0) + np.diag(self.prior**2)
        self.mixed, self.own = squares[:, : self.count, self.count :], squares[:, self.count :, self.count :]
        self.own[self.bound] = np.eye(n)
        self.ridge = 1e-12 * max(float(np.diag(self.shared).max()), 1e-300)

    def solve(self, residual: np.ndarray, damping: float, prior: bool = True) -> Point:
        """Return the step δ that minimises |residual + J δ|², with damping. With `prior`, the prior is part of the cost."""
        slope = np.einsum("wrp,wr->wp", self.jacobian, residual)
        by_shared, by_own = slope[:, : self.count].sum(0), slope[:, self.count :]
        if prior:
            by_shared = by_shared + self.prior * self.pulled
        n = by_own.shape[1]
        own = self.own + damping * (self.own * np.eye(n)) + self.ridge * np.eye(n)
        back = np.linalg.solve(own, np.concatenate([self.mixed.swapaxes(1, 2), by_own[..., None]], axis=-1))
        matrix = self.shared + np.diag(damping * np.diag(self.shared) + self.ridge)
        matrix = matrix - np.einsum("wpn,wnq->pq", self.mixed, back[..., :-1], optimize=True)
        right = by_shared - np.einsum("wpn,wn->p", self.mixed, back[..., -1])
        scale = 1 / np.sqrt(np.maximum(np.diag(matrix), self.ridge))
        step = -scale * np.linalg.lstsq(scale[:, None] * matrix * scale, scale * right, rcond=1e-14)[0]
        return Point(step, np.where(self.bound[:, None], 0.0, -(back[..., -1] + back[..., :-1] @ step)))

    def along(self, step: Point) -> np.ndarray:
        """Return J δ (windows, rows)."""
        return (self.jacobian[..., : self.count] @ step.vector) + (self.jacobian[..., self.count :] @ step.starts[..., None])[
            ..., 0
        ]


def moved(point: Point, step: Point, share: float = 1.0) -> Point:
    """Return the point + share × step."""
    return Point(point.vector + share * step.vector, point.starts + share * step.starts)


def minimise(problem: Problem, point: Point, iterations: int = 30, tolerance: float = 1e-4, deadline: float = np.inf) -> Fit:
    """Return the point with the smallest cost that the method finds, as a `Fit`.

    The method stops after two successive steps with a relative decrease below `tolerance`.

    point: the initial point.
    iterations: largest number of iterations.
    deadline: a value of `time.monotonic`; no iteration begins after this time.
    """
    states = problem.states(point)
    residual = problem.residual(point, states)
    cost, damping, small = problem.cost(point, residual), DAMPING, 0
    for _ in range(iterations):
        if time.monotonic() > deadline or not np.isfinite(cost):
            break
        with np.errstate(over="ignore", invalid="ignore"):
            jacobian = problem.jacobian(point, states)
        if not np.isfinite(jacobian).all():
            break
        normal = Normal(problem, jacobian, point)
        while damping < MOST_DAMPING:
            try:
                step = _step(problem, normal, point, residual, damping)
            except np.linalg.LinAlgError:  # the normal equations overflow or are singular; more damping may help
                damping *= 6
                continue
            trial = moved(point, step)
            states = problem.states(trial)
            missed = problem.residual(trial, states)
            reached = problem.cost(trial, missed)
            if reached < cost:
                break
            damping *= 6
        else:
            break
        small = small + 1 if reached > (1 - tolerance) * cost else 0
        point, cost, residual, damping = trial, reached, missed, max(damping / 8, 1e-9)
        if small == 2 or cost == 0:
            break
    return Fit(point, cost, residual)


def settled(problem: Problem, point: Point) -> Fit:
    """Return the point with fitted initial states. The parameters and the initial states of windows from rest do not change.

    The horizon grows. Over a long horizon, the error of a strongly nonlinear motion has many minima. A short horizon usually
    leads to the correct minimum.
    """
    if not problem.windows.rest.all():
        for horizon in HORIZONS:
            point = _settled(replace(problem, windows=problem.windows.until(horizon)), point).point
    return _settled(problem, point)


def _settled(problem: Problem, point: Point, iterations: int = 6) -> Fit:
    """Return the point with initial states that are fitted over whole windows by damped Gauss–Newton steps."""
    windows, law = problem.windows, problem.law(point)
    states = problem.states(point)
    residual = problem.residual(point, states)
    if windows.rest.all():
        return Fit(point, problem.cost(point, residual), residual)
    best, damping = (problem.cost(point, residual), point, residual, states), DAMPING
    span = windows.step / problem.substeps
    for _ in range(iterations):
        cost, point, residual, states = best
        with np.errstate(over="ignore", invalid="ignore"):
            slope = state_sensitivities(law, None, problem.pieces, span, states, problem.substeps)
            seen = np.moveaxis(windows.weights[..., None] * (law.output_slopes(states[:: problem.substeps]) @ slope), 1, 0)
        rows = seen.reshape(len(windows), -1, law.states)
        own = rows.swapaxes(1, 2) @ rows
        if not np.isfinite(own).all():
            break
        own = own + damping * own * np.eye(law.states) + 1e-9 * np.eye(law.states)
        right = np.einsum("wrn,wr->wn", rows, residual[:, : rows.shape[1]])
        step = np.where(windows.rest[:, None], 0.0, -np.linalg.solve(own, right[..., None])[..., 0])
        trial = Point(point.vector, point.starts + step)
        states = problem.states(trial)
        missed = problem.residual(trial, states)
        # windows are independent, so each window keeps the better of its old and its new initial state
        better = np.nan_to_num((missed**2).sum(1), nan=np.inf) < (residual**2).sum(1)
        if not better.any():
            damping *= 10
            continue
        starts = np.where(better[:, None], trial.starts, point.starts)
        kept = Point(point.vector, starts)
        states = problem.states(kept)
        residual = problem.residual(kept, states)
        reached = problem.cost(kept, residual)
        done = reached > (1 - 1e-4) * cost
        best = (reached, kept, residual, states)
        if done:
            break
    cost, point, residual, _ = best
    return Fit(point, cost, residual)


def _step(problem: Problem, normal: Normal, point: Point, residual: np.ndarray, damping: float) -> Point:
    """Return a damped step. The second-order correction is added if it is small."""
    first = normal.solve(residual, damping)
    probe = problem.residual(moved(point, first, PROBE))
    if not np.isfinite(probe).all():
        return first
    curvature = 2 / PROBE * ((probe - residual) / PROBE - normal.along(first))
    second = normal.solve(curvature, damping, prior=False)
    size = np.linalg.norm(second.vector) / max(float(np.linalg.norm(first.vector)), 1e-300)
    return moved(first, second, 0.5) if size < MOST_BENT else first
