"""The paper's claims one by one, each with a measure of its own on the records."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np

from lfno.evaluation.record import Record
from lfno.report import paper
from lfno.report.selection import Runs
from lfno.report.studies import layers_of
from lfno.report.tables import number
from lfno.report.verdicts import Claim, Finding, Verdict, factor, mean_error, ratio

#: a loss that goes back by less than this share of its way is called monotone
MONOTONE = 0.05
#: an error that changes by less than this factor is called stable
STABLE = 2.0


def lower(task: str, model: str, other: str, metric: str = "l2", by: float = 1.0) -> Callable[[Runs], list[Finding]]:
    """Is the error of `model` at least `by` times below that of `other`?"""

    def measure(runs: Runs) -> list[Finding]:
        mine, theirs = mean_error(runs, task, model, metric), mean_error(runs, task, other, metric)
        if mine is None or theirs is None:
            return []
        words = f"{model} {number(mine)}, {other} {number(theirs)} ({factor(ratio(theirs, mine))})"
        return [Finding(paper.title(task), words, mine * by < theirs)]

    return measure


def lowest_on_the_odes(runs: Runs) -> list[Finding]:
    """One finding per ODE on which LFNO and another model were run."""
    findings = []
    for task in paper.ODES:
        errors = {label: e for label in paper.MODELS if (e := mean_error(runs, task, label)) is not None}
        if "LFNO" in errors and len(errors) > 1:
            words = ", ".join(f"{label} {number(error)}" for label, error in errors.items())
            findings.append(Finding(paper.title(task), words, errors["LFNO"] == min(errors.values())))
    return findings


def every(*measures: Callable[[Runs], Sequence[Finding]]) -> Callable[[Runs], list[Finding]]:
    return lambda runs: [finding for measure in measures for finding in measure(runs)]


def backtrack(losses: Sequence[float]) -> float:
    """How much of its way, in ln(loss), a curve goes up: 0 for monotone decay, 0.5 for noise around a constant.

    >>> backtrack([4.0, 2.0, 1.0]), round(backtrack([1.0, 2.0, 1.0, 2.0, 1.0]), 3)
    (0.0, 0.5)
    """
    values = np.asarray([loss for loss in losses if loss > 0 and math.isfinite(loss)])
    moves = np.diff(np.log(values))
    way = float(np.abs(moves).sum())
    return float(moves[moves > 0].sum()) / way if way else 0.0


def _backtracks(runs: Runs, task: str, label: str) -> float | None:
    curves = [r.history.get("train", []) for r in runs.main.where(task=task, label=label).all]
    shares = [backtrack(curve) for curve in curves if len(curve) > 2]
    return float(np.mean(shares)) if shares else None


def monotone_training(runs: Runs) -> list[Finding]:
    findings = []
    for task in paper.ODES:
        share = _backtracks(runs, task, "LFNO")
        if share is not None:
            findings.append(Finding(paper.title(task), f"{share:.1%} of the way is upwards", share < MONOTONE))
    return findings


def steadier_training(runs: Runs) -> list[Finding]:
    findings = []
    for task in paper.ODES:
        shares = {label: share for label in paper.MODELS if (share := _backtracks(runs, task, label)) is not None}
        if "LFNO" in shares and len(shares) > 1:
            words = ", ".join(f"{label} {share:.1%}" for label, share in shares.items())
            findings.append(Finding(paper.title(task), words, shares["LFNO"] == min(shares.values())))
    return findings


def lower_loss_worse_test(runs: Runs) -> list[Finding]:
    """FNO's lowest training loss is below LFNO's while its test error is above."""
    findings = []
    for task in ("burgers", "navier-stokes"):
        floors = {label: _floor(runs.main.where(task=task, label=label)) for label in ("FNO", "LFNO")}
        tests = {label: mean_error(runs, task, label) for label in ("FNO", "LFNO")}
        loss, test = (floors["FNO"], floors["LFNO"]), (tests["FNO"], tests["LFNO"])
        if loss[0] is None or loss[1] is None or test[0] is None or test[1] is None:
            continue
        words = (
            f"training loss FNO {number(loss[0])}, LFNO {number(loss[1])}; "
            f"test FNO {number(test[0])}, LFNO {number(test[1])}"
        )
        findings.append(Finding(paper.title(task), words, loss[0] < loss[1] and test[0] > test[1]))
    return findings


def _floor(runs: Runs) -> float | None:
    lows = [min(finite) for r in runs.all if (finite := [v for v in r.history.get("train", []) if math.isfinite(v)])]
    return float(np.mean(lows)) if lows else None


def ringing(record: Record) -> float | None:
    """Variation in x that the example's prediction has and its truth has not, relative to the truth's, mean over time.

    TV(u) = Σ |u(x + dx) − u(x)|: ripples beside a shock add to it, the shock itself does not.
    """
    truth, prediction = (np.asarray(record.example.get(name, []), dtype=float) for name in ("truth", "prediction"))
    if truth.ndim != 3 or truth.shape != prediction.shape or truth.shape[1] < 2:
        return None
    own, found = (np.abs(np.diff(field, axis=1)).sum(1) for field in (truth, prediction))
    return float((np.maximum(found - own, 0) / np.maximum(own, 1e-12)).mean())


def shock_ringing(runs: Runs) -> list[Finding]:
    rings = {}
    for label in ("FNO", "LFNO"):
        found = [v for r in runs.main.where(task="burgers", label=label).all if (v := ringing(r)) is not None]
        if found:
            rings[label] = float(np.mean(found))
    if len(rings) < 2:
        return []
    words = ", ".join(f"{label} {share:.2%}" for label, share in rings.items())
    return [Finding("excess variation in x", words, rings["LFNO"] < rings["FNO"])]


def sample_efficiency(runs: Runs) -> list[Finding]:
    """At every training size, is LFNO's error the lowest?"""
    findings = []
    study = runs.study("samples")
    for task in study.tasks:
        for size in sorted({r.train_samples for r in study.all}):
            errors = {}
            for model in paper.MODELS:
                figure = study.where(task=task, train_samples=size).of(model).error("l2")
                if figure is not None:
                    errors[model] = figure.mean if math.isfinite(figure.mean) else math.inf
            if "LFNO" in errors and len(errors) > 1:
                words = ", ".join(f"{model} {number(error)}" for model, error in errors.items())
                findings.append(
                    Finding(f"{paper.title(task)}, {size} samples", words, errors["LFNO"] == min(errors.values()))
                )
    return findings


def more_transient_layers(runs: Runs) -> list[Finding]:
    """Is 4 + 2 below 3 + 3 and 2 + 4? The ends, 6 + 0 and 0 + 6, are reported but are no mixture to compare."""
    findings = []
    study = runs.study("layers")
    for task in study.tasks:
        errors = {}
        for pair in ((4, 2), (3, 3), (2, 4), (6, 0), (0, 6)):
            figure = Runs(r for r in study.where(task=task).all if layers_of(r) == pair).error("l2")
            if figure is not None:
                errors[pair] = figure.mean if math.isfinite(figure.mean) else math.inf
        others = [errors[pair] for pair in ((3, 3), (2, 4)) if pair in errors]
        if (4, 2) in errors and others:
            words = ", ".join(f"{a}+{b} {number(error)}" for (a, b), error in errors.items())
            findings.append(Finding(paper.title(task), words, errors[4, 2] < min(others)))
    return findings


def narrower_variance(runs: Runs) -> list[Finding]:
    findings = []
    for task in paper.ODES:
        spread = {}
        for label in ("LFNO", "LNO"):
            steady = [r.regimes.get("steady", {}) for r in runs.main.where(task=task, label=label).all]
            found = [regime["variance"] for regime in steady if "variance" in regime]
            if found:
                spread[label] = float(np.mean(found))
        if len(spread) == 2:
            words = f"LFNO {number(spread['LFNO'])}, LNO {number(spread['LNO'])}"
            findings.append(Finding(paper.title(task), words, spread["LFNO"] < spread["LNO"]))
    return findings


def stable_as_parameters_grow(runs: Runs) -> list[Finding]:
    """LFNO's error keeps its size as c and ρ grow, and changes less than LNO's."""
    findings = []
    for name, easy, hard in (("c 0 → 0.5", "duffing-c0", "duffing-c05"), ("ρ 5 → 10", "lorenz-rho5", "lorenz-rho10")):
        growth = {}
        for label in ("LFNO", "LNO"):
            before, after = mean_error(runs, easy, label), mean_error(runs, hard, label)
            if before is not None and after is not None:
                growth[label] = ratio(after, before)
        if "LFNO" in growth:
            words = "error grows " + ", ".join(f"{label} {factor(value)}" for label, value in growth.items())
            holds = growth["LFNO"] <= STABLE and growth["LFNO"] <= growth.get("LNO", math.inf)
            findings.append(Finding(name, words, holds))
    return findings


_ODES, _PDES = "lfno reproduce --tasks ode", "lfno reproduce --tasks pde"
CLAIMS = (
    Claim(
        "LFNO has the lowest L2 error on all five ODEs",
        "0.0518, 0.0142, 0.0075, 0.1731, 0.0315",
        lowest_on_the_odes,
        _ODES,
        5,
    ),
    Claim("LFNO surpasses LNO on every PDE", "", every(*(lower(t, "LFNO", "LNO") for t in paper.PDES)), _PDES, 7),
    Claim(
        "On Burgers LFNO's L∞ error is nearly four times below FNO's",
        "0.0125 against 0.0471 (3.8×)",
        lower("burgers", "LFNO", "FNO", "linf", by=3.5),
        _PDES,
    ),
    Claim(
        "On Navier–Stokes ν = 10⁻³ LFNO is over an order of magnitude below FNO",
        "0.0026 against 0.0286 (11×)",
        lower("navier-stokes-nu1e-3", "LFNO", "FNO", by=10),
        "lfno reproduce --tasks navier-stokes-nu1e-3",
    ),
    Claim("LFNO's training loss falls monotonically (ODEs)", "shown as curves", monotone_training, _ODES, 5),
    Claim("LFNO trains more steadily than FNO and LNO (ODEs)", "shown as curves", steadier_training, _ODES, 5),
    Claim(
        "FNO reaches a lower training loss but a worse test error (Burgers, Navier–Stokes)",
        "loss 10⁻⁵; test 0.0046 against 0.0026, 0.0006 against 0.0004",
        lower_loss_worse_test,
        _PDES,
        2,
    ),
    Claim("LFNO rings less than FNO at Burgers' shock", "argued from L∞", shock_ringing, _PDES),
    Claim(
        "LFNO is more sample-efficient: lowest error at every training size",
        "not measured there",
        sample_efficiency,
        "lfno reproduce --study samples",
    ),
    Claim(
        "More transient than steady layers is better: 4+2 below 3+3 and 2+4",
        "stated as an observation",
        more_transient_layers,
        "lfno reproduce --study layers",
    ),
    Claim("In the steady regime LFNO's error varies less than LNO's", "shown as curves", narrower_variance, _ODES, 5),
    Claim(
        "LFNO stays stable as c and ρ grow, while LNO degrades",
        "L2: c 0.27× (LNO 0.38×), ρ 23× (LNO 8.9×)",
        stable_as_parameters_grow,
        _ODES,
        2,
    ),
)


def judge_claims(runs: Runs) -> list[Verdict]:
    return [verdict for claim in CLAIMS for verdict in claim.judge(runs)]
