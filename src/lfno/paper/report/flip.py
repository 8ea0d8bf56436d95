"""Lorenz ρ = 10: how much of the error comes from the samples beside the sign flip."""

from __future__ import annotations

from lfno.paper.record import RunRecord
from lfno.paper.report import paper
from lfno.paper.report.selection import Runs
from lfno.paper.report.tables import Table

NEAREST = 4  # test samples that count as beside the flip


def flip_table(runs: Runs) -> Table:
    """Return, for each preset and model, the share of the mean L2 error that the nearest samples make up."""
    columns = ["preset and model", "share of the test samples", "share of the error"]
    table = Table("Share of the error beside the sign flip", columns)
    main = runs.main.where(task="lorenz-rho10")
    for preset in main.presets:
        for label in main.where(preset=preset).labels:
            found = main.where(preset=preset, label=label).all
            shares = [share for record in found if (share := flip_share(record)) is not None]
            if shares:
                count = len(found[0].samples["l2"])
                table.add(f"{preset}, {label}", f"{NEAREST / count:.0%}", f"{sum(shares) / len(shares):.0%}")
    return table


def flip_share(record: RunRecord, nearest: int = NEAREST) -> float | None:
    """Return the errors of the samples nearest to the flip, summed, over the sum of all errors; None without samples."""
    amplitudes, errors = record.samples.get("A", []), record.samples.get("l2", [])
    if not errors or len(amplitudes) != len(errors) or sum(errors) == 0:
        return None
    order = sorted(range(len(errors)), key=lambda k: abs(amplitudes[k] - paper.LORENZ_FLIP))
    return sum(errors[k] for k in order[:nearest]) / sum(errors)
