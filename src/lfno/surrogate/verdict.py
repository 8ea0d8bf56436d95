"""What a model is worth, in words: which candidate to use, and what the test says about it."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from lfno.surrogate.candidates import EXACT, Candidate

MODAL = "modal model"
#: the baselines as tables name them
NAMES = {"mean": "mean", "persistence": "persistence", "interpolation": "interpolation", "linear": "best linear model"}
#: a model must have less than this share of the best linear model's error to be worth more than it
WORTH = 0.8
#: a model that leaves more than this share of the error of the mean explains nothing
USELESS = 0.95

Rows = Mapping[str, Mapping[str, Any]]


def label_of(name: str) -> str:
    """The name of a candidate in the table of test errors."""
    return MODAL if name == "linear" else name


def worth(rows: Rows, label: str, others: Sequence[str] = ()) -> str:
    """Say what the row `label` is worth beside the baselines; modes are compared with the best linear model.

    others: rows of other candidates, which are no baselines.
    """
    own, own_name = rows[label]["nrmse"], called(label)
    if not math.isfinite(own):
        return f"The {own_name} gives values that are not finite: it is of no use."
    if label == MODAL and NAMES["linear"] in rows:
        times = own / max(rows[NAMES["linear"]]["nrmse"], 1e-300)
        good = "as good as any linear model" if times < 1 / WORTH else "missing something that a linear model can have"
        return f"The modes are {good}: their RMSE is {times:.3g} times that of “{NAMES['linear']}”."
    rivals = {name: row["nrmse"] for name, row in rows.items() if name != label and name not in others}
    rivals = {name: error for name, error in rivals.items() if math.isfinite(error)}
    best = min(rivals, key=lambda name: rivals[name])
    if own > rivals[best]:
        times = own / max(rivals[best], 1e-300)
        return f"The {own_name} is not worth its training: its RMSE is {times:.3g} times that of “{best}”."
    factor = rivals[best] / max(own, 1e-300)
    if own > WORTH * rivals[best]:
        return f"The {own_name} is hardly worth its training: its RMSE is only {factor:.2f} times below that of “{best}”."
    return f"The {own_name} is worth its training: its RMSE is {factor:.3g} times below that of “{best}”, the best baseline."


def verdict(rows: Rows, chosen: Candidate, candidates: Sequence[Candidate]) -> str:
    """Return which candidate to use and why, and what the test says: one answer, also where the two disagree."""
    label = label_of(chosen.name)
    errors = {name: row["nrmse"] for name, row in rows.items() if math.isfinite(row["nrmse"])}
    mean = rows.get(NAMES["mean"], {}).get("nrmse", math.inf)
    if errors and min(errors.values()) > USELESS * mean:
        return (
            "No model predicts these outputs: on the test data the best of them is no better than their mean. Check that "
            "inputs and outputs belong together, and that the inputs are all that drives the system."
        )
    others = [label_of(one.name) for one in candidates if one is not chosen and one.name != "linear"]
    told = worth(rows, label, others)
    if len(candidates) < 2:
        return f"Use the linear model: it is exact. {told}" if chosen.name == "linear" and chosen.error < EXACT else told
    best = min(errors, key=lambda name: errors[name]) if errors else label
    figures = f"validation error {chosen.error:.3g} ({_figures(one for one in candidates if one is not chosen)})"
    better = next((one for one in candidates if label_of(one.name) == best), None)
    if errors.get(best, math.inf) < WORTH * rows[label]["nrmse"] and better is not None:
        times = rows[label]["nrmse"] / max(errors[best], 1e-300)
        return (
            f"The validation data prefer the {called(chosen.name)}: {figures}. The test data do not: there its RMSE is "
            f"{times:.3g} times that of the {called(better.name)}. Record more data, or choose model {better.name.lower()}."
        )
    return f"Use the {called(chosen.name)}: {figures}. {told}"


def called(name: str) -> str:
    """A candidate in words."""
    return {"linear": "linear model", "feedback": "model with feedback"}.get(name, name)


def _figures(candidates: Any) -> str:
    return ", ".join(f"{one.name} {one.error:.3g}" for one in candidates)
