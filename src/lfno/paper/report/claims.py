"""The claims of the paper. Each claim has a function that compares the records of runs and returns findings."""

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
    """Return a finding for each ODE: does LFNO have the lowest L2 error of the models that were run?"""
    findings = []
    for task in titles.ODES:
        found = {label: f for label in paper.MODELS if (f := figure_of(runs, task, label)) is not None}
        if "LFNO" in found and len(found) > 1:
            words = ", ".join(f"{label} {said(figure)}" for label, figure in found.items())
            lowest = _mean(found["LFNO"]) == min(map(_mean, found.values()))
            findings.append(Finding(titles.title(task), words, lowest, _means(found), len(found) == len(paper.MODELS)))
    return findings


def sample_efficiency(runs: Runs) -> list[Finding]:
    """Return a finding for each data set and number of training samples: does LFNO have the lowest L2 error?"""
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
    """Return a finding for each data set: do 4 transient + 2 steady layers have a lower error than 3 + 3 and 2 + 4 layers?

    The errors of 6 + 0 and 0 + 6 layers are part of the finding, but not of the question.
    """
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
    """Return the mean error; infinite for a model that diverged."""
    return figure.mean if math.isfinite(figure.mean) else math.inf


def _means(found: dict[str, Figure]) -> dict[str, float]:
    """Return the mean errors by name."""
    return {label: _mean(figure) for label, figure in found.items()}


_ODES, _PDES = "lfno reproduce --tasks ode", "lfno reproduce --tasks pde"
_UP = "upward part of the variation of the loss"
#: each claim with the published numbers, the function that compares the records, and the command that makes the records
CLAIMS = (
    Claim(
        "LFNO has the lowest L2 error on all five ODEs",
        "0.0518, 0.0142, 0.0075, 0.1731, 0.0315",
        lowest_on_the_odes,
        _ODES,
        5,
    ),
    Claim(
        "LFNO has a lower L2 error than LNO on every PDE",
        "",
        every(*(lower(t, "LFNO", "LNO") for t in titles.PDES)),
        _PDES,
        7,
    ),
    Claim(
        "On Burgers, the L∞ error of FNO is nearly four times the error of LFNO",
        "LFNO 0.0125, FNO 0.0471 (3.8×)",
        lower("burgers", "LFNO", "FNO", "linf", by=3.5),
        _PDES,
        quantity="relative L∞ error",
    ),
    Claim(
        "On Navier–Stokes with ν = 10⁻³, the L2 error of FNO is more than ten times the error of LFNO",
        "LFNO 0.0026, FNO 0.0286 (11×)",
        lower("navier-stokes-nu1e-3", "LFNO", "FNO", by=10),
        "lfno reproduce --tasks navier-stokes-nu1e-3",
    ),
    Claim(
        "On the ODEs, the training loss of LFNO decreases monotonically",
        "a figure without numbers",
        monotone_training,
        _ODES,
        5,
        _UP,
    ),
    Claim(
        "On the ODEs, the training loss of LFNO fluctuates less than the losses of FNO and LNO",
        "a figure without numbers",
        steadier_training,
        _ODES,
        5,
        _UP,
    ),
    Claim(
        "On Burgers and Navier–Stokes, FNO has a lower training loss than LFNO but a larger test error",
        "training loss of FNO 10⁻⁵; test errors of FNO and LFNO: 0.0046 and 0.0026, 0.0006 and 0.0004",
        lower_loss_worse_test,
        _PDES,
        2,
        "error",
    ),
    Claim(
        "At the shock of Burgers' equation, LFNO oscillates less than FNO",
        "concluded from the L∞ errors",
        shock_ringing,
        _PDES,
        1,
        "excess variation in x",
    ),
    Claim(
        "LFNO needs fewer training samples: it has the lowest error for every number of samples",
        "not measured",
        sample_efficiency,
        "lfno reproduce --study samples",
        10,
    ),
    Claim(
        "More transient than steady layers are better: 4+2 layers have a lower error than 3+3 and 2+4 layers",
        "stated without numbers",
        more_transient_layers,
        "lfno reproduce --study layers",
        2,
    ),
    Claim(
        "In the steady regime, the error of LFNO varies less than the error of LNO",
        "a figure without numbers",
        narrower_variance,
        _ODES,
        5,
        "variance of the error",
    ),
    Claim(
        "As c or ρ grows, the error of LFNO stays nearly constant and the error of LNO grows",
        "growth of the L2 error with c: LFNO 0.27×, LNO 0.38×; with ρ: LFNO 23×, LNO 8.9×",
        stable_as_parameters_grow,
        _ODES,
        2,
        "growth of the error",
    ),
)


def judge_claims(runs: Runs) -> list[Verdict]:
    """Return the verdicts on all claims of the paper."""
    return [verdict for claim in CLAIMS for verdict in claim.judge(runs)]
