"""The figure of a study: the errors of its variants."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lfno.paper.report.selection import Runs, ordered
from lfno.paper.report.studies import variants
from lfno.plots.style import COLOURS, logarithmic, panels
from lfno.systems import titles

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def variant_dots(runs: Runs, study: str) -> Figure | None:
    """Draw a panel for each data set with a row for each variant: mean error and standard deviation over seeds.

    A dashed line marks the error of the first variant.
    """
    own = runs.study(study)
    tasks = ordered(own.tasks, list(titles.ALL))
    if not tasks:
        return None
    names = variants(own, study)
    columns = min(2, len(tasks))
    figure, axes = panels(len(tasks), columns, 0.7 + 0.24 * len(names))
    for k, (panel, task) in enumerate(zip(axes, tasks, strict=True)):
        for height, name in enumerate(names):
            found = own.where(task=task, label=name).error("l2")
            if found is not None:
                colour = COLOURS["LFNO"] if height == 0 else COLOURS["FNO"]
                panel.errorbar(found.mean, height, xerr=found.value.std or None, fmt="o", capsize=2, color=colour)
                if height == 0:
                    panel.axvline(found.mean, color=colour, linewidth=1, linestyle="--")
        shown = names if k % columns == 0 else ["" for _ in names]
        panel.set(yticks=range(len(names)), yticklabels=shown, ylim=(len(names) - 0.5, -0.5))
        panel.set(xlabel="relative L2", title=titles.title(task))
        logarithmic(panel, "x")
    return figure
