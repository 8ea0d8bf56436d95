"""The verdict on a model in words: which candidate to use, and how its test error compares with the baselines."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from lfno.identification.modal import ModalModel, without_modes
from lfno.surrogate.candidates import EXACT, Candidate, reason

#: name of the linear model of poles and residues, as a candidate and in the table of test errors
MODAL = "linear"
#: names of the baselines in the table of test errors
NAMES = {"mean": "mean", "persistence": "persistence", "interpolation": "interpolation", "linear": "linear baseline"}
#: a model is clearly better than a baseline or another model if its error is below this part of the other error
WORTH = 0.8
#: key of a row: the 95 % interval of the RMSE of the model, divided by the RMSE of the row
RATIO = "ratio"
#: a model explains nothing if its error is above this part of the error of the baseline “mean”
USELESS = 0.95

Rows = Mapping[str, Mapping[str, Any]]


def worth(rows: Rows, label: str, others: Sequence[str] = ()) -> str:
    """Return one sentence that compares the model `label` with the baselines.

    The linear model is compared with the linear baseline. If the linear baseline is useless, a warning follows (see `unfit`).

    rows: the table of test errors.
    others: labels of other candidates in the table; these rows are not baselines.
    """
    own, own_name = rows[label]["nrmse"], called(label)
    if not math.isfinite(own):
        return f"The {own_name} gives values that are not finite: it is of no use."
    if label == MODAL and NAMES["linear"] in rows:
        return _linear_worth(rows)
    best, error = _rival(rows, label, others)
    if label == MODAL:
        how = "better" if own < error else "no better"
        times = own / max(error, 1e-300)
        return f"The linear model is {how} than the best baseline: its RMSE is {times:.3g} times that of “{best}”."
    return _trained_worth(own, own_name, error, best) + unfit(rows)


def _trained_worth(own: float, own_name: str, error: float, best: str) -> str:
    """Return one sentence that compares the error `own` of a trained model with the error of the best baseline."""
    if own > error:
        times = own / max(error, 1e-300)
        return f"The {own_name} is not worth its training: its RMSE is {times:.3g} times that of “{best}”."
    factor = error / max(own, 1e-300)
    if own > WORTH * error:
        below = f"smaller by a factor of {factor:.2f} than"
        return f"The {own_name} is only slightly better than the best simple model: its RMSE is {below} that of “{best}”."
    below = f"smaller by a factor of {figure(factor)} than"
    return f"The {own_name} is worth its training: its RMSE is {below} that of “{best}”, the best simple model."


def _linear_worth(rows: Rows) -> str:
    """Return one sentence that compares the linear model with the linear baseline, by the interval of the ratio of errors."""
    rival = rows[NAMES["linear"]]
    if useless := unfit(rows):
        times = rows[MODAL]["nrmse"] / max(rows[NAMES["mean"]]["nrmse"], 1e-300)
        use = "of no use on the test data" if times > 1 else "better than the mean"
        return f"The linear model is {use}: its RMSE is {times:.3g} times that of “{NAMES['mean']}”.{useless}"
    times = rows[MODAL]["nrmse"] / max(rival["nrmse"], 1e-300)
    figures = f"its RMSE is {times:.3g} times that of “{NAMES['linear']}”"
    if RATIO not in rival:
        return f"The linear model against the linear baseline: {figures}. The test is too short for an interval of this ratio."
    low, high = rival[RATIO]
    figures += f" (95 % interval {low:.3g} to {high:.3g})"
    if high < 1:
        return f"The linear model is better than the linear baseline: {figures}."
    if low > 1 and high <= 1 / WORTH:
        return f"The linear model is slightly worse than the linear baseline: {figures}."
    if low > 1:
        return f"The linear model is clearly worse than the linear baseline: {figures}."
    if low >= WORTH and high <= 1 / WORTH:
        return f"The linear model is as good as the linear baseline, within the precision of the test: {figures}."
    return f"The test is too short to tell whether the linear model or the linear baseline is better: {figures}."


def unfit(rows: Rows) -> str:
    """Return a warning if the linear baseline is worse than the mean of the output; else ""."""
    linear, mean = (rows.get(NAMES[name], {}).get("nrmse", math.nan) for name in ("linear", "mean"))
    if not linear > mean:
        return ""
    return (
        f" “{NAMES['linear']}” is no useful baseline here: its RMSE is {linear / max(mean, 1e-300):.3g} times that of the mean "
        "of the output. The test inputs may contain frequencies or levels that do not occur in the other data, or the data "
        "are too few: test another part of the record (option `test`), or record more data."
    )


def verdict(rows: Rows, chosen: Candidate, candidates: Sequence[Candidate]) -> str:
    """Return the verdict: which candidate to use and why, and how its test error compares with the baselines.

    The validation data choose the candidate. If another candidate or a baseline has a smaller test error, the verdict says so
    and does not recommend the candidate.
    """
    label = chosen.name
    errors = {name: row["nrmse"] for name, row in rows.items() if math.isfinite(row["nrmse"])}
    mean = rows.get(NAMES["mean"], {}).get("nrmse", math.inf)
    if errors and min(errors.values()) > USELESS * mean:
        return (
            "No model predicts these outputs: on the test data the best model is no better than the mean of the outputs. Check "
            "that inputs and outputs belong together, and that no other input drives the system."
        )
    others = [one.name for one in candidates if one is not chosen and one.name != MODAL]
    told = _told(rows, chosen, others)
    if len(candidates) < 2:
        return f"Use the linear model: it is exact. {told}" if chosen.name == MODAL and chosen.error < EXACT else told
    why = reason(chosen, candidates)
    best = min(errors, key=lambda name: errors[name]) if errors else label
    better = next((one for one in candidates if one.name == best), None)
    if errors.get(best, math.inf) < WORTH * rows[label]["nrmse"] and better is not None:
        times = rows[label]["nrmse"] / max(errors[best], 1e-300)
        return (
            f"The validation data prefer the {called(chosen.name)}: {why}. The test data do not: on the test data its RMSE "
            f"is {times:.3g} times that of the {called(better.name)}. Record more data, or choose model {better.name.lower()}."
        )
    if _rival(rows, label, others)[1] < errors.get(label, math.inf) and label != MODAL:
        # one statement: the best of the fitted models is no better than a simple prediction
        return f"Of the fitted models, the validation data prefer the {called(label)}: {why}. But t{told[1:]} Record more data."
    return f"Use the {called(label)}: {why}. {told}"


def _told(rows: Rows, chosen: Candidate, others: Sequence[str]) -> str:
    """Return the sentence of `worth`, after a sentence about a linear model without modes."""
    model = chosen.members[0] if chosen.members else None
    empty = without_modes(model.modes) if isinstance(model, ModalModel) else ""
    told = worth(rows, chosen.name, others)
    return f"{empty[:1].upper()}{empty[1:]}. {told}" if empty else told


def _rival(rows: Rows, label: str, others: Sequence[str]) -> tuple[str, float]:
    """Return the name and the error of the baseline with the smallest finite test error; an infinite error if there is none."""
    rivals = {name: row["nrmse"] for name, row in rows.items() if name != label and name not in others}
    rivals = {name: error for name, error in rivals.items() if math.isfinite(error)}
    best = min(rivals, key=lambda name: rivals[name], default="")
    return best, rivals.get(best, math.inf)


def figure(value: float) -> str:
    """Return a positive number with three digits as text. From 1000 to a million, the text has no exponent.

    >>> figure(2463.0), figure(1.234)
    ('2460', '1.23')
    """
    short = f"{value:.3g}"
    return f"{float(short):.0f}" if 1000 <= value < 1e6 else short


def called(name: str) -> str:
    """Return the name of a candidate in words."""
    return {"linear": "linear model", "feedback": "model with feedback", "equation": "identified equation"}.get(name, name)
