"""Lorenz ρ = 10: how much of the error comes from the samples near the amplitude where the final x changes its sign."""

from __future__ import annotations

from lfno.paper.record import RunRecord
from lfno.paper.report import paper
from lfno.paper.report.selection import Runs
from lfno.paper.report.tables import Table

NEAREST = 4  # number of test samples that count as near the sign flip


def flip_table(runs: Runs) -> Table:
    """Return the table of the part of the L2 error that comes from the samples near the flip, for each preset and model."""
    columns = ["preset and model", "part of the test samples", "part of the error"]
    table = Table("Samples near the sign flip: their part of the error", columns)
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
    """Return the sum of the errors of the samples nearest to the flip, divided by the sum of all errors.

    Returns None if the record has no amplitudes or no errors of single samples, or if all errors are zero.
    """
    amplitudes, errors = record.samples.get("A", []), record.samples.get("l2", [])
    if not errors or len(amplitudes) != len(errors) or sum(errors) == 0:
        return None
    order = sorted(range(len(errors)), key=lambda k: abs(amplitudes[k] - paper.LORENZ_FLIP))
    return sum(errors[k] for k in order[:nearest]) / sum(errors)
