"""The verdict on a model in words: which candidate to use, and how its test error compares with the baselines."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from lfno.surrogate.candidates import EXACT, Candidate

#: name of a linear model of poles and residues in the table of test errors
MODAL = "modal model"
#: names of the baselines in the table of test errors
NAMES = {"mean": "mean", "persistence": "persistence", "interpolation": "interpolation", "linear": "best linear model"}
#: a model is clearly better than a baseline or another model if its error is below this part of the other error
WORTH = 0.8
#: key of a row: the 95 % interval of the RMSE of the model, divided by the RMSE of the row
RATIO = "ratio"
#: a model explains nothing if its error is above this part of the error of the baseline “mean”
USELESS = 0.95

Rows = Mapping[str, Mapping[str, Any]]


def label_of(name: str) -> str:
    """Return the name of a candidate in the table of test errors."""
    return MODAL if name == "linear" else name


def worth(rows: Rows, label: str, others: Sequence[str] = ()) -> str:
    """Return one sentence that compares the model `label` with the baselines.

    Modes are compared with the best linear model. If the best linear model is useless, a warning follows (see `unfit`).

    rows: the table of test errors.
    others: labels of other candidates in the table; these rows are not baselines.
    """
    own, own_name = rows[label]["nrmse"], called(label)
    if not math.isfinite(own):
        return f"The {own_name} gives values that are not finite: it is of no use."
    if label == MODAL and NAMES["linear"] in rows:
        return _modes_worth(rows)
    rivals = {name: row["nrmse"] for name, row in rows.items() if name != label and name not in others}
    rivals = {name: error for name, error in rivals.items() if math.isfinite(error)}
    best = min(rivals, key=lambda name: rivals[name])
    if label == MODAL:
        how = "better" if own < rivals[best] else "no better"
        times = own / max(rivals[best], 1e-300)
        return f"The modes are {how} than the best baseline: their RMSE is {times:.3g} times that of “{best}”."
    return _trained_worth(own, own_name, rivals[best], best) + unfit(rows)


def _trained_worth(own: float, own_name: str, error: float, best: str) -> str:
    """Return one sentence that compares the error `own` of a trained model with the error of the best baseline."""
    if own > error:
        times = own / max(error, 1e-300)
        return f"The {own_name} is not worth its training: its RMSE is {times:.3g} times that of “{best}”."
    factor = error / max(own, 1e-300)
    if own > WORTH * error:
        return f"The {own_name} is hardly worth its training: its RMSE is only {factor:.2f} times below that of “{best}”."
    below = f"{figure(factor)} times below"
    return f"The {own_name} is worth its training: its RMSE is {below} that of “{best}”, the best baseline."


def _modes_worth(rows: Rows) -> str:
    """Return one sentence that compares the modes with the best linear model, by the interval of the ratio of their errors."""
    rival = rows[NAMES["linear"]]
    if useless := unfit(rows):
        times = rows[MODAL]["nrmse"] / max(rows[NAMES["mean"]]["nrmse"], 1e-300)
        use = "of no use on the test data" if times > 1 else "better than the mean"
        return f"The modes are {use}: their RMSE is {times:.3g} times that of “{NAMES['mean']}”.{useless}"
    times = rows[MODAL]["nrmse"] / max(rival["nrmse"], 1e-300)
    figures = f"their RMSE is {times:.3g} times that of “{NAMES['linear']}”"
    if RATIO not in rival:
        return f"The modes against other linear models: {figures}. The test is too short for an interval of this ratio."
    low, high = rival[RATIO]
    figures += f" (95 % interval {low:.3g} to {high:.3g})"
    if high < 1:
        return f"The modes are better than other linear models: {figures}."
    if low > 1 and high <= 1 / WORTH:
        return f"The modes are slightly worse than the best linear model: {figures}."
    if low > 1:
        return f"The modes are clearly worse than the best linear model: {figures}."
    if low >= WORTH and high <= 1 / WORTH:
        return f"The modes are as good as the best linear model, within the precision of the test: {figures}."
    return f"The test is too short to tell whether the modes or other linear models are better: {figures}."


def unfit(rows: Rows) -> str:
    """Return a warning if the best linear model is worse than the mean of the output; else ""."""
    linear, mean = (rows.get(NAMES[name], {}).get("nrmse", math.nan) for name in ("linear", "mean"))
    if not linear > mean:
        return ""
    return (
        f" “{NAMES['linear']}” is no useful baseline here: its RMSE is {linear / max(mean, 1e-300):.3g} times that of the mean "
        "of the output. The test inputs may contain frequencies or levels that the data before the test do not, or the data "
        "are too few: test another part of the record (option `test`), or record more data."
    )


def verdict(rows: Rows, chosen: Candidate, candidates: Sequence[Candidate]) -> str:
    """Return the verdict: which candidate to use and why, and how its test error compares with the baselines.

    The validation data choose the candidate. If another candidate has a much smaller test error, the verdict says so.
    """
    label = label_of(chosen.name)
    errors = {name: row["nrmse"] for name, row in rows.items() if math.isfinite(row["nrmse"])}
    mean = rows.get(NAMES["mean"], {}).get("nrmse", math.inf)
    if errors and min(errors.values()) > USELESS * mean:
        return (
            "No model predicts these outputs: on the test data the best model is no better than the mean of the outputs. Check "
            "that inputs and outputs belong together, and that no other input drives the system."
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
            f"The validation data prefer the {called(chosen.name)}: {figures}. The test data do not: on the test data its RMSE "
            f"is {times:.3g} times that of the {called(better.name)}. Record more data, or choose model {better.name.lower()}."
        )
    start = "The validation data prefer the" if f"The {called(label)} is not worth" in told else "Use the"
    return f"{start} {called(chosen.name)}: {figures}. {told}"


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


def _figures(candidates: Any) -> str:
    """Return the names of the candidates with their validation errors."""
    return ", ".join(f"{one.name} {one.error:.3g}" for one in candidates)
