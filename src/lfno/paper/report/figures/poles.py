"""The figure of the poles of a trained LFNO and of the modes of the equation: frequency over rate of decay."""

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

SHOWN = 200  # largest number of poles in a figure; the poles with the largest contributions are drawn
MOST_TRUE = 8  # largest number of modes of the equation in a figure; the slowest modes are drawn


def poles_of(runs: Runs, task: str) -> np.ndarray | None:
    """Return the poles of one LFNO along the time axis as rows (real part, imaginary part, contribution), or None.

    The poles are those of the first record that has poles. Without such a record, the poles are those of the shipped model of
    the data set. The result is None if there is no such model either, or if the poles in the record have another shape.
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
    """Return the slowest eigenvalues of the equation linearised about its equilibrium, in 1/s; empty if they are unknown."""
    entry = REGISTRY.get(task)
    try:
        return np.zeros(0, complex) if entry is None else entry.system(**entry.parameters).linearised_poles()[:MOST_TRUE]
    except LfnoError:
        return np.zeros(0, complex)


def pole_plane(runs: Runs, task: str) -> Figure | None:
    """Draw the frequency |Im μ|/2π in Hz over the rate of decay −Re μ in 1/s.

    A circle is a pole of the network, and its area is the contribution of the pole. A cross is a mode of the equation.
    """
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
