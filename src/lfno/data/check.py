"""Check a data set: solve some samples with its own solver and with an independent solver, and compare the solutions."""

from __future__ import annotations

from typing import Any

import numpy as np

from lfno.core.errors import LfnoError
from lfno.data.plan import Plan, Progress


def relative_error(found: np.ndarray, true: np.ndarray) -> float:
    """Return max |found − true| / max |true|. The accuracy of a data set in the registry is stated in this norm."""
    return float(np.abs(found - true).max() / max(float(np.abs(true).max()), np.finfo(np.float64).tiny))


def compare(plan: Plan, samples: int, seed: int = 0, progress: Progress | None = None) -> dict[str, Any]:
    """Compare solutions of random samples with the reference solutions of `System.reference`. No stored file is read.

    plan: the plan of the data set. `plan.entry.accuracy` is the accuracy that the registry promises.
    samples: number of compared samples; if the data set has fewer, all samples are compared.
    seed: seed of the random choice of the samples.
    progress: called with (number of compared samples, number of samples to compare).
    Returns a dictionary: `name` of the data set, `samples` (indices of the compared samples), `largest` and `mean` error,
    `promised` accuracy, and `holds` (whether the largest error is at most the promised accuracy). Errors are relative; see
    `relative_error`.
    Raises LfnoError if `samples` is below 1 or `seed` is below 0.
    """
    count = plan.signal.count
    if samples < 1 or seed < 0:
        raise LfnoError(f"cannot draw {samples} samples with seed {seed}: at least 1 sample and a seed of 0 or more are needed")
    chosen = np.sort(np.random.default_rng(seed).choice(count, min(samples, count), replace=False))
    errors: list[float] = []
    for index in chosen.tolist():
        if progress:
            progress(len(errors), len(chosen))
        one = plan.signal[index : index + 1]
        errors.append(
            relative_error(plan.system.solve(one, plan.entry.grid), plan.system.reference(one, plan.entry.grid))
        )
    if progress:
        progress(len(errors), len(chosen))
    largest, promised = max(errors), plan.entry.accuracy
    facts = {"name": plan.entry.name, "samples": chosen.tolist(), "largest": largest, "mean": float(np.mean(errors))}
    return facts | {"promised": promised, "holds": largest <= promised}
