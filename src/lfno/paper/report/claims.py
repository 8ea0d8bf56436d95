"""The claims of the paper, each with a function that measures it on the records."""

from __future__ import annotations

import math

from lfno.paper.report import paper
from lfno.paper.report.behaviour import (
    lower_loss_worse_test,
    monotone_training,
    narrower_variance,
    shock_ringing,
    stable_as_parameters_grow,
    steadier_training,
)
from lfno.paper.report.comparisons import every, lower, said
from lfno.paper.report.selection import Figure, Runs
from lfno.paper.report.studies import LAYERS, layers_of
from lfno.paper.report.verdicts import Claim, Finding, Verdict, figure_of
from lfno.systems import titles


def lowest_on_the_odes(runs: Runs) -> list[Finding]:
    """One finding for each ODE with records of LFNO and another model. The claim needs all three models."""
    findings = []
    for task in titles.ODES:
        found = {label: f for label in paper.MODELS if (f := figure_of(runs, task, label)) is not None}
        if "LFNO" in found and len(found) > 1:
            words = ", ".join(f"{label} {said(figure)}" for label, figure in found.items())
            lowest = _mean(found["LFNO"]) == min(map(_mean, found.values()))
            findings.append(Finding(titles.title(task), words, lowest, _means(found), len(found) == len(paper.MODELS)))
    return findings


def sample_efficiency(runs: Runs) -> list[Finding]:
    """Whether LFNO's error is the lowest at every size of the training set."""
    findings = []
    study = runs.study("samples")
    for task in study.tasks:
        for size in sorted({r.train_samples for r in study.all}):
            own = study.where(task=task, train_samples=size)
            found = {model: f for model in paper.MODELS if (f := own.of(model).error("l2")) is not None}
            if "LFNO" in found and len(found) > 1:
                words = ", ".join(f"{model} {said(figure)}" for model, figure in found.items())
                supports = _mean(found["LFNO"]) == min(map(_mean, found.values()))
                findings.append(Finding(f"{titles.title(task)}, {size} samples", words, supports, _means(found)))
    return findings


def more_transient_layers(runs: Runs) -> list[Finding]:
    """Whether 4 + 2 layers have a lower error than 3 + 3 and 2 + 4. The extremes 6 + 0 and 0 + 6 are reported, too."""
    findings = []
    study = runs.study("layers")
    for task in study.tasks:
        own = study.where(task=task).all
        shared = {pair: Runs(r for r in own if layers_of(r) == pair).error("l2") for pair in LAYERS}
        found = {pair: figure for pair, figure in shared.items() if figure is not None}
        others = [_mean(found[pair]) for pair in ((3, 3), (2, 4)) if pair in found]
        if (4, 2) in found and others:
            words = ", ".join(f"{a}+{b} {said(figure)}" for (a, b), figure in found.items())
            values = {f"{a}+{b}": _mean(figure) for (a, b), figure in found.items()}
            findings.append(Finding(titles.title(task), words, _mean(found[4, 2]) < min(others), values, len(others) == 2))
    return findings


def _mean(figure: Figure) -> float:
    return figure.mean if math.isfinite(figure.mean) else math.inf


def _means(found: dict[str, Figure]) -> dict[str, float]:
    return {label: _mean(figure) for label, figure in found.items()}


_ODES, _PDES = "lfno reproduce --tasks ode", "lfno reproduce --tasks pde"
_UP = "upward share of the variation of the loss"
CLAIMS = (
    Claim(
        "LFNO has the lowest L2 error on all five ODEs",
        "0.0518, 0.0142, 0.0075, 0.1731, 0.0315",
        lowest_on_the_odes,
        _ODES,
        5,
    ),
    Claim("LFNO surpasses LNO on every PDE", "", every(*(lower(t, "LFNO", "LNO") for t in titles.PDES)), _PDES, 7),
    Claim(
        "On Burgers LFNO's L∞ error is nearly four times below FNO's",
        "0.0125 against 0.0471 (3.8×)",
        lower("burgers", "LFNO", "FNO", "linf", by=3.5),
        _PDES,
        quantity="relative L∞ error",
    ),
    Claim(
        "On Navier–Stokes ν = 10⁻³ LFNO is over an order of magnitude below FNO",
        "0.0026 against 0.0286 (11×)",
        lower("navier-stokes-nu1e-3", "LFNO", "FNO", by=10),
        "lfno reproduce --tasks navier-stokes-nu1e-3",
    ),
    Claim("LFNO's training loss falls monotonically (ODEs)", "shown as curves", monotone_training, _ODES, 5, _UP),
    Claim("LFNO trains more steadily than FNO and LNO (ODEs)", "shown as curves", steadier_training, _ODES, 5, _UP),
    Claim(
        "FNO reaches a lower training loss but a worse test error (Burgers, Navier–Stokes)",
        "loss 10⁻⁵; test 0.0046 against 0.0026, 0.0006 against 0.0004",
        lower_loss_worse_test,
        _PDES,
        2,
        "error",
    ),
    Claim("LFNO rings less than FNO at Burgers' shock", "argued from L∞", shock_ringing, _PDES, 1, "excess variation in x"),
    Claim(
        "LFNO is more sample-efficient: lowest error at every training size",
        "not measured there",
        sample_efficiency,
        "lfno reproduce --study samples",
        10,
    ),
    Claim(
        "More transient than steady layers is better: 4+2 below 3+3 and 2+4",
        "stated as an observation",
        more_transient_layers,
        "lfno reproduce --study layers",
        2,
    ),
    Claim(
        "In the steady regime LFNO's error varies less than LNO's",
        "shown as curves",
        narrower_variance,
        _ODES,
        5,
        "variance of the error",
    ),
    Claim(
        "LFNO stays stable as c and ρ grow, while LNO degrades",
        "L2: c 0.27× (LNO 0.38×), ρ 23× (LNO 8.9×)",
        stable_as_parameters_grow,
        _ODES,
        2,
        "growth of the error",
    ),
)


def judge_claims(runs: Runs) -> list[Verdict]:
    """Return the verdicts on all claims of the paper."""
    return [verdict for claim in CLAIMS for verdict in claim.judge(runs)]
