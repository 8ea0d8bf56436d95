"""Measures for claims about training curves, shocks, the variance of the error, and harder systems.

A measure is a function from runs to findings; see `lfno.paper.report.verdicts`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from lfno.paper.record import RunRecord
from lfno.paper.report import paper
from lfno.paper.report.selection import Runs
from lfno.paper.report.tables import number
from lfno.paper.report.verdicts import Finding, factor, mean_error, ratio
from lfno.systems import titles

MONOTONE = 0.05  # a loss curve counts as monotone if its upward share (see `backtrack`) is smaller
STABLE = 2.0  # an error counts as stable if it grows at most by this factor


def backtrack(losses: Sequence[float]) -> float:
    """Return the upward share: the upward part of the total variation of ln(loss), divided by the total variation.

    It is 0 for monotone decay and 0.5 for noise about a constant. Losses that are not finite or not positive are left out.

    >>> backtrack([4.0, 2.0, 1.0]), round(backtrack([1.0, 2.0, 1.0, 2.0, 1.0]), 3)
    (0.0, 0.5)
    """
    values = np.asarray([loss for loss in losses if loss > 0 and math.isfinite(loss)])
    moves = np.diff(np.log(values))
    way = float(np.abs(moves).sum())
    return float(moves[moves > 0].sum()) / way if way else 0.0


def _backtracks(runs: Runs, task: str, label: str) -> float | None:
    """Return the mean upward share of the training losses of a model, or None without records."""
    curves = [r.history.get("train", []) for r in runs.main.where(task=task, label=label).all]
    shares = [backtrack(curve) for curve in curves if len(curve) > 2]
    return float(np.mean(shares)) if shares else None


def monotone_training(runs: Runs) -> list[Finding]:
    """Return a finding for each ODE: does the training loss of LFNO decrease monotonically?"""
    findings = []
    for task in titles.ODES:
        share = _backtracks(runs, task, "LFNO")
        if share is not None:
            words = f"{share:.1%} of the variation of the loss is upward"
            findings.append(Finding(titles.title(task), words, share < MONOTONE, {"LFNO": share, "limit": MONOTONE}))
    return findings


def steadier_training(runs: Runs) -> list[Finding]:
    """Return a finding for each ODE: does LFNO have the smallest upward share of the training loss of the three models?"""
    findings = []
    for task in titles.ODES:
        shares = {label: share for label in paper.MODELS if (share := _backtracks(runs, task, label)) is not None}
        if "LFNO" in shares and len(shares) > 1:
            words = ", ".join(f"{label} {share:.1%}" for label, share in shares.items())
            steadiest = shares["LFNO"] == min(shares.values())
            findings.append(Finding(titles.title(task), words, steadiest, shares, len(shares) == len(paper.MODELS)))
    return findings


def lower_loss_worse_test(runs: Runs) -> list[Finding]:
    """Return a finding for each of two PDEs: does FNO have a lower training loss than LFNO, but a larger test error?"""
    findings = []
    for task in ("burgers", "navier-stokes"):
        floors = {label: _floor(runs.main.where(task=task, label=label)) for label in ("FNO", "LFNO")}
        tests = {label: mean_error(runs, task, label) for label in ("FNO", "LFNO")}
        loss, test = (floors["FNO"], floors["LFNO"]), (tests["FNO"], tests["LFNO"])
        if loss[0] is None or loss[1] is None or test[0] is None or test[1] is None:
            continue
        words = (
            f"training loss of FNO {number(loss[0])}, of LFNO {number(loss[1])}; "
            f"test error of FNO {number(test[0])}, of LFNO {number(test[1])}"
        )
        values = {"FNO, training": loss[0], "LFNO, training": loss[1], "FNO, test": test[0], "LFNO, test": test[1]}
        findings.append(Finding(titles.title(task), words, loss[0] < loss[1] and test[0] > test[1], values))
    return findings


def _floor(runs: Runs) -> float | None:
    """Return the lowest training loss of each run, averaged over the runs; None without records."""
    lows = [min(finite) for r in runs.all if (finite := [v for v in r.history.get("train", []) if math.isfinite(v)])]
    return float(np.mean(lows)) if lows else None


def ringing(record: RunRecord) -> float | None:
    """Return the excess variation of the prediction in x: (TV(prediction) − TV(truth)) / TV(truth), averaged over time.

    TV(u) = Σ |u(x + dx) − u(x)| is the total variation. Oscillations beside a shock increase the difference. The shock itself
    does not, because the truth has the same shock. A negative difference counts as zero.
    Returns None if the record has no example of a field over x and t.
    """
    truth, prediction = (np.asarray(record.example.get(name, []), dtype=float) for name in ("truth", "prediction"))
    if truth.ndim != 3 or truth.shape != prediction.shape or truth.shape[1] < 2:
        return None
    own, found = (np.abs(np.diff(field, axis=1)).sum(1) for field in (truth, prediction))
    return float((np.maximum(found - own, 0) / np.maximum(own, 1e-12)).mean())


def shock_ringing(runs: Runs) -> list[Finding]:
    """Return a finding: does LFNO have a smaller excess variation than FNO at the shock of Burgers' equation?"""
    rings = {}
    for label in ("FNO", "LFNO"):
        found = [v for r in runs.main.where(task="burgers", label=label).all if (v := ringing(r)) is not None]
        if found:
            rings[label] = float(np.mean(found))
    if len(rings) < 2:
        return []
    words = ", ".join(f"{label} {share:.2%}" for label, share in rings.items())
    return [Finding("excess variation in x of one test sample", words, rings["LFNO"] < rings["FNO"], rings)]


def narrower_variance(runs: Runs) -> list[Finding]:
    """Return a finding for each ODE: in the steady regime, does the error of LFNO vary less over time than the error of LNO?"""
    findings = []
    for task in titles.ODES:
        spread = {}
        for label in ("LFNO", "LNO"):
            steady = [r.regimes.get("steady", {}) for r in runs.main.where(task=task, label=label).all]
            found = [regime["variance"] for regime in steady if "variance" in regime]
            if found:
                spread[label] = float(np.mean(found))
        if len(spread) == 2:
            words = f"LFNO {number(spread['LFNO'])}, LNO {number(spread['LNO'])}"
            findings.append(Finding(titles.title(task), words, spread["LFNO"] < spread["LNO"], spread))
    return findings


def stable_as_parameters_grow(runs: Runs) -> list[Finding]:
    """Return two findings: does the error of LFNO stay nearly constant as c or ρ grows, while the error of LNO grows?"""
    findings = []
    for name, easy, hard in (("c 0 → 0.5", "duffing-c0", "duffing-c05"), ("ρ 5 → 10", "lorenz-rho5", "lorenz-rho10")):
        growth = {}
        for label in ("LFNO", "LNO"):
            before, after = mean_error(runs, easy, label), mean_error(runs, hard, label)
            if before is not None and after is not None:
                growth[label] = ratio(after, before)
        if "LFNO" in growth:
            words = "growth of the error: " + ", ".join(f"{label} {factor(value)}" for label, value in growth.items())
            holds = growth["LFNO"] <= STABLE < growth.get("LNO", math.inf)
            findings.append(Finding(name, words, holds, growth, "LNO" in growth))
    return findings
