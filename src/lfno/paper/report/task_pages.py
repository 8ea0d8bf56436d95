"""The page of a data set: its errors and its figures. Figures of the paper preset are shown after a click on their title."""

from __future__ import annotations

import math

from lfno.paper.report import paper
from lfno.paper.report.baselines import NAMES, Scores
from lfno.paper.report.gallery import Plate, data_plate, draw, task_plates
from lfno.paper.report.headline import compared
from lfno.paper.report.selection import Runs
from lfno.paper.report.tables import DASH, number, show
from lfno.paper.report.times import duration
from lfno.plots.page import Page, Section, Table, Tile
from lfno.systems import REGISTRY, titles

FIRST = "default"  # preset of the page; figures of other presets are shown after a click
#: baseline or model -> its name on a tile
TILES = {"LFNO": "LFNO", "FNO": "FNO", "linear": "linear baseline", "interpolation": "interpolation"}


def task_page(runs: Runs, baselines: dict[str, Scores], task: str) -> Page:
    """Return the page of a data set."""
    own = runs.main.where(task=task)
    presets = sorted(own.presets, key=lambda preset: preset != FIRST)
    shown = runs.main.where(preset=presets[0])
    sections = [
        *_figures(list(task_plates(runs, task, presets[0]))),
        Section("All errors", tables=[_errors(own, baselines.get(task, {}), task)]),
        *_figures([data_plate(task)]),
    ]
    for preset in presets[1:]:
        sections += _figures(list(task_plates(runs, task, preset)), f", {preset} preset", folded=True)
    return Page(titles.title(task), _lead(task, presets[0]), sections, tiles=_tiles(shown, baselines, task))


def _lead(task: str, preset: str) -> list[str]:
    """Return the first sentences: the equation, the number of samples and the grid; [] if the data set is not built in."""
    entry = REGISTRY.get(task)
    if entry is None:
        return []
    values = ", ".join(f"{name} = {value:g}" for name, value in entry.parameters.items() if isinstance(value, (int, float)))
    equation = f"{entry.system.equation}{f' with {values}' if values else ''}."
    grid = " × ".join(map(str, entry.grid.shape))
    return [equation, f"{entry.count} samples on {grid} points. The figures show the {preset} preset."]


def _tiles(runs: Runs, baselines: dict[str, Scores], task: str) -> list[Tile]:
    """Return the tiles with the errors of networks and baselines."""
    errors = compared(runs, baselines, task)
    own, tiles = errors.get("LFNO"), []
    for name, words in TILES.items():
        value = errors.get(name)
        if value is None:
            note = "not possible: no single parameter describes a sample" if name == "interpolation" else "not run"
            tiles.append(Tile(DASH, words, note))
            continue
        note = "relative L2 error" if name == "LFNO" else f"{value / own:.2g} × LFNO" if own and math.isfinite(own) else ""
        tiles.append(Tile(number(value), words, note))
    return tiles


def _figures(plates: list[Plate], ending: str = "", folded: bool = False) -> list[Section]:
    """Return a section for each figure. Figures without records are left out; a failed figure has its error message."""
    sections = []
    for plate in plates:
        drawn = draw(plate)
        if drawn.picture is not None:
            sections.append(Section(plate.title + ending, pictures=[drawn.picture], folded=folded))
        elif drawn.missing.startswith("could not"):
            sections.append(Section(plate.title + ending, [f"This figure {drawn.missing}."], folded=folded))
    return sections


def _errors(own: Runs, scores: Scores, task: str) -> Table:
    """Return the table of errors and costs of all models and presets, and of the errors of the baselines."""
    columns = ["", "relative L2", "relative L∞", "published", "seeds", "epochs", "parameters", "training"]
    rows = []
    for preset in own.presets:
        for label in own.where(preset=preset).labels:
            runs = own.where(preset=preset, label=label)
            l2, first = runs.error("l2"), runs.all[0]
            published = paper.published("l2", task, label)
            seconds = sum(r.seconds for r in runs.all) / len(runs)
            counts = f"{first.parameters.get('complex_once', 0):,}"
            epochs = ", ".join(str(n) for n in l2.epochs) if l2 else DASH
            rows.append([f"{label}, {preset} preset", show(l2).text, show(runs.error("linf")).text,
                         DASH if published is None else number(published), str(len(runs)), epochs, counts,
                         duration(seconds)])  # fmt: skip
    for name, words in NAMES.items():
        if name in scores:
            errors = (number(scores[name][metric]) if metric in scores[name] else DASH for metric in ("l2", "linf"))
            rows.append([words, *errors, "", "", "", "", ""])
    note = "Errors: mean ± standard deviation over seeds on the test samples. Training: time of one run."
    return Table(columns, rows, note=note)
