"""A moving mass with dry friction, for example a positioning axis:

    y″ = b u − d y′ − k y − f sign(y′) + c.

y is the position, u is the input, and b is the gain of the input. d is the damping, k the stiffness, f the friction force, and
c a constant force, all divided by the mass. The axis of a drive has no spring (k = 0), so one of its poles is an integrator.
The search for linear modes does not find these equations, because it imitates the friction by many modes. Here, finite
differences of the output give a first estimate of all coefficients. A second difference with the step h is a weighted mean of
y″, with triangular weights over 2h:

    (y[k + 1] − 2 y[k] + y[k − 1]) / h² = mean of y″.

So the estimate needs no second derivative of noisy samples, only weighted means of u, y′ and sign(y′). The fit of the
simulation error then replaces sign by a steep tanh. The constant force c becomes the shift of the tanh.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from lfno.identification.feedback.candidate import Bench, Candidate, limits
from lfno.identification.feedback.families import Report, told
from lfno.identification.feedback.internal import modal
from lfno.identification.feedback.law import Law, split
from lfno.identification.feedback.structure import Structure
from lfno.identification.feedback.terms import Terms
from lfno.identification.feedback.windows import Windows

#: friction is tried if the error of the regression with the term sign(y′) is below this part of the error without it
NOTICEABLE = 0.9
#: lags, in samples, of the finite differences
LAGS = (1, 2, 4, 8)
#: smallest velocity of a sample in the regression, in units of the rms of the velocity
MOVING = 0.1
#: initial slope of the tanh, in units of 1 / rms of the velocity
STEEP = 30.0
#: largest |c| / f for the initial shift of the tanh
MOST_SHIFT = 0.95
#: time constant of an integrator, in lengths of the longest window
INTEGRATOR = 100.0


@dataclass(frozen=True)
class Axis:
    """Coefficients of the equation for one output, in the scaled units of the windows (`windows.Scales`).

    output: index of the output.
    drive: b, (inputs,).
    damping, stiffness, friction, constant: d, k, f and c.
    ratio: error of the regression with friction, relative to the error without friction.
    """

    output: int
    drive: np.ndarray
    damping: float
    stiffness: float
    friction: float
    constant: float
    ratio: float


def friction(bench: Bench, linear: Candidate, report: Report) -> list[Candidate]:
    """Return one candidate, a mass with dry friction, if a regression shows such friction.

    The result is an empty list if there are several outputs, if motions begin away from equilibrium, or if the regression finds
    no noticeable friction (NOTICEABLE) or no damping.

    bench: the windows of the fit.
    linear: a linear candidate, whose hold is used.
    report: a function that receives one line of text for the candidate.
    """
    if bench.train.targets.shape[2] != 1 or linear.structure.free_start:
        return []
    axis = min((regression(bench.train, 0, lag) for lag in LAGS), key=lambda one: one.ratio)
    if not (axis.ratio < NOTICEABLE and axis.friction > 0 and axis.damping > 0):
        return []
    law = initial_law(bench.train, axis, linear.law)
    structure = Structure(law.decays, len(law.poles) - law.decays, law.terms)
    best = bench.fit("mass with dry friction", law, structure, linear.hold, initial_states(bench.train, law))
    told(best, report)
    return [best]


def regression(windows: Windows, output: int, lag: int) -> Axis:
    """Return the least-squares estimate of the coefficients from finite differences over `lag` samples."""
    h, y = lag * windows.step, windows.targets[..., output]
    weights = 1 - np.abs(np.arange(1 - lag, lag)) / lag
    weights = weights / weights.sum()
    rate = (y[2 * lag :] - y[: -2 * lag]) / (2 * h)
    bend = (y[2 * lag :] - 2 * y[lag:-lag] + y[: -2 * lag]) / h**2
    force = np.stack([averaged(windows.inputs[..., n], weights)[1:-1] for n in range(windows.inputs.shape[2])], axis=-1)
    seen = windows.weights[..., output]
    good = (seen[2 * lag :] * seen[lag:-lag] * seen[: -2 * lag]) > 0
    good &= np.abs(rate) > MOVING * np.sqrt((rate[good] ** 2).mean())  # at rest, friction takes any value between −f and f
    fixed = [*np.moveaxis(force, -1, 0), rate, y[lag:-lag], np.ones_like(rate)]
    without = np.stack([value[good] for value in fixed], axis=1)
    matrix = np.concatenate([without, np.sign(rate[good])[:, None]], axis=1)
    target = bend[good]
    errors = []
    for table in (without, matrix):
        size = np.linalg.norm(table, axis=0)
        size[size == 0] = 1.0
        found = np.linalg.lstsq(table / size, target, rcond=1e-10)[0] / size
        errors.append(float(np.linalg.norm(table @ found - target)))
    inputs = force.shape[-1]
    slope, spring, constant, dry = found[inputs:]
    return Axis(output, found[:inputs], -slope, max(-spring, 0.0), -dry, constant, errors[1] / max(errors[0], 1e-300))


def averaged(values: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Return weighted means of values (time, windows) over neighbouring times, (time − weights + 1, windows)."""
    size = len(weights)
    return np.asarray(sum(weight * values[n : len(values) - size + 1 + n] for n, weight in enumerate(weights)))


def initial_law(windows: Windows, axis: Axis, like: Law) -> Law:
    """Return the equations of an axis as a `Law`, the arrays of a model in modal coordinates.

    like: a law with the same inputs and outputs.
    """
    slowest = 1 / (INTEGRATOR * len(windows.inputs) * windows.step)
    stiffness = max(axis.stiffness, slowest * axis.damping)
    matrix = np.array([[0.0, 1.0], [-stiffness, -axis.damping]])
    # friction acts like one more force: the last column is its effect on position and velocity
    inward = np.stack([np.zeros(len(axis.drive) + 1), np.append(axis.drive, -axis.friction)])
    poles, drive, rows = modal(matrix, inward, np.eye(2))
    decays = int((poles.imag == 0).sum())
    gains = split(drive[:, -1:].T, decays).T
    velocity = np.diff(windows.targets[..., axis.output], axis=0) / windows.step
    size = float(np.sqrt((velocity**2).mean())) or 1.0
    shift = float(np.arctanh(np.clip(axis.constant / axis.friction, -MOST_SHIFT, MOST_SHIFT)))
    terms = Terms(1, units=1)
    return Law(
        poles, drive[:, :-1], gains, rows[1:] / size, np.array([STEEP, shift]), rows[:1], np.zeros_like(like.direct),
        np.zeros(1), np.zeros(2), limits(np.ones((1, 1)), terms), terms,
    )  # fmt: skip


def initial_states(windows: Windows, law: Law) -> np.ndarray:
    """Return initial states (windows, n) with the measured position and velocity."""
    y = windows.targets[..., 0]
    few = min(8, len(y) - 1)
    rate = (y[few] - y[0]) / (few * windows.step)
    velocity = np.sqrt(((np.diff(y, axis=0) / windows.step) ** 2).mean()) or 1.0
    return np.linalg.solve(np.concatenate([law.read, law.pick * velocity]), np.stack([y[0], rate])).T
