"""Each goal is reached by records that we constructed to reach the goal, and not reached by other records."""

from __future__ import annotations

from lfno.paper.record import RunRecord
from lfno.paper.report.goals import REACHED, judge_goals
from lfno.paper.report.selection import Runs
from lfno.paper.report.verdicts import FAILS, HOLDS, OPEN
from lfno.systems import titles
from tests.paper.report.builder import record, three


def test_without_records_every_goal_is_open() -> None:
    assert {v.verdict for v in judge_goals(Runs([]), {})} == {REACHED[OPEN]}


def test_goals_about_errors() -> None:
    good = three("navier-stokes", 0.1, 0.1, 0.0004)
    limits = {"navier-stokes": {"persistence": {"l2": 0.0005, "linf": 0.001}}}

    def one(records: list[RunRecord], start: str) -> str:
        """Return the verdict on the goal that begins with these words."""
        return next(v.verdict for v in judge_goals(Runs(records), limits) if v.claim.startswith(start))

    persistence, deeper = "Navier–Stokes: L2 error below persistence", "ODEs: L2 and L∞ errors below FNO deep"
    assert one(good, persistence) == REACHED[HOLDS]
    assert one(three("navier-stokes", 0.1, 0.1, 0.0006), persistence) == REACHED[FAILS]
    deep = [record(t, "FNO deep", 0.1 if t != "lorenz-rho5" else 0.01) for t in titles.ODES]
    lfno = [record(t, "LFNO", 0.05) for t in titles.ODES]
    assert one(deep + lfno, deeper) == REACHED[HOLDS]
    assert one(deep[:3] + lfno[:3], deeper) == REACHED[OPEN]
    assert one([*deep[1:], record("duffing-c0", "FNO deep", 0.01), *lfno], deeper) == REACHED[FAILS]


def test_goal_about_exact_layers() -> None:
    def verdict_of(error: float) -> str:
        """Return the verdict if exact layers have the error 0.1, and the default LFNO has the error `error`."""
        tasks = ("duffing-c05-rich", "pendulum-c05-rich", "lorenz-rho5-rich")
        exact = [record(t, "R none", 0.1, study="ablation", config={"steady": "exact"}) for t in tasks]
        found = judge_goals(Runs(exact + [record(t, "LFNO", error) for t in tasks]), {})
        return next(v.verdict for v in found if "exact layers" in v.claim)

    assert verdict_of(0.1) == REACHED[HOLDS]
    assert verdict_of(0.11) == REACHED[FAILS]


def test_goals_about_speed() -> None:
    def one(records: list[RunRecord], cheaper: float, start: str) -> str:
        """Return the verdict on the goal that begins with these words. A stack is `cheaper` times faster than single runs."""
        told = {"cheaper": cheaper, "environment": {"hardware": "a GPU"}}
        return next(v.verdict for v in judge_goals(Runs(records), {}, told) if v.claim.startswith(start))

    def stack(seconds: float, seeds: int = 3) -> list[RunRecord]:
        """Return the records of a stack of 15 runs that reaches epoch 5000 after this time, and ends at epoch 8000."""
        history = {"epoch": [10, 4990, 5010, 8000], "seconds": [0.0, seconds - 1, seconds + 1, 2 * seconds]}
        return [
            record(task, "LFNO", 0.1, preset="paper", seed=seed, stacked=15, history=history)
            for task in titles.ODES
            for seed in range(seeds)
        ]

    assert one(stack(299), 3.1, "Speed: 5000 epochs") == REACHED[HOLDS]
    assert one(stack(301), 3.1, "Speed: 5000 epochs") == REACHED[FAILS]
    assert one(stack(299, seeds=2), 3.1, "Speed: 5000 epochs") == REACHED[OPEN]
    assert one([], 3.1, "Speed: a stack") == REACHED[HOLDS]
    assert one([], 2.9, "Speed: a stack") == REACHED[FAILS]
