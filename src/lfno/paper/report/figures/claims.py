"""The figure of a claim: the numbers of its findings, with one panel for each preset."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from lfno.paper.report.verdicts import Verdict
from lfno.plots.style import MARKERS, colour, legend, logarithmic, panels

if TYPE_CHECKING:
    from matplotlib.figure import Figure

WIDE = 20.0  # largest / smallest value; above this ratio the axis is logarithmic


def claim_dots(verdicts: Sequence[Verdict]) -> Figure | None:
    """Draw the verdicts on one claim: a panel for each preset, a line for each finding, and a mark for each number.

    Returns:
        The figure, or None if no finding has numbers.
    """
    shown = [verdict for verdict in verdicts if any(finding.values for finding in verdict.findings)]
    if not shown:
        return None
    lines = max(len(verdict.findings) for verdict in shown)
    figure, axes = panels(len(shown), len(shown), 0.9 + 0.26 * lines)
    for panel, verdict in zip(axes, shown, strict=True):
        numbers = [value for finding in verdict.findings for value in finding.values.values() if math.isfinite(value)]
        for height, finding in enumerate(verdict.findings):
            for label, value in finding.values.items():
                if math.isfinite(value):
                    model, _, stage = label.partition(", ")
                    fill = "white" if stage == "training" else colour(model)
                    shape = MARKERS.get(model, "s")
                    panel.plot(value, height, shape, color=colour(model), markerfacecolor=fill, label=label)
        names = [f"{'✓' if finding.supports else '✗'} {finding.where}" for finding in verdict.findings]
        panel.set(yticks=range(len(names)), yticklabels=names, ylim=(len(names) - 0.5, -0.5))
        panel.set(xlabel=verdict.quantity, title=f"{verdict.preset} preset: {verdict.verdict}")
        if min(numbers) > 0 and max(numbers) > WIDE * min(numbers):
            logarithmic(panel, "x")
        else:
            panel.set_xlim(left=0)
    legend(figure, axes)
    return figure
