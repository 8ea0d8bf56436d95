"""Fit a model with feedback to stretches of any sampling rate. Dense stretches are thinned for the search."""

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

#: part of the time budget for the fit to thinned stretches
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
    """Fit linear modes with a static nonlinear feedback. The arguments are those of `fit.fit_feedback`.

    If the samples are dense, the structure and first parameters come from thinned stretches. Then the parameters are fitted to
    the original stretches, with the best hold of the input.
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
