"""The first screen of the page about a fitted model: what the model is, its errors, its range and its main mode."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from lfno.core.grid import frequency_unit
from lfno.identification.mode import Mode
from lfno.plots.fit_figures import LINEAR_MODEL
from lfno.plots.mode_rows import DECAY, mode_cells
from lfno.plots.model_words import explained
from lfno.plots.page import Tile
from lfno.surrogate.verdict import figure

if TYPE_CHECKING:
    from lfno.surrogate import Surrogate
    from lfno.surrogate.contest import Contest

SPACE = "\u00a0"  # no line break at this space
FEW_INPUTS = 2  # largest number of inputs that the tile of the range shows


def lead(model: Surrogate, contest: Contest, label: str) -> list[str]:
    """Return the first sentences of the page: what the model is, its error, and the verdict."""
    row, signals = contest.rows[label], model.signals
    inputs = ", ".join(signals.names("inputs")) or f"{model.channels[0]} inputs"
    outputs = ", ".join(signals.names("outputs")) or f"{model.channels[1]} outputs"
    words = explained(label, model)
    sentences = [
        f"The {label.removesuffix(' model')} model predicts {outputs} from {inputs}. {f'It is {words}. ' if words else ''}"
        f"On test data that the fit did not use, the error is {percent(row['nrmse'])} of the standard deviation of the output.",
        contest.verdict,
    ]
    if model.equation:
        sentences.insert(1, f"The identified equation: {model.equation}.")
    return sentences


def error_tiles(model: Surrogate, contest: Contest, label: str, noise: Sequence[float] | None) -> list[Tile]:
    """Return the errors of the model and of the linear baseline, and the noise floor."""
    own = contest.rows[label]
    tiles = [Tile(percent(own["nrmse"]), f"error of {label}", f"fit {own['fit']:.2f} %")]
    if LINEAR_MODEL in contest.rows:
        linear = contest.rows[LINEAR_MODEL]["nrmse"]
        factor = figure(linear / max(own["nrmse"], 1e-300))
        tiles.append(Tile(percent(linear), f"error of {LINEAR_MODEL}", f"{factor} × {label}"))
    if noise is None:
        return [*tiles, Tile("unknown", "noise floor", "only repeated periods show the noise")]
    units = model.signals.units("outputs") or [""] * len(noise)
    levels = ", ".join(f"{level:.3g} {unit}".rstrip() for level, unit in zip(noise, units, strict=False))
    # simulated data can repeat exactly: their noise is zero, and there is no ratio
    times = [error / level for error, level in zip(own["rmse"], noise, strict=True) if level > 0]
    ratio = f"the error is {max(times):.2g} times the noise; no model reaches less than 1" if times else ""
    return [*tiles, Tile(levels, "noise floor (RMS)", ratio or "from repeated periods")]


def mode_tile(modes: list[Mode], model: Surrogate) -> Tile:
    """Return a tile with the strongest mode."""
    if not modes:
        return Tile("none", "modes", "for small inputs")
    frequency, _, time, _ = mode_cells(modes[0], model.grid.axes[-1].unit, intervals=False)
    count = f"{len(modes)} modes in total" if len(modes) > 1 else "the only mode"
    if frequency == DECAY:
        return Tile(time, "main time constant", count)
    return Tile(frequency, "main mode", f"damping ratio {modes[0].damping_ratio:.3g}; {count}")


def range_tile(model: Surrogate) -> list[Tile]:
    """Return a tile with the peaks and the highest frequency of the training inputs. Many inputs and fields have no tile."""
    coverage = model.coverage
    if coverage is None or len(coverage.peak) > FEW_INPUTS or model.grid.ndim > 1:
        return []
    units = model.signals.units("inputs") or [""] * len(coverage.peak)
    peaks = ", ".join(f"±{SPACE}{peak:.3g}{SPACE}{unit}".rstrip() for peak, unit in zip(coverage.peak, units, strict=False))
    highest = max(high for _, high in coverage.band[-1])
    limit = f"{highest:.3g} {frequency_unit(coverage.unit)}".rstrip()
    return [Tile(peaks, "valid for inputs within", f"up to {limit}; beyond, it extrapolates")]


def percent(value: float) -> str:
    """Format a ratio as a percentage with three digits."""
    return f"{100 * value:.3g} %"
