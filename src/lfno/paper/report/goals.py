"""The goals of this library and whether they are reached: errors below the published ones, errors below FNO, and speed."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from lfno.paper.report import paper
from lfno.paper.report.baselines import Scores
from lfno.paper.report.comparisons import below, every, lower, lower_in_both, most, said
from lfno.paper.report.selection import Runs
from lfno.paper.report.verdicts import FAILS, HOLDS, OPEN, SO_FAR, Claim, Finding, Verdict, factor, figure_of
from lfno.paper.studies import RICH, STUDIED
from lfno.systems import titles
from lfno.training.config import HELD

#: data set -> largest L2 error of LFNO with the default preset that reaches the goal
LIMITS = {"duffing-c0": 0.015, "duffing-c05": 0.0025, "lorenz-rho5": 0.0005, "lorenz-rho10": 0.03, "pendulum-c05": 0.002}
#: published error of FNO-3D on Navier–Stokes, ν = 10⁻³, with 1000 training samples (Li et al., 2021). Our records cannot be
#: compared with it: they have 380 samples of weaker initial fields (the data set `navier-stokes-nu1e-3-printed`)
PUBLISHED_FLOW = 0.0086
EPOCHS = 5000  # epochs of the stack whose training time is a goal
RUNS = 15  # runs of this stack: five ODEs with three seeds
MINUTES = 5.0  # longest training time of the stack that reaches the goal
CHEAPER = 3.0  # smallest ratio of the time of single runs to the time of the stack that reaches the goal
BENCHMARK = Path("benchmarks") / "training.json"  # file inside the folder of records
#: verdict on a claim -> the word for a goal
REACHED = {HOLDS: "reached", SO_FAR: "reached so far", FAILS: "not reached", OPEN: "not run"}


def not_above_exact(runs: Runs) -> list[Finding]:
    """Return a finding for each data set of STUDIED: is the default LFNO at least as good as LFNO with exact layers?

    R is one trainable channel matrix for each low Fourier mode of a layer. Exact layers have no R: their steady part follows
    exactly from the poles. If the pilot (short trial runs) chose R = 0, the default LFNO has exact layers.
    Otherwise the errors are compared: the error of exact layers in the ablation study, and the error of the default in the
    ablation study or, without such records, in the main study.
    """
    findings = []
    for task in STUDIED:
        own = runs.main.where(task=task, label="LFNO")
        if own.all and all(r.training.get("steady_decay") == HELD for r in own.all):
            words = f"LFNO {said(own.error('l2'))} has exact layers: the pilot chose R = 0"
            findings.append(Finding(titles.title(task), words, True))
            continue
        study = runs.study("ablation").where(task=task)
        exact = Runs(r for r in study.all if r.config.get("steady") == "exact").error("l2")
        mine = study.where(label="default").error("l2") or figure_of(runs, task, "LFNO")
        if exact is not None and mine is not None:
            words = f"LFNO {said(mine)}, exact layers {said(exact)}"
            findings.append(Finding(titles.title(task), words, mine.mean <= exact.mean))
    return findings


def paper_goals() -> list[Claim]:
    """Return the goals for the preset of the paper."""
    theirs = paper.ODE_L2.errors["LFNO"]
    return [
        Claim(
            "The paper's network on ODEs: L2 errors below the published errors of LFNO",
            ", ".join(f"{theirs[task]:.4f}" for task in titles.ODES),
            every(*(below(task, theirs[task]) for task in titles.ODES)),
            "lfno reproduce --preset paper --tasks ode",
            5,
        )
    ]


def default_goals(baselines: dict[str, Scores]) -> list[Claim]:
    """Return the goals for the default preset."""
    odes, pdes = "lfno reproduce --tasks ode --models lfno,fno,'fno deep'", "lfno reproduce --tasks pde --models lfno,fno"
    rich = "lfno reproduce --tasks rich --models lfno,fno"
    persistence = baselines.get("navier-stokes", {}).get("persistence", {}).get("l2")
    # if the error of persistence is unknown, the goal stays open
    still = every() if persistence is None else below("navier-stokes", persistence)
    return [
        Claim("ODEs: L2 errors below our limits", "", every(*(below(t, v, True) for t, v in LIMITS.items())), odes, 5),
        Claim(
            "ODEs: L2 and L∞ errors below FNO with the same width, modes and epochs",
            "",
            every(*(lower_in_both(task, "LFNO", "FNO") for task in titles.ODES)),
            odes,
            5,
        ),
        Claim(
            "ODEs: L2 and L∞ errors below FNO deep (at least as many parameters), on four of five",
            "",
            most(every(*(lower_in_both(task, "LFNO", "FNO deep") for task in titles.ODES)), 4, len(titles.ODES)),
            odes,
        ),
        Claim(
            "1-D PDEs: L2 errors below the best published model",
            ", ".join(f"{paper.PDE_L2.best(task)[1]:.4f}" for task in titles.LINES),
            every(*(below(task, paper.PDE_L2.best(task)[1]) for task in titles.LINES)),
            pdes,
            5,
        ),
        Claim(
            "1-D PDEs: L2 and L∞ errors below our FNO",
            "",
            every(*(lower_in_both(task, "LFNO", "FNO") for task in titles.LINES)),
            pdes,
            5,
        ),
        Claim(
            "Navier–Stokes: L2 error below persistence (the initial state for ever)",
            "",
            still,
            "lfno reproduce --tasks navier-stokes --seeds 1",
        ),
        Claim(
            "Navier–Stokes, ν = 10⁻³, weak initial fields: L2 error below our FNO with the same width and epochs "
            "(with the published initial fields, FNO has the lower error)",
            f"not comparable: FNO-3D {PUBLISHED_FLOW}, with 1000 samples and six times larger initial fields (Li et al., 2021)",
            lower("navier-stokes-nu1e-3", "LFNO", "FNO"),
            "lfno reproduce --tasks navier-stokes-nu1e-3 --seeds 1 --models lfno,fno",
        ),
        Claim(
            "Rich inputs: L2 error below a third of the error of FNO",
            "",
            every(*(lower(t, "LFNO", "FNO", by=3) for t in RICH)),
            rich,
            len(RICH),
        ),
        Claim(
            "Rich inputs: L∞ error below a quarter of the error of FNO",
            "",
            every(*(lower(t, "LFNO", "FNO", "linf", by=4) for t in RICH)),
            rich,
            len(RICH),
        ),
        Claim(
            "Rich inputs: L2 error not above LFNO with exact layers (R = 0)",
            "",
            not_above_exact,
            "lfno reproduce --study ablation",
            3,
        ),
    ]


def time_of_the_stack(runs: Runs) -> list[Finding]:
    """Return a finding: does the stack of five ODEs with three seeds reach epoch 5000 within MINUTES?"""
    own = [r for task in titles.ODES for r in runs.main.where(task=task, label="LFNO").all if r.fold == 0 and r.seed < 3]
    looks = [(r.history.get("epoch") or [0], r.history.get("seconds") or [0.0]) for r in own]
    if len(own) < RUNS or any(epochs[-1] < EPOCHS for epochs, _ in looks):
        return []
    shares = [np.interp(EPOCHS, *look) / r.stacked for r, look in zip(own, looks, strict=True)]
    minutes = float(sum(shares)) / 60
    where = ", ".join(sorted({r.environment.get("hardware", "unknown") for r in own}))
    words = f"{minutes:.3g} min on {where}, without the time for the choice of initial weights"
    return [Finding("", words, minutes <= MINUTES)]


def cheaper_together(benchmark: dict[str, Any]) -> list[Finding]:
    """Return a finding: is the time of a stack at most a third of the time of single runs, by `benchmarks/training.py`?"""
    try:
        times, where = float(benchmark["cheaper"]), str(benchmark["environment"]["hardware"])
    except (KeyError, TypeError, ValueError):
        return []
    return [Finding("", f"{factor(times)} on {where}", times >= CHEAPER)]


def read_benchmark(results: Path) -> dict[str, Any]:
    """Return the results of `benchmarks/training.py` in the folder of records; {} if there are none."""
    try:
        found = json.loads((results / BENCHMARK).read_text())
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}


def judge_goals(runs: Runs, baselines: dict[str, Scores], benchmark: dict[str, Any] | None = None) -> list[Verdict]:
    """Return the verdicts on all goals."""
    paper_runs, default_runs = runs.where(preset="paper"), runs.where(preset="default")
    speed = Claim(
        "Speed: 5000 epochs of the paper's LFNO on five ODEs with three seeds take at most 5 minutes",
        "",
        time_of_the_stack,
        "lfno reproduce --preset paper --tasks ode --models lfno",
    )
    verdicts = [verdict for goal in (*paper_goals(), speed) for verdict in goal.judge(paper_runs)]
    findings = tuple(cheaper_together(benchmark or {}))
    verdict = OPEN if not findings else HOLDS if findings[0].supports else FAILS
    command = "" if findings else f"python benchmarks/training.py --out results/{BENCHMARK.as_posix()}"
    goal_of_stack = "Speed: a stack of 15 runs takes at most a third of the time of 15 single runs"
    together = Verdict(goal_of_stack, "", findings, verdict, "paper", command)
    verdicts[1:1] = [verdict for goal in default_goals(baselines) for verdict in goal.judge(default_runs)]
    return [replace(one, verdict=REACHED[one.verdict]) for one in (*verdicts, together)]
