"""Fit the parameters of a model again to more data. The structure of the model does not change.

Words and symbols: see the docstring of `lfno.identification.feedback`.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from lfno.core.json_text import with_nan
from lfno.data.stretches import Stretch
from lfno.identification.feedback.candidate import Candidate
from lfno.identification.feedback.fit import FITTED, fitted_model, most_samples, spread
from lfno.identification.feedback.initial import signal_scales
from lfno.identification.feedback.law import Law
from lfno.identification.feedback.levenberg import minimise, settled
from lfno.identification.feedback.model import FeedbackModel
from lfno.identification.feedback.precision import actuator_units
from lfno.identification.feedback.problem import Point, Problem
from lfno.identification.feedback.windows import LENGTH, Scales, cut

#: length of a window in time constants of the slowest pole; the window must contain the slow motion
CONSTANTS = 5.0
#: largest length of a window in samples
LONGEST = 8000


@np.errstate(over="ignore", invalid="ignore")  # a step of the search may diverge; such a step is rejected
def refit(model: FeedbackModel, stretches: Sequence[Stretch], seconds: float) -> FeedbackModel:
    """Fit the parameters of a model to stretches, by least squares of the simulation error. Return the new model.

    If the model has slow poles, the windows are longer than in the search for a structure. If the fit diverges, the function
    returns the old model.

    stretches: the data, with the sampling step of `model.grid`.
    seconds: time budget of the fit.
    """
    deadline, step = time.monotonic() + seconds, model.grid.steps[-1]
    slowest = 1 / max(float(np.abs(model.law.poles.real).min()), 1e-300)
    length = int(np.clip(CONSTANTS * slowest / step, LENGTH, LONGEST))
    found = signal_scales(stretches)
    scales = replace(found, input_offset=model.input_offset, time=1 / float(np.abs(model.law.poles).max()))
    windows = cut(stretches, step, scales, model.hold, length, model.delays / step)
    windows = spread(windows, most_samples(model.law.states, model.parameters))
    law, substeps = scaled_law(model.law, scales), model.substeps(step)
    problem = Problem(windows, model.structure, law, substeps)
    start = np.zeros((len(windows), model.structure.states))
    before = settled(problem, Point(model.structure.pack(law), start))
    after = minimise(problem, before.point, 30, 1e-5, deadline)
    if not np.isfinite(after.cost):
        return model
    told = model.provenance["feedback"]
    errors = np.array([with_nan(told["validation error"]) ** 2])
    best = Candidate(
        told["label"], law, model.structure, model.hold, substeps, start, after.cost, errors,
        len(after.point.vector), tuple((model.delays / step).tolist()),
    )  # fmt: skip
    return fitted_model(after, best, windows, scales, model.grid)


@np.errstate(over="ignore", invalid="ignore")  # a law may diverge with another hold
def with_best_hold(model: FeedbackModel, stretches: Sequence[Stretch], holds: Sequence[str]) -> FeedbackModel:
    """Return the model with the hold, one of `holds`, that gives the smallest simulation error. The law does not change."""
    step, law = model.grid.steps[-1], model.law
    scales = replace(signal_scales(stretches), input_offset=model.input_offset, time=1 / float(np.abs(law.poles).max()))
    windows = spread(cut(stretches, step, scales, model.hold, delays=model.delays / step), FITTED)
    law = scaled_law(law, scales)
    point = Point(model.structure.pack(law), np.zeros((len(windows), law.states)))
    costs = {}
    for hold in holds:
        costs[hold] = settled(Problem(windows.held(hold), model.structure, law, model.substeps(step)), point).cost
    return replace(model, hold=min(costs, key=lambda hold: costs[hold]))


def scaled_law(law: Law, scales: Scales) -> Law:
    """Convert a law from the user's units to units of order one: the inverse of `precision.physical`."""
    time, inward, outward = scales.time, scales.input_scale, scales.output_scale
    return replace(
        law, poles=law.poles * time, drive=law.drive * (time * inward), gains=law.gains * time,
        read=law.read / outward[:, None], direct=law.direct / outward[:, None] * inward,
        offset=(law.offset - scales.output_offset) / outward,
        sensor=None if law.sensor is None else law.sensor / outward[:, None], **actuator_units(law, 1 / inward),
    )  # fmt: skip
