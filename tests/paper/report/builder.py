"""Make records with chosen errors, for tests of tables and verdicts."""

from __future__ import annotations

from typing import Any

from lfno.paper.record import RunRecord


def record(task: str, label: str, l2: float, linf: float | None = None, **fields: Any) -> RunRecord:
    """Return a record of one run with these errors. Without `linf`, both errors are equal. `fields` change other attributes."""
    values: dict[str, Any] = {
        "task": task,
        "model": label.split(" ")[0].lower(),
        "label": label,
        "preset": "default",
        "seed": 0,
        "fold": 0,
        "study": "main",
        "config": {},
        "training": {"epochs": 100},
        "parameters": {"complex_once": 1000, "real": 2000},
        "train_samples": 274,
        "best_epoch": 90,
        "seconds": 3.0,
        "stacked": 1,
        "scores": {"l2": l2, "linf": l2 if linf is None else linf},
        "at": {},
        "samples": {},
        "regimes": {},
        "history": {},
        "example": {},
        "environment": {},
    }
    return RunRecord(**(values | fields))


def three(task: str, fno: float, lno: float, lfno: float, **fields: Any) -> list[RunRecord]:
    """Return the records of FNO, LNO and LFNO with these L2 errors."""
    return [record(task, label, error, **fields) for label, error in (("FNO", fno), ("LNO", lno), ("LFNO", lfno))]
