"""What this library set out to reach, with what it reached: lower errors than the paper's, and than an honest FNO."""

from __future__ import annotations

from collections.abc import Callable

from lfno.report import paper
from lfno.report.baselines import Scores
from lfno.report.claims import every, lower
from lfno.report.selection import Runs
from lfno.report.tables import number
from lfno.report.verdicts import Claim, Finding, Verdict, mean_error

Measure = Callable[[Runs], list[Finding]]

#: largest L2 of the default LFNO
LIMITS = {"duffing-c0": 0.015, "duffing-c05": 0.0025, "lorenz-rho5": 0.0005, "lorenz-rho10": 0.03, "pendulum-c05": 0.002}
RICH = ("duffing-c05-rich", "pendulum-c05-rich", "lorenz-rho5-rich")


def below(task: str, limit: float, inclusive: bool = False) -> Measure:
    """Is LFNO's L2 error below a number?"""

    def measure(runs: Runs) -> list[Finding]:
        mine = mean_error(runs, task, "LFNO")
        if mine is None:
            return []
        words = f"{number(mine)}, limit {number(limit)}"
        return [Finding(paper.title(task), words, mine <= limit if inclusive else mine < limit)]

    return measure


def most(measure: Measure, count: int, total: int) -> Measure:
    """One finding that `count` of `total` findings support; none while that is not decided."""

    def counted(runs: Runs) -> list[Finding]:
        findings = measure(runs)
        support = sum(finding.supports for finding in findings)
        if support < count and len(findings) - support <= total - count:
            return []
        words = f"on {support} of {len(findings)}: " + "; ".join(f"{f.where} {f.words}" for f in findings)
        return [Finding("", words, support >= count)]

    return counted


def not_above_exact(runs: Runs) -> list[Finding]:
    """LFNO against the variant of the ablation that has no free weights in its steady part."""
    findings = []
    for task in RICH:
        exact = Runs(r for r in runs.study("ablation").where(task=task).all if r.config.get("steady") == "exact")
        figure, mine = exact.error("l2"), mean_error(runs, task, "LFNO")
        if figure is not None and mine is not None:
            words = f"LFNO {number(mine)}, exact layers {number(figure.mean)}"
            findings.append(Finding(paper.title(task), words, mine <= figure.mean))
    return findings


def paper_goals() -> list[Claim]:
    theirs = paper.ODE_L2.errors["LFNO"]
    return [
        Claim(
            "Paper's network: L2 below the published LFNO on all five ODEs",
            ", ".join(f"{theirs[task]:.4f}" for task in paper.ODES),
            every(*(below(task, theirs[task]) for task in paper.ODES)),
            "lfno reproduce --preset paper",
            5,
        )
    ]


def default_goals(baselines: dict[str, Scores]) -> list[Claim]:
    command = "lfno reproduce --models lfno,fno,'fno deep'"
    flow = "lfno reproduce --tasks navier-stokes-nu1e-3 --seeds 1"
    rich = "lfno reproduce --tasks rich"
    persistence = baselines.get("navier-stokes", {}).get("persistence", {}).get("l2")
    goals = [
        Claim("L2 on the ODEs within the limits", "", every(*(below(t, v, True) for t, v in LIMITS.items())), command, 5),
        Claim(
            "Below FNO of equal width on the ODEs, L2 and L∞",
            "",
            every(*(_both_at_once(task, "FNO") for task in paper.ODES)),
            command,
            5,
        ),
        Claim(
            "Below the deepened FNO on at least four ODEs, L2 and L∞",
            "",
            most(every(*(_both_at_once(task, "FNO deep") for task in paper.ODES)), 4, len(paper.ODES)),
            command,
        ),
        Claim(
            "L2 below the best published model on the five 1-D PDEs",
            ", ".join(f"{paper.PDE_L2.best(task)[1]:.4f}" for task in paper.LINES),
            every(*(below(task, paper.PDE_L2.best(task)[1]) for task in paper.LINES)),
            command,
            5,
        ),
        Claim(
            "Below our FNO on the 1-D PDEs, L2 and L∞",
            "",
            every(*(_both_at_once(task, "FNO") for task in paper.LINES)),
            command,
            5,
        ),
        Claim(
            "ν = 10⁻³: below our FNO",
            "FNO-3D 0.0086, with 1000 samples (Li et al., 2021)",
            lower("navier-stokes-nu1e-3", "LFNO", "FNO"),
            flow,
        ),
        Claim("Rich inputs: 3 times below FNO in L2", "", every(*(lower(t, "LFNO", "FNO", by=3) for t in RICH)), rich, 3),
        Claim(
            "Rich inputs: 4 times below FNO in L∞",
            "",
            every(*(lower(t, "LFNO", "FNO", "linf", by=4) for t in RICH)),
            rich,
            3,
        ),
    ]
    goals.append(Claim("Rich inputs: not above a stack of exact layers, R = 0", "", not_above_exact, rich, 3))
    # an error of persistence that is not known is no limit, and the goal stays open
    measure = (lambda runs: []) if persistence is None else below("navier-stokes", persistence)
    goals.insert(5, Claim("Navier–Stokes: below persistence", "", measure, "lfno reproduce --tasks navier-stokes"))
    return goals


def _both_at_once(task: str, other: str) -> Measure:
    """One finding for two norms: it supports if both do."""

    def measure(runs: Runs) -> list[Finding]:
        findings = every(lower(task, "LFNO", other), lower(task, "LFNO", other, "linf"))(runs)
        if len(findings) < 2:
            return []
        words = "L2 " + findings[0].words + ", L∞ " + findings[1].words
        return [Finding(paper.title(task), words, all(finding.supports for finding in findings))]

    return measure


def judge_goals(runs: Runs, baselines: dict[str, Scores]) -> list[Verdict]:
    paper_runs, default_runs = runs.where(preset="paper"), runs.where(preset="default")
    verdicts = [verdict for goal in paper_goals() for verdict in goal.judge(paper_runs)]
    return verdicts + [verdict for goal in default_goals(baselines) for verdict in goal.judge(default_runs)]
