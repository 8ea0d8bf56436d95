"""Check a data set: solve some samples again with an independent solver and compare the solutions."""

from __future__ import annotations

from typing import Any

import numpy as np

from lfno.core.errors import LfnoError
from lfno.data.plan import Plan, Progress


def relative_error(found: np.ndarray, true: np.ndarray) -> float:
    """Return the largest absolute difference divided by the largest absolute value, the norm of the stated accuracy."""
    return float(np.abs(found - true).max() / max(float(np.abs(true).max()), np.finfo(np.float64).tiny))


def compare(plan: Plan, samples: int, seed: int = 0, progress: Progress | None = None) -> dict[str, Any]:
    """Compare random samples with the reference solution, `System.reference`, and with the accuracy that the entry states.

    samples: the number of samples to compare.
    seed: seed of the random choice of the samples.
    progress: called with (samples done, samples in all).
    Returns a dictionary: `name`, `samples` (their numbers), `largest` and `mean` error, `promised` accuracy, and `holds`
    (whether the largest error is at most the promised accuracy).
    """
    count = plan.signal.count
    if samples < 1 or seed < 0:
        raise LfnoError(f"{samples} samples with seed {seed} cannot be drawn: at least 1 and a seed of at least 0 are needed")
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
