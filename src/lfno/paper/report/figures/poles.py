"""The poles of trained LFNOs in the s-plane."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

import lfno
from lfno.paper.report.selection import Runs
from lfno.plots.style import COLOURS, legend, panels, stable_half_plane
from lfno.systems import titles

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SHOWN = 200  # poles of a panel, the most contributing


def poles_of(runs: Runs, task: str) -> np.ndarray | None:
    """Rows (real part, imaginary part, contribution) of one LFNO: what a record kept, else the model in the package."""
    for record in runs.main.where(task=task, label="LFNO").all:
        kept = record.example.get("poles")
        if kept:
            found = np.asarray(kept, dtype=float)
            return found if found.ndim == 2 and found.shape[1] == 3 else None
    path = Path(lfno.__file__).parent / "weights" / f"{task}.safetensors"
    if not path.is_file():
        return None
    from lfno.models import load
    from lfno.models.pole_operator import PoleOperator

    model = load(path)
    if not isinstance(model, PoleOperator):
        return None
    table = model.poles()
    own = table.axis == model.grid.axes[-1].name
    return np.stack([table.pole.real[own], table.pole.imag[own], table.contribution[own]], 1)


def pole_planes(runs: Runs) -> Figure | None:
    """One panel per task: real part 1/s, imaginary part rad/s, area by contribution; the stable half is shaded."""
    found = {task: poles for task in titles.ALL if (poles := poles_of(runs, task)) is not None and len(poles)}
    if not found:
        return None
    from matplotlib.ticker import FuncFormatter

    figure, axes = panels(len(found), min(3, len(found)), 2.6)
    for panel, (task, poles) in zip(axes, found.items(), strict=True):
        order = np.argsort(-poles[:, 2])[:SHOWN]
        real, imaginary, share = poles[order].T
        area = 6 + 90 * share / max(share.max(), 1e-30)
        # a real system has its poles in pairs; both are drawn
        for sign in (1, -1):
            words = "poles of LFNO, area by contribution" if sign == 1 else None
            panel.scatter(real, sign * imaginary, area, COLOURS["LFNO"], alpha=0.55, linewidth=0, label=words)
        panel.set(xlabel="Re μ [1/s]", ylabel="Im μ [rad/s]", title=titles.title(task))
        # decay rates span decades; below the slowest pole the axis is linear down to zero
        slowest = 10.0 ** math.floor(math.log10(max(1e-6, float(np.abs(real).min()))))
        panel.set_xscale("symlog", linthresh=slowest, linscale=0.3)
        panel.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
        panel.tick_params(axis="x", labelsize=8)
        stable_half_plane(panel, min(1.3 * real.min(), -1e-9))
    legend(figure, axes)
    return figure
