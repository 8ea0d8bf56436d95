"""The initial state of a record that begins in motion, estimated from its first outputs.

The state x₀ minimises the squared error of the first outputs, plus a prior:

    Σ (y − ŷ(x₀))² / noise² + (x₀ − m)ᵀ P⁻¹ (x₀ − m)

y are the measured outputs, ŷ(x₀) are the simulated outputs, and `noise` is the rms of the residual on the training data. m and
P are the mean and the covariance of the states on the training data. Some modes have little influence on the first outputs.
Without the prior, a few noisy samples could give such a mode a large false amplitude.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from lfno.identification.feedback.hold import AFTER, pieces
from lfno.identification.feedback.model import FeedbackModel
from lfno.identification.feedback.sensitivity import state_sensitivities
from lfno.identification.feedback.simulate import simulate, substep_pieces

#: largest number of Gauss–Newton steps
MOST_STEPS = 30
#: relative decrease of the squared error below which the search stops
UNCHANGED = 1e-6
#: initial damping of the steps
DAMPING = 1e-3
#: damping above which the search stops
MOST_DAMPING = 1e6
#: smallest variance of a state in the prior, relative to the sum of the variances of all states
LEAST = 1e-6


def state_prior(model: FeedbackModel, inputs: Sequence[np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
    """Return the mean (n,) and the covariance (n, n) of the simulated states.

    inputs: training inputs, each (channels, time). The first tenth of each simulation is left out, because it starts at rest.
    """
    step = model.grid.steps[-1]
    found = [model.states(one[None], step)[one.shape[-1] // 10 :, 0] for one in inputs]
    states = np.concatenate(found)
    states = states[np.isfinite(states).all(1)]
    spread = np.atleast_2d(np.cov(states.T))
    return states.mean(0), spread + LEAST * max(float(np.trace(spread)), 1e-300) * np.eye(len(spread))


def observed_state(
    model: FeedbackModel, inputs: np.ndarray, outputs: np.ndarray, mean: np.ndarray, spread: np.ndarray
) -> np.ndarray:
    """Return the estimated state (n,) at the first sample; the mean of the prior if `outputs` has fewer than two samples.

    inputs: (channels, time), beginning with the same sample as the outputs.
    outputs: the measured outputs at the first samples, (outputs, samples).
    mean, spread: mean (n,) and covariance (n, n) of the prior, from `state_prior`.
    """
    few = outputs.shape[-1]
    if few < 2:
        return mean
    step, law = model.grid.steps[-1], model.law
    count = model.substeps(step)
    known = model.effective(inputs[None, :, : few + AFTER], step)
    forced = substep_pieces(np.moveaxis(pieces(known, step, model.hold), 2, 0)[: few - 1], step, count)
    noise = np.maximum(model.noise, 1e-300)
    white = np.linalg.cholesky(np.linalg.inv(spread)).T

    def missed(start: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        states = simulate(law, forced, step / count, start[None])
        error = (model.outputs(states[::count], inputs[None, :, :few])[0] - outputs) / noise[:, None]
        return np.concatenate([error.T.ravel(), white @ (start - mean)]), states

    start, damping = mean, DAMPING
    residual, states = missed(start)
    for _ in range(MOST_STEPS):
        moved = state_sensitivities(law, None, forced, step / count, states, count)[:, 0]
        seen = law.output_slopes(states[::count, 0]) @ moved
        slope = np.concatenate([(seen / noise[:, None]).reshape(-1, len(start)), white])
        normal, right = slope.T @ slope, slope.T @ residual
        before = float(residual @ residual)
        while damping < MOST_DAMPING:
            trial = start - np.linalg.solve(normal + damping * np.diag(np.diag(normal)), right)
            error, path = missed(trial)
            if float(error @ error) < before:
                break
            damping *= 6
        else:
            break
        start, residual, states, damping = trial, error, path, damping / 8
        if float(residual @ residual) > (1 - UNCHANGED) * before:
            break
    return start
