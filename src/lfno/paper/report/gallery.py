"""All figures of the report with their captions: the figures of a data set, and the figures of the studies."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from lfno.core.errors import LfnoError
from lfno.paper.report.figures import curves, data, fields, overlays, poles, variants
from lfno.paper.report.selection import Runs
from lfno.plots.page import Picture
from lfno.plots.style import as_svg
from lfno.systems import REGISTRY

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@dataclass(frozen=True)
class Plate:
    """A figure to draw.

    draw: the function that draws the figure, or returns None if records are missing.
    command: the command that makes the missing records. For samples of a data set, the command that lists the data sets.
    """

    title: str
    caption: str
    draw: Callable[[], Figure | None]
    command: str


@dataclass(frozen=True)
class Drawn:
    """A plate with its picture. If `picture` is None, `missing` is the reason."""

    plate: Plate
    picture: Picture | None
    missing: str = ""


def task_plates(runs: Runs, task: str, preset: str) -> Iterator[Plate]:
    """Yield the figures of one data set for the runs of one preset."""
    own, command = runs.where(preset=preset), f"lfno reproduce --tasks {task} --preset {preset}"
    if REGISTRY[task].grid.ndim == 1:
        yield Plate(
            "Prediction",
            "One test sample: the input, the true output (broad grey line) with the predictions, and the errors in percent of "
            "the largest true value.",
            partial(overlays.overlay, own, task),
            command,
        )
        yield Plate(
            "Error over time",
            "Absolute error, mean over test samples and seeds, smoothed separately before and after the dashed line. Band: the "
            "range over seeds.",
            partial(curves.regime_curves, runs, [task], preset),
            command,
        )
        yield Plate(
            "Error against amplitude",
            "Relative L2 error of every test sample over the amplitude of its input, mean over seeds.",
            partial(curves.parameter_curves, runs, [task], preset),
            command,
        )
    else:
        yield Plate(
            "Prediction and error maps",
            "One test sample: truth, prediction, and |error| in percent of the largest true value. All error maps have one "
            "logarithmic scale.",
            partial(fields.field_errors, own, task),
            command,
        )
    yield from _parts(own, task, command)
    yield Plate(
        "Poles",
        "Circles: poles of the layers along the time axis; the area is the contribution of a pole. Crosses: eigenvalues of the "
        "equation linearised about its equilibrium, if they are known. The layers of a nonlinear network can have other poles "
        "than the equation.",
        partial(poles.pole_plane, own, task),
        command,
    )
    yield Plate(
        "Learning curves",
        "Dotted: training loss. Solid: validation loss. There is a line for each seed.",
        partial(curves.learning_curves, runs, [task], preset),
        command,
    )


def _parts(own: Runs, task: str, command: str) -> Iterator[Plate]:
    """Yield the figure of the transient and the steady part, if the system has a steady state."""
    entry = REGISTRY[task]
    if entry.system(**entry.parameters).unsettled:
        return
    if entry.grid.ndim == 1:
        words = "The transient and the steady part of LFNO's prediction on the same scale. Grey: the whole response."
        draw_parts = partial(overlays.decomposition, own, task)
    else:
        words = "The prediction of LFNO, its transient part and its steady part on the same scale."
        draw_parts = partial(fields.field_parts, own, task)
    if not task.endswith("-rich"):
        words += (
            " These parts are not physical: all training inputs have the same shape, so the data cannot show which part of the "
            "response belongs to the start."
        )
    yield Plate("Transient and steady part", words, draw_parts, command)


def data_plate(task: str) -> Plate:
    """Return the figure of some samples of a data set."""
    caption = "Samples of the data set: inputs on the left, solutions on the right."
    return Plate("Data", caption, partial(data.data_samples, [task]), "lfno systems")


def study_plates(runs: Runs) -> Iterator[Plate]:
    """Yield the figures of the studies."""
    yield Plate(
        "Ablation",
        "Test error of the default LFNO (first row, dashed line) and of variants that change one option. Mean and standard "
        "deviation over seeds.",
        partial(variants.variant_dots, runs, "ablation"),
        "lfno reproduce --study ablation",
    )
    yield Plate(
        "Transient and steady layers",
        "The paper's LFNO with six layers: number of transient + number of steady layers.",
        partial(variants.variant_dots, runs, "layers"),
        "lfno reproduce --study layers",
    )
    yield Plate(
        "Error against training samples",
        "Mean and standard deviation over seeds on the same test samples.",
        partial(curves.sample_curves, runs),
        "lfno reproduce --study samples",
    )


def draw(plate: Plate) -> Drawn:
    """Draw a plate and return the result. If drawing fails or records are missing, the result has a reason and no picture."""
    try:
        image = as_svg(plate.draw)
    except (LfnoError, ValueError, TypeError, KeyError, IndexError) as error:
        return Drawn(plate, None, f"could not be drawn: {error}")
    if image is None:
        return Drawn(plate, None, "not run yet")
    return Drawn(plate, Picture(image, plate.caption))
