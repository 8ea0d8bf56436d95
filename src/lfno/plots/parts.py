"""The first figure on the page about a fitted model: input, measured and predicted output, transient and steady part."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from lfno.core.errors import LfnoError
from lfno.core.grid import with_unit
from lfno.data.stretches import PERIODIC, SAMPLE_START
from lfno.evaluation.caveat import lasting_caveat
from lfno.identification.mode import Mode
from lfno.plots.answers import PARTS, answers_figure
from lfno.plots.compared import Compared
from lfno.plots.fit_figures import LINEAR_MODEL, cut
from lfno.plots.page import Picture, Section
from lfno.plots.style import as_svg

if TYPE_CHECKING:
    from lfno.surrogate import Surrogate


def parts_of_test(model: Surrogate, count: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the transient and the steady part of the first `count` test samples, each (samples, channels, *grid).

    The steady part is the response to the input of the sample repeated for ever. The transient part is the rest of the scored
    prediction (`fitted.contest`). A model with memory also gets the inputs before the sample, so the transient part contains
    the motion from these inputs. If the test data are one record, the parts begin after its warm-up; `samples` is then 1.

    Raises:
        LfnoError: The model has no split.
    """
    assert model.fitted is not None
    assert model.fitted.contest is not None
    prepared, prediction = model.fitted.prepared, model.fitted.contest.prediction[:count]
    if prepared.test is None:
        steady = model.decompose(prepared.dataset[prepared.split.test[:count]], warn=False)[1]
    else:
        steady = model.decompose(prepared.test, warn=False)[1][None, ..., prepared.warmup :]
    steady = steady[..., : prediction.shape[-1]]
    return prediction - steady, steady


def overview(model: Surrogate, compared: Compared, modes: Sequence[Mode]) -> tuple[Section, bool]:
    """Return the section with the figure of the first input and one output, and whether the model has a split.

    The output is the first one that was measured in the first test sample.

    The figure of a model without a split into transient and steady part has no parts, and the section has a warning instead.
    The model must predict signals over time, not fields.

    Args:
        model: The model.
        compared: The signals of the test data.
        modes: The modes of the model.
    """
    assert model.fitted is not None
    assert compared.inputs is not None
    prepared, step, unit = model.fitted.prepared, compared.axis.step, compared.axis.unit
    steps = cut(compared.scored(0))[0]
    measured = np.isfinite(compared.measured[0, :, steps]).any(-1)
    output = int(measured.argmax())
    place = (0, output, steps)
    times = compared.times(0, steps)
    axis = replace(compared.axis, size=len(times), origin=float(times[0]))
    channel = (model.signals.inputs or [("input", "")])[0]
    answers = {compared.label: compared.prediction[place], LINEAR_MODEL: compared.linear[place]}
    parts: dict[str, tuple[np.ndarray, np.ndarray | None]] = {}
    caption = (
        f"Test data that the fit did not use, from {times[0]:.4g} to {times[-1]:.4g} {unit}. The broad grey line is the "
        "measurement."
    )
    warning, splits = model.split_caveat, True
    periodic = prepared.dataset.provenance.get(SAMPLE_START) == PERIODIC
    try:
        split = dict(zip(PARTS, parts_of_test(model, 1), strict=True))
        warning = warning or lasting_caveat(split["transient"], compared.measured[:1])
        if periodic:
            caption += (
                " The test data are periods of a steady state: the prediction is the steady part, and there is no transient "
                "part."
            )
        else:
            parts = {name: (values[place], None) for name, values in split.items()}
            share = np.sqrt(np.mean(split["transient"][place] ** 2) / np.nanmean(compared.measured[place] ** 2))
            caption += (
                " The steady part is the response to this input repeated for ever. The transient part is the rest; its RMS in "
                f"the figure is {100 * share:.3g} % of the RMS of the measurement."
            )
            warm = steps.start + (prepared.warmup if prepared.test is not None else 0)
            # only in a linear model, the transient part of every response decays with the time constants of the modes
            caption += left_out(warm * step, unit, modes if model.linear else [])
    except LfnoError as error:
        warning, splits = f"There is no split into transient and steady part: {error}.", False
    draw = partial(
        answers_figure, axis, (with_unit(*channel), compared.inputs[0, 0, steps]),
        (compared.outputs[output], compared.measured[place]), answers, parts, measured="measured",
    )  # fmt: skip
    picture = Picture(as_svg(draw), caption, as_svg(partial(draw, narrow=True)))
    return Section("", pictures=[picture], warning=warning), splits


def left_out(warmup: float, unit: str, modes: Sequence[Mode]) -> str:
    """Return a sentence on the warm-up before the figure, and on the decay of the slowest mode during it; "" without warm-up.

    A mode with the time constant τ decays to exp(−warmup/τ) of its first value.

    Args:
        warmup: The duration of the warm-up.
        unit: The unit of time.
        modes: The modes of a linear model; empty for other models.
    """
    if not warmup:
        return ""
    words = f" The warm-up of {warmup:.3g} {unit} before the figure is left out, because it is not scored."
    if not modes:
        return words
    slowest = max(modes, key=lambda mode: mode.time_constant if mode.time_constant > 0 else math.inf).time_constant
    if not 0 < slowest < math.inf:
        return f"{words} A mode of the model does not decay, so the transient part does not fade."
    share = math.exp(-warmup / slowest)
    figure = f"{100 * share:.2g} %" if share >= 0.01 else "less than 1 %"
    return f"{words} During the warm-up, the slowest mode of the model (time constant {slowest:.3g} {unit}) decays to {figure}."
