"""Curves: the loss over epochs, and the error over time, over the input amplitude and over the number of training samples."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np

from lfno.core.grid import with_unit
from lfno.paper.record import RunRecord
from lfno.paper.report import paper
from lfno.paper.report.selection import Runs, ordered
from lfno.plots.style import COLOURS, MARKERS, colour, legend, logarithmic, panels
from lfno.systems import REGISTRY, titles

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def _three(runs: Runs, preset: str) -> Runs:
    """Return the runs of FNO, LNO and LFNO, without variants such as FNO deep."""
    return Runs(r for r in runs.main.where(preset=preset).all if r.label in paper.MODELS)


def learning_curves(runs: Runs, tasks: Iterable[str], preset: str) -> Figure | None:
    """Draw the training loss (dotted) and the validation loss (solid) of each model over the epochs, a line for each seed."""
    main = _three(runs, preset)
    shown = [task for task in tasks if any(r.history.get("epoch") for r in main.where(task=task).all)]
    if not shown:
        return None
    figure, axes = panels(len(shown), min(3, len(shown)), 2.5)
    for panel, task in zip(axes, shown, strict=True):
        for label in main.where(task=task).labels:
            for k, record in enumerate(main.where(task=task, label=label).all):
                _losses(panel, record, label, first=k == 0)
        kinds = {str(r.training.get("loss", "l2")).upper() for r in main.where(task=task).all}
        panel.set(xlabel="epoch", ylabel=f"relative {' or '.join(sorted(kinds))} loss", title=titles.title(task))
        logarithmic(panel)
    legend(figure, axes)
    return figure


def _losses(axes: Any, record: RunRecord, label: str, first: bool) -> None:
    """Draw the losses of one run. Only the first run of a model has markers and a legend."""
    epochs = record.history.get("epoch", [])
    for name, style, width in (("train", ":", 1.0), ("validation", "-", 1.2)):
        losses = record.history.get(name, [])
        if len(losses) == len(epochs) > 0:
            words = f"{label}, {'training' if name == 'train' else 'validation'}" if first else None
            alpha = 0.95 if first else 0.45
            shape = MARKERS.get(label) if first and name == "validation" else None
            look: Any = {"marker": shape, "markevery": 0.12, "markersize": 5, "linewidth": width, "alpha": alpha}
            axes.plot(epochs, losses, style, color=colour(label), label=words, **look)


def regime_curves(
    runs: Runs, tasks: Iterable[str], preset: str, labels: tuple[str, ...] = ("FNO", "LNO", "LFNO")
) -> Figure | None:
    """Draw the absolute error over time, averaged over test samples: the mean over seeds, and the range over seeds as a band.

    A dashed line divides the transient from the steady regime. The error is smoothed in each regime separately.
    """
    main = runs.main.where(preset=preset)
    shown = [t for t in tasks if t in REGISTRY and any(r.regimes.get("split") for r in main.where(task=t).all)]
    if not shown:
        return None
    figure, axes = panels(len(shown), min(2, len(shown)), 2.5)
    for panel, task in zip(axes, shown, strict=True):
        time, channel = REGISTRY[task].grid.axes[-1], REGISTRY[task].system.outputs[0]
        for label in labels:
            _regimes(panel, main.where(task=task, label=label), label, time.step, time.size)
        split = next(r.regimes["split"] for r in main.where(task=task).all if r.regimes.get("split"))
        panel.axvline(split * time.step, color="#888888", linewidth=1, linestyle="--")
        panel.annotate(
            "steady regime →", (split * time.step, 0), xycoords=("data", "axes fraction"), xytext=(3, 2),
            textcoords="offset points", ha="left", va="bottom", fontsize=7.5, color="#666666",
            bbox={"facecolor": "white", "edgecolor": "none", "alpha": 0.8, "pad": 1},
        )  # fmt: skip
        panel.set(xlabel=time.label, ylabel=with_unit("mean |error|", channel.unit), title=titles.title(task))
        logarithmic(panel)
    legend(figure, axes)
    return figure


def _regimes(axes: Any, runs: Runs, label: str, step: float, size: int) -> None:
    """Draw the error of one model in both regimes. The data set has `size` time steps of length `step`."""
    named = False
    for regime in ("transient", "steady"):
        curves = [r.regimes[regime]["curve"] for r in runs.all if r.regimes.get(regime, {}).get("curve")]
        curves = [curve for curve in curves if len(curve) == len(curves[0])]
        if not curves:
            continue
        split = next(int(r.regimes["split"]) for r in runs.all if r.regimes.get(regime))
        start, length = (0, split) if regime == "transient" else (split, size - split)
        time = step * (start + max(1, -(-length // len(curves[0]))) * np.arange(len(curves[0])))
        stack = np.asarray(curves, dtype=float)
        axes.fill_between(time, stack.min(0), stack.max(0), color=colour(label), alpha=0.2, linewidth=0)
        look: Any = {"marker": MARKERS.get(label), "markevery": 0.2, "markersize": 5}
        axes.plot(time, stack.mean(0), color=colour(label), label=None if named else label, **look)
        named = True


def parameter_curves(runs: Runs, tasks: Iterable[str], preset: str) -> Figure | None:
    """Draw the error of every test sample against the amplitude of its input. The error is the mean over the seeds."""
    main = _three(runs, preset)
    shown = [task for task in tasks if any("A" in r.samples for r in main.where(task=task).all)]
    if not shown:
        return None
    figure, axes = panels(len(shown), min(2, len(shown)), 2.4)
    for panel, task in zip(axes, shown, strict=True):
        for label in main.where(task=task).labels:
            own = [r.samples for r in main.where(task=task, label=label).all if "A" in r.samples]
            own = [s for s in own if s["A"] == own[0]["A"] and len(s.get("l2", [])) == len(s["A"])]
            if own:
                order = np.argsort(own[0]["A"])
                errors = np.mean([s["l2"] for s in own], axis=0)[order]
                look: Any = {"marker": MARKERS.get(label, "."), "markersize": 3.5, "linewidth": 0.9}
                panel.plot(np.asarray(own[0]["A"])[order], errors, color=colour(label), label=label, **look)
        if task == "lorenz-rho10":
            panel.axvline(paper.LORENZ_FLIP, color=COLOURS["truth"], linewidth=1, linestyle="--", label="sign flip, A*")
        panel.set(xlabel="amplitude A of the input", ylabel="relative L2", title=titles.title(task))
        logarithmic(panel)
    legend(figure, axes)
    return figure


def sample_curves(runs: Runs) -> Figure | None:
    """Draw the error over the number of training samples: mean and standard deviation over seeds."""
    study = runs.study("samples")
    tasks = ordered(study.tasks, list(titles.ALL))
    if not tasks:
        return None
    figure, axes = panels(len(tasks), min(3, len(tasks)), 2.6)
    for panel, task in zip(axes, tasks, strict=True):
        for model in study.where(task=task).models:
            own = study.where(task=task).of(model)
            sizes = sorted({r.train_samples for r in own.all})
            found = [own.where(train_samples=size).error("l2") for size in sizes]
            values = [(n, f.mean, f.value.std) for n, f in zip(sizes, found, strict=True) if f is not None]
            counts, means, spreads = zip(*values, strict=True)
            look: Any = {"marker": MARKERS.get(model, "s"), "markersize": 5, "capsize": 2, "label": model}
            panel.errorbar(counts, means, spreads, color=colour(model), **look)
        panel.set(xlabel="training samples", ylabel="relative L2", xscale="log", title=titles.title(task))
        logarithmic(panel)
        ticks = sorted({r.train_samples for r in study.where(task=task).all})
        panel.set_xticks(ticks, [str(n) for n in ticks])
        panel.xaxis.minorticks_off()
    legend(figure, axes)
    return figure
