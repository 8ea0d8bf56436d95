"""The first figure on the page about a fitted model: input, measured and predicted output, transient and steady part."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from lfno.core.errors import LfnoError
from lfno.core.grid import with_unit
from lfno.evaluation.caveat import lasting_caveat
from lfno.plots.answers import PARTS, answers_figure
from lfno.plots.fit_figures import LONGEST
from lfno.plots.page import Picture, Section
from lfno.plots.style import as_svg

if TYPE_CHECKING:
    from lfno.surrogate import Surrogate
    from lfno.surrogate.contest import Contest


def parts_of_test(model: Surrogate, count: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the transient and the steady part of the first `count` test samples, each (samples, channels, *grid).

    If the test data are one record, return the parts of this record without its warm-up; `samples` is then 1.

    Raises:
        LfnoError: The model has no split.
    """
    assert model.fitted is not None
    prepared = model.fitted.prepared
    if prepared.test is None:
        return model.decompose(prepared.dataset[prepared.split.test[:count]], warn=False)
    transient, steady = model.decompose(prepared.test, warn=False)
    return transient[None, ..., prepared.warmup :], steady[None, ..., prepared.warmup :]


def overview(model: Surrogate, contest: Contest, label: str) -> tuple[Section, bool]:
    """Return the section with the figure of the first input and the first output, and whether the figure has parts.

    The figure of a model without a split into transient and steady part has no parts, and the section has a warning instead.
    The model must predict signals over time, not fields. label: the name of the model in the legend.
    """
    size = min(LONGEST, contest.truth.shape[-1])
    axis = model.grid.change(model.grid.names[-1], size=size).axes[-1]
    channel = (model.signals.inputs or [("input", "")])[0]
    truth = contest.truth if contest.mask is None else np.where(contest.mask, contest.truth, np.nan)
    answers = {label: contest.prediction[0, 0, :size], "linear baseline": contest.linear[0, 0, :size]}
    parts: dict[str, tuple[np.ndarray, np.ndarray | None]] = {}
    caption = f"The first {axis.length:.4g} {axis.unit} of the test data. The broad grey line is the measurement."
    warning = model.split_caveat
    try:
        split = dict(zip(PARTS, parts_of_test(model, 1), strict=True))
        parts = {name: (values[0, 0, :size], None) for name, values in split.items()}
        warning = warning or lasting_caveat(split["transient"], truth[:1])
        caption += " The steady part is the response to this input repeated for ever. The transient part is the rest."
        if warm := model.fitted.prepared.warmup:  # type: ignore[union-attr]
            caption += (
                f" The figure begins {warm * axis.step:.3g} {axis.unit} after the start of the record. By then, most of the "
                "transient part has decayed."
            )
    except LfnoError as error:
        warning = f"There is no split into transient and steady part: {error}."
    draw = partial(
        answers_figure, axis, (with_unit(*channel), contest.inputs[0, 0, :size]),
        (contest.outputs[0], truth[0, 0, :size]), answers, parts, measured="measured",
    )  # fmt: skip
    picture = Picture(as_svg(draw), caption, as_svg(partial(draw, narrow=True)))
    return Section("", pictures=[picture], warning=warning), bool(parts)
