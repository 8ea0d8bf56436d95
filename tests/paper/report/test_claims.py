"""Each claim holds for records that we constructed to support the claim, and fails for records that contradict the claim.

The functions with the argument `good` return records for one claim. They support the claim if `good` is True, and contradict it
otherwise.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest

from lfno.paper.record import RunRecord
from lfno.paper.report import paper
from lfno.paper.report.behaviour import backtrack, ringing
from lfno.paper.report.claims import CLAIMS, judge_claims
from lfno.paper.report.figures.claims import claim_dots
from lfno.paper.report.flip import flip_share
from lfno.paper.report.selection import Runs
from lfno.paper.report.verdicts import FAILS, HOLDS, OPEN, SO_FAR
from lfno.systems import titles
from tests.paper.report.builder import record, three


def losses(values: list[float]) -> dict[str, list[float]]:
    """Return the history of a run with these losses."""
    return {"epoch": list(range(len(values))), "train": values, "validation": values}


def lowest_everywhere(good: bool) -> list[RunRecord]:
    return [r for task in titles.ODES for r in three(task, 0.3, 0.2, 0.1 if good else 0.25)]


def below_lno(good: bool) -> list[RunRecord]:
    return [r for task in titles.PDES for r in three(task, 0.1, 0.4, 0.2 if good else 0.5)]


def burgers_maximum(good: bool) -> list[RunRecord]:
    return [record("burgers", "FNO", 0.1, 0.4), record("burgers", "LFNO", 0.1, 0.1 if good else 0.2)]


def tenfold(good: bool) -> list[RunRecord]:
    return three("navier-stokes-nu1e-3", 0.11, 0.2, 0.01 if good else 0.02)


def training(good: bool) -> list[RunRecord]:
    smooth, rough = losses([1.0, 0.5, 0.25, 0.12]), losses([1.0, 0.5, 0.9, 0.4])
    return [
        record(task, label, 0.1, history=smooth if (label == "LFNO") == good else rough)
        for task in titles.ODES
        for label in paper.MODELS
    ]


def decoupled(good: bool) -> list[RunRecord]:
    low, high = losses([1.0, 1e-5]), losses([1.0, 1e-4])
    return [
        record(task, label, error, history=history)
        for task in ("burgers", "navier-stokes")
        for label, error, history in (("FNO", 0.2, low if good else high), ("LFNO", 0.1, high if good else low))
    ]


def shock(good: bool) -> list[RunRecord]:
    x = np.linspace(-1, 1, 50)[None, :, None] * np.ones((1, 50, 6))
    truth = np.sign(x)
    ripple = 0.1 * np.sin(40 * x)
    clean, ringed = ({"truth": truth.tolist(), "prediction": (truth + a * ripple).tolist()} for a in (0, 1))
    return [
        record("burgers", "LFNO", 0.1, example=clean if good else ringed),
        record("burgers", "FNO", 0.1, example=ringed if good else clean),
    ]


def samples(good: bool) -> list[RunRecord]:
    return [
        record(task, f"{label} {n}", error, study="samples", train_samples=n)
        for task in ("duffing-c05", "duffing-c05-rich")
        for n in (50, 100, 150, 200, 274)
        for label, error in (("FNO", 0.2), ("LNO", 0.3), ("LFNO", 0.1 if good or n == 50 else 0.25))
    ]


def layers(good: bool) -> list[RunRecord]:
    errors = {(4, 2): 0.1 if good else 0.3, (3, 3): 0.2, (2, 4): 0.4, (6, 0): 0.05, (0, 6): 0.9}
    return [
        record(task, f"LFNO {a}+{b}", e, study="layers", config={"transient_layers": a, "steady_layers": b})
        for task in ("duffing-c05", "pendulum-c05")
        for (a, b), e in errors.items()
    ]


def variance(good: bool) -> list[RunRecord]:
    return [
        record(task, label, 0.1, regimes={"steady": {"variance": 1e-4 if (label == "LFNO") == good else 1e-2}})
        for task in titles.ODES
        for label in ("LFNO", "LNO")
    ]


def growth(good: bool) -> list[RunRecord]:
    last = 0.015 if good else 0.03
    runs = three("duffing-c0", 1, 0.1, 0.02) + three("duffing-c05", 1, 0.3, 0.02)
    return runs + three("lorenz-rho5", 1, 0.1, 0.01) + three("lorenz-rho10", 1, 0.5, last)


#: first words of a claim -> the function that makes records
CASES: dict[str, Callable[[bool], list[RunRecord]]] = {
    "LFNO has the lowest L2": lowest_everywhere,
    "LFNO has a lower L2 error than LNO": below_lno,
    "On Burgers, the L∞ error": burgers_maximum,
    "On Navier–Stokes with ν": tenfold,
    "On the ODEs, the training loss of LFNO decreases": training,
    "On the ODEs, the training loss of LFNO fluctuates": training,
    "On Burgers and Navier–Stokes": decoupled,
    "At the shock": shock,
    "LFNO needs fewer training samples": samples,
    "More transient": layers,
    "In the steady regime": variance,
    "As c or ρ grows": growth,
}


def verdict(start: str, records: list[RunRecord]) -> str:
    """Return the verdict on the claim that begins with these words."""
    (claim,) = (claim for claim in CLAIMS if claim.claim.startswith(start))
    (found,) = claim.judge(Runs(records))
    return found.verdict


def test_there_is_a_test_for_every_claim() -> None:
    assert len(CASES) == len(CLAIMS)


@pytest.mark.parametrize("start", CASES)
def test_a_claim_holds_for_supporting_records_and_fails_for_contradicting_ones(start: str) -> None:
    assert verdict(start, CASES[start](True)) == HOLDS
    assert verdict(start, CASES[start](False)) == FAILS
    assert verdict(start, []) == OPEN


def test_a_claim_holds_so_far_if_data_sets_are_missing() -> None:
    assert verdict("LFNO has the lowest L2", three("duffing-c0", 0.3, 0.2, 0.1)) == SO_FAR
    assert verdict("LFNO has the lowest L2", three("duffing-c0", 0.05, 0.2, 0.1)) == FAILS


@pytest.mark.parametrize(
    "start", ["LFNO has the lowest L2", "On the ODEs, the training loss of LFNO fluctuates", "As c or ρ grows"]
)
def test_a_claim_holds_so_far_if_a_model_is_missing(start: str) -> None:
    assert verdict(start, [r for r in CASES[start](True) if r.label != "LNO"]) == SO_FAR


def test_the_claim_about_growth_fails_if_the_error_of_lno_does_not_grow() -> None:
    runs = [*growth(True), *(record("lorenz-rho10", "LNO", 0.06, seed=k) for k in (1, 2))]
    calm = [r for r in runs if not (r.label == "LNO" and r.task == "lorenz-rho10" and r.seed == 0)]
    assert verdict("As c or ρ grows", calm) == FAILS


def test_a_claim_fails_if_lfno_diverged() -> None:
    records = [record("burgers", "FNO", 0.1, 0.4), record("burgers", "LFNO", math.nan, math.nan)]
    assert verdict("On Burgers, the L∞ error", records) == FAILS


def test_presets_are_judged_separately() -> None:
    records = three("navier-stokes-nu1e-3", 0.5, 0.5, 0.01) + three("navier-stokes-nu1e-3", 0.1, 0.1, 0.2, preset="paper")
    (claim,) = (claim for claim in CLAIMS if claim.claim.startswith("On Navier–Stokes with ν"))
    assert [(v.preset, v.verdict) for v in claim.judge(Runs(records))] == [("paper", FAILS), ("default", HOLDS)]


def test_without_records_no_claim_is_measured_and_each_names_a_command() -> None:
    assert {v.verdict for v in judge_claims(Runs([]))} == {OPEN}
    assert all(v.command for v in judge_claims(Runs([])))


def test_backtrack_is_the_upward_share_of_the_variation() -> None:
    assert backtrack([8, 4, 2, 1]) == 0
    assert backtrack([1, 2, 1, 2, 1]) == pytest.approx(0.5)
    assert backtrack([4, 1, 2]) == pytest.approx(1 / 3)


def test_ringing_is_the_excess_variation() -> None:
    truth = np.zeros((1, 3, 2))
    truth[0, 1] = 1.0  # up by 1 and down by 1: variation 2
    prediction = truth.copy()
    prediction[0, 2] = 0.25  # up by 1 and down by 0.75: variation 1.75
    exact = record("burgers", "FNO", 0.1, example={"truth": truth.tolist(), "prediction": truth.tolist()})
    assert ringing(exact) == 0
    below = record("burgers", "FNO", 0.1, example={"truth": truth.tolist(), "prediction": prediction.tolist()})
    assert ringing(below) == 0  # the prediction varies less than the truth
    prediction[0, 2] = -0.25
    above = record("burgers", "FNO", 0.1, example={"truth": truth.tolist(), "prediction": prediction.tolist()})
    assert ringing(above) == pytest.approx(0.125)
    assert ringing(record("burgers", "FNO", 0.1)) is None


def test_the_share_of_the_error_near_the_sign_flip() -> None:
    amplitudes = [1.0, 7.3, 7.4, 9.0]
    one = record("lorenz-rho10", "FNO", 0.1, samples={"A": amplitudes, "l2": [0.1, 0.5, 0.3, 0.1]})
    assert flip_share(one, nearest=2) == pytest.approx(0.8)
    assert flip_share(record("lorenz-rho10", "FNO", 0.1)) is None


@pytest.mark.parametrize("start", CASES)
def test_the_figure_of_a_claim_shows_all_numbers_of_the_findings(start: str) -> None:
    (claim,) = (claim for claim in CLAIMS if claim.claim.startswith(start))
    verdicts = claim.judge(Runs(CASES[start](False)))
    figure = claim_dots(verdicts)
    assert figure is not None
    drawn = sorted(float(line.get_xdata()[0]) for panel in figure.axes for line in panel.get_lines())
    assert drawn == pytest.approx(sorted(v for one in verdicts for finding in one.findings for v in finding.values.values()))
    assert claim_dots(claim.judge(Runs([]))) is None
