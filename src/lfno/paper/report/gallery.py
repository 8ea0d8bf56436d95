"""Every figure of the report with its caption: figures of a data set, and figures of the studies."""

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
    """A figure to draw: its title, its caption, the function that draws it, and the command that makes its records."""

    title: str
    caption: str
    draw: Callable[[], Figure | None]
    command: str


@dataclass(frozen=True)
class Drawn:
    """A plate after drawing: the picture, or the reason why there is none."""

    plate: Plate
    picture: Picture | None
    missing: str = ""


def task_plates(runs: Runs, task: str, preset: str) -> Iterator[Plate]:
    """Yield the figures of one data set for the runs of one preset."""
    own, command = runs.where(preset=preset), f"lfno reproduce --tasks {task} --preset {preset}"
    if REGISTRY[task].grid.ndim == 1:
        yield Plate(
            "Prediction",
            "One test sample: input, truth (broad grey) with predictions, and their errors in percent of the largest value.",
            partial(overlays.overlay, own, task),
            command,
        )
        yield Plate(
            "Error over time",
            "Absolute error, mean over test samples, smoothed in each regime; the band is the range over seeds.",
            partial(curves.regime_curves, runs, [task], preset),
            command,
        )
        yield Plate(
            "Error against amplitude",
            "Relative L2 error of every test sample over the amplitude of its forcing.",
            partial(curves.parameter_curves, runs, [task], preset),
            command,
        )
    else:
        yield Plate(
            "Prediction and error maps",
            "One test sample: truth, prediction, and |error| in percent of the largest value of the truth. All error maps have "
            "one logarithmic scale, so that models can be compared by eye.",
            partial(fields.field_errors, own, task),
            command,
        )
    yield from _parts(own, task, command)
    yield Plate(
        "Poles",
        "Poles of the layers along time, the area by contribution. Crosses: eigenvalues of the equation, linearised about its "
        "equilibrium, where they are known. Layers of a nonlinear network need not have the poles of the equation.",
        partial(poles.pole_plane, own, task),
        command,
    )
    yield Plate(
        "Learning curves",
        "Training loss dotted, validation loss solid; a line for each seed.",
        partial(curves.learning_curves, runs, [task], preset),
        command,
    )


def _parts(own: Runs, task: str, command: str) -> Iterator[Plate]:
    """Yield the figure of transient and steady part, if the system has a steady state."""
    entry = REGISTRY[task]
    if entry.system(**entry.parameters).unsettled:
        return
    if entry.grid.ndim == 1:
        words = "The two parts of LFNO's prediction, on one scale; the whole response in grey."
        draw_parts = partial(overlays.decomposition, own, task)
    else:
        words = "Prediction, transient part and steady part of LFNO on one scale."
        draw_parts = partial(fields.field_parts, own, task)
    if not task.endswith("-rich"):
        words += " This split is not physical: one shape of forcing cannot show what belongs to the start."
    yield Plate("Transient and steady part", words, draw_parts, command)


def data_plate(task: str) -> Plate:
    """Return the figure of the data set itself."""
    caption = "Members of the data set: inputs on the left, solutions on the right."
    return Plate("Data", caption, partial(data.data_samples, [task]), "lfno systems")


def study_plates(runs: Runs) -> Iterator[Plate]:
    """Yield the figures of the studies."""
    yield Plate(
        "Ablation",
        "Test error of the default LFNO (top, dashed) and of variants that differ from it in one thing; mean and standard "
        "deviation over seeds.",
        partial(variants.variant_dots, runs, "ablation"),
        "lfno reproduce --study ablation",
    )
    yield Plate(
        "Transient and steady layers",
        "Six layers shared out between the two branches of the paper's LFNO, transient + steady.",
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
    """Draw a plate. If its records do not fit together, the figure is left out and the report continues."""
    try:
        image = as_svg(plate.draw)
    except (LfnoError, ValueError, TypeError, KeyError, IndexError) as error:
        return Drawn(plate, None, f"could not be drawn: {error}")
    if image is None:
        return Drawn(plate, None, "not run yet")
    return Drawn(plate, Picture(image, plate.caption))
