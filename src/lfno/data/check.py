"""Proof that a data set is right: some samples solved again by a solver that shares nothing with the first."""

from __future__ import annotations

from typing import Any

import numpy as np

from lfno.core.errors import LfnoError
from lfno.data.plan import Plan, Progress


def relative_error(found: np.ndarray, true: np.ndarray) -> float:
    """Largest difference over largest value, the norm in which a data set's accuracy is stated."""
    return float(np.abs(found - true).max() / max(float(np.abs(true).max()), np.finfo(np.float64).tiny))


def compare(plan: Plan, samples: int, seed: int = 0, progress: Progress | None = None) -> dict[str, Any]:
    """Errors of `samples` random samples against `System.reference`, beside the accuracy that is promised."""
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
