"""Every figure of the report, in order, with its caption and the command that makes what it needs."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from lfno.core.errors import LfnoError
from lfno.paper.report.figures import curves, data, fields, overlays, poles, variants
from lfno.paper.report.selection import Runs
from lfno.plots.style import as_data_uri, as_png
from lfno.systems import titles

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@dataclass(frozen=True)
class Plate:
    """A figure to draw: its title, what is seen on it, what makes it, and what to run where that finds nothing."""

    title: str
    caption: str
    draw: Callable[[], Figure | None]
    command: str


@dataclass(frozen=True)
class Picture:
    """A figure as it is shown: `uri` holds the image itself, or `missing` says why there is none."""

    title: str
    caption: str
    uri: str
    missing: str
    command: str


def plates(runs: Runs) -> Iterator[Plate]:
    """The paper's figures first, then what the decomposition and the poles add."""
    odes, pdes = "lfno reproduce --tasks ode", "lfno reproduce --tasks pde"
    presets = runs.main.presets or ["paper"]
    for preset in presets:
        own = runs.where(preset=preset)
        tag = f", {preset} preset"
        yield Plate(
            f"ODE predictions{tag}",
            "One test sample of each ODE. Left: LFNO and FNO over the truth; right: LFNO and LNO. "
            "Below: their errors, in percent of the largest value.",
            partial(overlays.overlays, own),
            odes,
        )
        yield Plate(
            f"Learning curves, ODEs{tag}",
            "Training loss dotted, validation loss solid; a line for each seed.",
            partial(curves.learning_curves, runs, titles.ODES, preset),
            odes,
        )
        yield Plate(
            f"Error over time{tag}",
            "Absolute error, mean over test samples, smoothed in each regime; the band is the range over seeds.",
            partial(curves.regime_curves, runs, preset),
            odes,
        )
        yield Plate(
            f"Error against amplitude{tag}",
            "Relative L2 error of every test sample. The step of Lorenz ρ = 10 is where the final x changes sign.",
            partial(curves.parameter_curves, runs, titles.ODES, preset),
            odes,
        )
        yield Plate(
            f"Decomposition, ODEs{tag}",
            "LFNO's prediction is the sum of its transient and its steady part.",
            partial(overlays.decompositions, own),
            odes,
        )
        yield Plate(
            f"PDE predictions{tag}",
            "One test sample of each PDE; the colours of a row are those of its truth.",
            partial(fields.field_grid, own),
            pdes,
        )
        yield Plate(
            f"Learning curves, PDEs{tag}",
            "Training loss dotted, validation loss solid; a line for each seed.",
            partial(curves.learning_curves, runs, titles.PDES, preset),
            pdes,
        )
        yield from _each_field(runs, preset)
        yield Plate(
            f"Decomposition, PDEs{tag}",
            "Prediction, transient part and steady part of LFNO on one scale.",
            partial(fields.field_parts, own),
            pdes,
        )
    yield Plate(
        "Poles",
        "Poles of trained LFNOs, the most contributing of each; left of zero is decay, height is frequency. "
        "They are those that a run kept, else those of the model that comes with the package.",
        partial(poles.pole_planes, runs.where(preset="default") if "default" in presets else runs),
        "lfno reproduce --preset default",
    )
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
    yield Plate(
        "Data: ODEs",
        "Both ends of each family and its middle, the weakest forcing darkest: A = 0.05, 5.02, 10.",
        partial(data.data_samples, titles.ODES),
        "lfno systems",
    )
    yield Plate(
        "Data: PDEs",
        "The middle member of each family; for flows the state at the start and at the end.",
        partial(data.data_samples, titles.PDES),
        "lfno systems",
    )


def _each_field(runs: Runs, preset: str) -> Iterator[Plate]:
    own = runs.where(preset=preset)
    for task, name in titles.PDES.items():
        if len(own.main.where(task=task)):
            yield Plate(
                f"{name}, {preset} preset",
                "Truth, prediction, and prediction against truth at the points of one test sample, for each model.",
                partial(fields.field_rows, own, task),
                f"lfno reproduce --tasks {task}",
            )


def picture(plate: Plate) -> Picture:
    """Draw a plate; records that do not fit together cost their figure, not the page."""
    try:
        image = as_png(plate.draw)
    except (LfnoError, ValueError, TypeError, KeyError, IndexError) as error:
        return Picture(plate.title, plate.caption, "", f"could not be drawn: {error}", plate.command)
    if image is None:
        return Picture(plate.title, plate.caption, "", "not run yet", plate.command)
    return Picture(plate.title, plate.caption, as_data_uri(image), "", plate.command)
