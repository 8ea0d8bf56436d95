"""Fit a model with feedback to stretches, which are uninterrupted pieces of records.

Words and symbols: see the docstring of `lfno.identification.feedback`.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cache

import numpy as np

from lfno.core.errors import LfnoError
from lfno.core.grid import Grid
from lfno.data.stretches import REST, Stretch
from lfno.identification.feedback.actuator import actuators
from lfno.identification.feedback.candidate import FINE, MOST_WORSE, Bench, Candidate, choose, limits, substeps_needed
from lfno.identification.feedback.check import check_explained, check_signals, checked
from lfno.identification.feedback.hold import permitted
from lfno.identification.feedback.initial import likely_hold, linear_problem, mode_path, resting_input, signal_scales
from lfno.identification.feedback.levenberg import Fit, minimise, settled
from lfno.identification.feedback.model import FeedbackModel
from lfno.identification.feedback.plant import Plant
from lfno.identification.feedback.precision import parameter_covariance, physical
from lfno.identification.feedback.problem import Point, Problem
from lfno.identification.feedback.search import search
from lfno.identification.feedback.windows import Scales, Windows, cut
from lfno.identification.modal import ModalModel

#: largest number of modes
MOST_MODES = 4
#: approximate number of training samples in the search for a structure
SEARCHED = 10_000
#: approximate number of validation samples in the search for a structure
VALIDATED = 10_000
#: largest number of samples in the last fit
FITTED = 60_000
#: largest number of derivatives (samples × states × columns) in the last fit; they take 0.8 GB of memory
DERIVATIVES = 100_000_000
#: part of the windows that the search may use; the windows with the strongest motion are left out, because they would dominate
#: the fit of linear models
STRONGEST = 0.9
#: part of the time budget for the search for a structure
SEARCHING = 0.6
#: part of the time of this search for curved actuators; the rest is for all other structures
ACTUATED = 0.35
#: largest integration error in the last fit, relative to residual × √(parameters / samples), the effect of noise on a fit
UNBIASED = 0.3
#: default time budget in seconds
SECONDS = 60.0


@np.errstate(over="ignore", invalid="ignore")  # a step of the search may diverge; such a step is rejected
def fit_feedback(
    train: Sequence[Stretch],
    validation: Sequence[Stretch],
    grid: Grid,
    *,
    start: ModalModel | None = None,
    seconds: float | None = None,
    ahead: bool = False,
    report: Callable[[str], None] = lambda text: None,
) -> FeedbackModel:
    """Return linear modes with a static nonlinear feedback, fitted by least squares of the simulation error.

    train: training stretches; all have the sampling step of the grid.
    validation: validation stretches, for the choice of the number of modes, the nonlinear signal and the terms. Without them, a
        fifth of the training windows is used for validation.
    grid: the grid of the data; its last axis is time.
    start: a linear model, whose poles are tried first.
    seconds: time budget of the fit, by default SECONDS.
    ahead: whether the interpolation of the input between two samples may use two later samples. Such a model is more accurate
        for band-limited inputs, but it cannot run sample by sample.
    report: a function that receives one line of text for every choice.

    Raises LfnoError for data that cannot be fitted (see `check`), and if the inputs explain almost nothing of the outputs.

    >>> from lfno.systems.duffing import Duffing
    >>> size = np.array([[0.5], [1.0], [2.0]])
    >>> motion = Duffing(c=0.5).solve(lambda t: size * np.sin(t), Grid.line(500, 0.05))
    >>> force = size * np.sin(0.05 * np.arange(500))
    >>> data = [Stretch(u[None], y, start="rest") for u, y in zip(force, motion)]
    >>> model = fit_feedback(data, data[1:2], Grid.line(500, 0.05))
    >>> model.law.terms.names, model.law.poles.round(3)
    (['z^3'], array([-0.25+0.968j]))
    """
    began = time.monotonic()
    seconds = SECONDS if seconds is None else seconds
    step = grid.steps[-1]
    train, validation = checked(train), list(validation)
    check_signals([*train, *validation])
    scales = signal_scales(train)
    resting = resting_input(train, step, scales)
    if np.any(resting != scales.input_offset):
        scales = replace(scales, input_offset=resting)
        report("motions begin at rest under the mean of the input, not under zero")
    free = all(stretch.start == REST for stretch in train) and starts_elsewhere(train, scales)
    if free:
        scales = replace(scales, output_offset=late_levels(train).mean(0))
        report("motions begin away from their later level: the initial state is fitted")
    problem = linear_problem(train, step, scales, free)
    known = None if start is None else start.modes.poles
    first = next(mode_path(problem, 1, known))
    scales = replace(scales, time=1 / float(np.abs(first.poles).max()))
    windows, held = windows_of(train, validation, step, scales)
    bench = Bench(spread(windows, SEARCHED, STRONGEST), spread(held, VALIDATED), began + SEARCHING * seconds, permitted(ahead))
    path = mode_path(problem, MOST_MODES, known)

    def actuated() -> tuple[list[Candidate], bool]:
        now = time.monotonic()
        short = replace(bench, deadline=now + ACTUATED * (bench.deadline - now))

        @cache
        def benches(delays: tuple[float, ...]) -> Bench:
            windows, held = windows_of(train, validation, step, scales, np.array(delays))
            return replace(short, train=spread(windows, SEARCHED), validation=spread(held, VALIDATED), delays=delays)

        found = actuators(Plant(train, step, scales), lambda delays: benches(tuple(delays.tolist())), scales.time, report)
        best = choose(found) if found else None
        return found, best is not None and replace(benches(best.delays), deadline=bench.deadline).finished(best)

    best = search(bench, path, scales.time, free, likely_hold(train), report, actuated)
    check_explained(best.errors, bench.validation.targets, bench.validation.weights)
    if best.delays:
        windows = windows_of(train, validation, step, scales, np.array(best.delays))[0]
    windows = spread(windows, most_samples(best.law.states, best.size))
    best, final = refined(best, windows, bench, began + seconds)
    report(f"chosen: {best.label}, {best.size} parameters, {best.law.states} states, hold {best.hold}, "
           f"{best.substeps} sub-steps, validation error {best.error:.3g}")  # fmt: skip
    return fitted_model(final, best, windows, scales, grid)


def windows_of(
    train: Sequence[Stretch], validation: Sequence[Stretch], step: float, scales: Scales, delays: np.ndarray | None = None
) -> tuple[Windows, Windows]:
    """Return the training and the validation windows.

    Without validation stretches, every fifth training window, or at least one, is used for validation.

    delays: dead time of each input in samples; None for no dead times.
    """
    windows = cut(train, step, scales, "linear", delays=delays)
    if validation:
        return windows, cut(validation, step, scales, "linear", delays=delays)
    if len(windows) < 2:
        windows = cut(train, step, scales, "linear", max(len(windows.inputs) // 5, 64), delays)
    if len(windows) < 2:
        raise LfnoError("the training data are a single window and cannot be divided for the validation: give validation data")
    held = np.arange(len(windows)) % 5 == min(4, len(windows) - 1)
    return windows.chosen(np.flatnonzero(~held)), windows.chosen(np.flatnonzero(held))


def spread(windows: Windows, samples: int, strongest: float = 1.0) -> Windows:
    """Choose windows with about `samples` samples in all.

    The windows are sorted by the strength of their motion. The chosen windows have equal distances in this order.

    strongest: part of the windows, beginning with the weakest motion, from which windows are chosen.
    """
    order = np.argsort((windows.targets**2).sum((0, 2)), kind="stable")
    order = order[: len(windows) - int((1 - strongest) * len(windows) + 1e-9)]  # of a few windows, none is left out
    count = int(np.clip(samples // max(windows.samples // len(windows), 1), 1, len(order)))
    chosen = len(order) - 1 - np.linspace(0, len(order) - 1, count).round().astype(int)
    return windows.chosen(np.sort(order[chosen]))


def most_samples(states: int, parameters: int) -> int:
    """Return the number of samples for the last fit of a model with so many states and parameters."""
    return min(FITTED, DERIVATIVES // (states * (states + parameters)))


def starts_elsewhere(stretches: Sequence[Stretch], scales: Scales) -> bool:
    """Return whether stretches "from rest" begin away from equilibrium: their late outputs differ from their first outputs."""
    gap = (late_levels(stretches) - scales.output_offset) / scales.output_scale
    return bool((np.abs(gap.mean(0)) > 4 * gap.std(0) / np.sqrt(len(gap)) + 0.05).any())


def late_levels(stretches: Sequence[Stretch]) -> np.ndarray:
    """Return the mean of the outputs over the last quarter of each stretch, (stretches, outputs)."""
    return np.stack([stretch.outputs[:, -(len(stretch) // 4) :].mean(1) for stretch in stretches])


def refined(best: Candidate, windows: Windows, bench: Bench, deadline: float) -> tuple[Candidate, Fit]:
    """Fit the candidate to `windows`. Return the candidate with its number of sub-steps, and the fit.

    The old parameters are kept if the mean squared validation error rises by more than the factor MOST_WORSE. The number of
    sub-steps is so large that the integration error changes the parameters less than the noise does.
    """
    windows = windows.held(best.hold)
    problem = Problem(windows, best.structure, best.law, best.substeps)
    point = Point(best.structure.pack(best.law), np.zeros((len(windows), best.structure.states)))
    before = settled(problem, point)
    fine = UNBIASED * np.sqrt(best.size / max(windows.samples, 1))
    best = replace(best, substeps=substeps_needed(problem, before.point, before.cost, min(fine, FINE)))
    if best.substeps > problem.substeps:
        problem = replace(problem, substeps=best.substeps)
        before = settled(problem, before.point)
    after = minimise(problem, before.point, 30, 1e-5, deadline)
    reached = bench.validate(problem.law(after.point), best.structure, best.hold, best.substeps).mean()
    return best, after if reached <= MOST_WORSE * best.errors.mean() else before


def fitted_model(final: Fit, best: Candidate, windows: Windows, scales: Scales, grid: Grid) -> FeedbackModel:
    """Return the fitted law in the user's units, with the covariance of its parameters and the rms of the residual."""
    problem = Problem(windows.held(best.hold), best.structure, best.law, best.substeps)
    law, states = problem.law(final.point), problem.states(final.point)
    z = law.signals(states, problem.inputs).reshape(-1, len(law.pick))
    visited = np.stack([z.min(0), z.max(0)], axis=1)
    law = replace(law, limits=limits(z, law.terms))
    covariance = parameter_covariance(problem, final.point, states, final.residual)
    law, covariance = physical(law, best.structure, covariance, scales)
    rows = windows.weights.size // len(windows)
    errors = final.residual[:, :rows].reshape(len(windows), -1, windows.weights.shape[2])
    noise = np.sqrt((errors**2).sum((0, 1)) / np.maximum(windows.weights.sum((0, 1)), 1)) * scales.output_scale
    told = {"feedback": {"label": best.label, "terms": law.terms.names, "validation error": best.error}}
    span = grid.steps[-1] / best.substeps
    return FeedbackModel(
        law, best.structure, scales.input_offset, grid, best.hold, span, visited, covariance, noise, told,
        grid.steps[-1] * np.array(best.delays or np.zeros(len(scales.input_scale))),
    )  # fmt: skip
