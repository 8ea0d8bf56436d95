"""Fit a model with feedback to stretches of any sampling rate. The search uses fewer samples if the samples are very dense.

Words and symbols: see the docstring of `lfno.identification.feedback`.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import replace

from lfno.core.grid import Grid
from lfno.data.stretches import Stretch
from lfno.identification.feedback import fit
from lfno.identification.feedback.check import checked
from lfno.identification.feedback.hold import permitted
from lfno.identification.feedback.model import FeedbackModel
from lfno.identification.feedback.refit import refit, with_best_hold
from lfno.identification.feedback.thin import thinned, thinning
from lfno.identification.modal import ModalModel

#: part of the time budget for the fit to stretches with a reduced sampling rate
THINNED = 0.7


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
    """Return linear modes with a static nonlinear feedback. `fit.fit_feedback` has the same arguments and describes them.

    If the samples are dense, the structure and the first parameters come from stretches with a reduced sampling rate (see
    `thin`). Then the parameters are fitted to the original stretches, with the best hold of the input.
    """
    train = checked(train)
    factor = thinning(train)
    if factor == 1:
        return fit.fit_feedback(train, validation, grid, start=start, seconds=seconds, ahead=ahead, report=report)
    report(f"the samples are dense: the search uses one of {factor} samples, with averaged inputs")
    seconds = fit.SECONDS if seconds is None else seconds
    deadline = time.monotonic() + seconds
    few, held = ([thinned(stretch, factor) for stretch in part] for part in (train, validation))
    coarse = grid.change(grid.names[-1], size=-(-grid.shape[-1] // factor), step=factor * grid.steps[-1])
    model = fit.fit_feedback(few, held, coarse, start=start, seconds=THINNED * seconds, ahead=ahead, report=report)
    model = with_best_hold(replace(model, grid=grid), train, permitted(ahead))
    return refit(model, train, max(deadline - time.monotonic(), 1.0))
