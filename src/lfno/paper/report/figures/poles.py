"""The poles of a trained LFNO: frequency in hertz over rate of decay, beside the modes of the equation."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

import lfno
from lfno.core.errors import LfnoError
from lfno.paper.report.selection import Runs
from lfno.plots.style import COLOURS, legend, logarithmic, panels
from lfno.systems import REGISTRY

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SHOWN = 200  # poles of a panel, the most contributing
MOST_TRUE = 8  # modes of the equation, the slowest


def poles_of(runs: Runs, task: str) -> np.ndarray | None:
    """Return rows (real part, imaginary part, contribution) of the poles of one LFNO: of a record, else of the packaged model.
    """
    for record in runs.main.where(task=task, label="LFNO").all:
        kept = record.example.get("poles")
        if kept:
            found = np.asarray(kept, dtype=float)
            return found if found.ndim == 2 and found.shape[1] == 3 else None
    path = Path(lfno.__file__).parent / "weights" / f"{task}.safetensors"
    if not path.is_file():
        return None
    from lfno.models import load_network
    from lfno.models.pole_operator import PoleOperator

    model = load_network(path)
    if not isinstance(model, PoleOperator):
        return None
    table = model.poles()
    own = table.axis == model.grid.axes[-1].name
    return np.stack([table.pole.real[own], table.pole.imag[own], table.contribution[own]], 1)


def true_poles(task: str) -> np.ndarray:
    """Return the slowest eigenvalues of the equation about its equilibrium, in 1/s; none where they are not known."""
    entry = REGISTRY.get(task)
    try:
        return np.zeros(0, complex) if entry is None else entry.system(**entry.parameters).linearised_poles()[:MOST_TRUE]
    except LfnoError:
        return np.zeros(0, complex)


def pole_plane(runs: Runs, task: str) -> Figure | None:
    """Draw frequency |Im μ|/2π in Hz over the rate of decay −Re μ in 1/s, area by contribution; crosses are the truth."""
    found = poles_of(runs, task)
    if found is None or not len(found):
        return None
    figure, (panel,) = panels(1, 1, 3.0)
    real, imaginary, share = found[np.argsort(-found[:, 2])[:SHOWN]].T
    area = 10 + 120 * share / max(share.max(), 1e-30)
    style = {"color": COLOURS["LFNO"], "alpha": 0.5, "linewidth": 0}
    panel.scatter(np.maximum(-real, 1e-6), np.abs(imaginary) / (2 * math.pi), area, label="poles of the layers", **style)
    true = true_poles(task)
    if len(true):
        rates, hertz = np.maximum(-true.real, 1e-6), np.abs(true.imag) / (2 * math.pi)
        panel.plot(rates, hertz, "x", color=COLOURS["truth"], markersize=9, label="modes of the linearised equation")
    panel.set(xlabel="rate of decay [1/s]", ylabel="frequency [Hz]")
    panel.set_ylim(bottom=-0.02 * panel.get_ylim()[1])
    logarithmic(panel, "x")
    legend(figure, [panel])
    return figure
