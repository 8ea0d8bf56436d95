"""95 % intervals of a model with feedback contain the true values in 95 % of simulated records."""

import numpy as np
import pytest

from lfno.core.grid import Grid
from lfno.identification.feedback import FeedbackModel
from lfno.identification.feedback.candidate import Bench, Candidate, extended
from lfno.identification.feedback.fit import fitted_model
from lfno.identification.feedback.initial import LINEAR, linear_law, linear_problem, mode_path, signal_scales
from lfno.identification.feedback.levenberg import minimise
from lfno.identification.feedback.problem import Point, Problem
from lfno.identification.feedback.structure import Structure
from lfno.identification.feedback.terms import Terms
from lfno.identification.feedback.windows import Scales, cut
from tests.identification.feedback.systems import duffing, multisines, solved, stretches

#: number of simulated records
RECORDS = 200
#: number of trajectories in a record; each trajectory starts from rest
MOTIONS = 4
#: number of samples in a trajectory
SIZE = 300
#: sampling step in seconds
STEP = 0.2
#: the pole of ẍ + 0.5 ẋ + x = 0 with Im > 0
TRUTH = np.roots([1, 0.5, 1])[0]
NORMAL_95 = 1.96
#: indices of the points at which the characteristic is compared; the points cover the range of z in the training data
PLACES = [1, 3, 5, 7, 9]


def records() -> tuple[np.ndarray, np.ndarray]:
    """Return forces (trajectories, time) and displacements (trajectories, 1, time) without noise.

    All records have the same forces and displacements; only the noise differs.
    """
    force = multisines(MOTIONS, SIZE, STEP, 2.5, 0)
    return force, solved(duffing, np.zeros((MOTIONS, 2)), force, STEP)[:, :1]


def first_fit() -> tuple[Candidate, Scales]:
    """Return a candidate with a cubic term, fitted to a record without noise, and the scales of its signals.

    The candidate is the initialisation of the fits to records with noise.
    """
    data = stretches(*records())
    scales = signal_scales(data)
    modes = next(mode_path(linear_problem(data, STEP, scales), 1))
    law, windows = linear_law(modes, 1, 1.0), cut(data, STEP, scales, "linear")
    bench, structure = Bench(windows, windows), Structure(0, 1, LINEAR)
    linear = bench.fit("linear", law, structure, "linear")
    terms, row = Terms(1, powers=((3,),)), linear.law.read
    started = extended(linear.law, terms, row, bench.trajectory(linear) @ row.T)
    return bench.fit("cubic", started, Structure(0, 1, terms), "linear", substeps=2), scales


def fitted(best: Candidate, scales: Scales, seed: int) -> FeedbackModel:
    """Return the model that is fitted to one record with noise."""
    windows = cut(stretches(*records(), 0.02, 100 + seed), STEP, scales, "linear")
    problem = Problem(windows, best.structure, best.law, best.substeps)
    final = minimise(problem, Point(best.structure.pack(best.law), np.zeros((MOTIONS, 2))), 20, 1e-6)
    return fitted_model(final, best, windows, scales, Grid.line(SIZE, STEP))


@pytest.mark.long
def test_intervals_cover_the_truth() -> None:
    best, scales = first_fit()
    poles, curves = [], []
    for seed in range(RECORDS):
        model = fitted(best, scales, seed)
        modes = model.small_signal_modes()
        width, gap = np.sqrt(np.diag(modes.covariance[0])), modes.poles[0] - TRUTH
        poles.append([abs(gap.real) < NORMAL_95 * width[0], abs(gap.imag) < NORMAL_95 * width[1]])
        z, _, lower, upper = model.characteristic(11)
        curves.append((lower < z + z**3)[PLACES] & (z + z**3 < upper)[PLACES])
    assert np.all(np.abs(np.mean(poles, axis=0) - 0.95) <= 0.03)
    assert abs(np.mean(curves) - 0.95) <= 0.03  # mean over all points: a single point has a standard error of 1.5 %
