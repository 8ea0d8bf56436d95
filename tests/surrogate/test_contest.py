"""The test errors of a model and of the baselines."""

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from scipy.signal import lsim

from lfno.core.grid import Grid
from lfno.data.dataset import Dataset
from lfno.data.prepare import prepare
from lfno.data.prepared import Prepared
from lfno.data.signals.record import Record
from lfno.data.split import standard
from lfno.surrogate import Answer
from lfno.surrogate.contest import contest_record, contest_samples
from lfno.surrogate.scores import Scores
from lfno.surrogate.verdict import MODAL
from lfno.systems.base import Channel

SIZE = 800


@pytest.mark.parametrize(("test", "before"), [("10:20", 99), ("60:80", 599), ("0:10", None)])
def test_persistence_holds_the_last_value_before_the_test(test: str, before: int | None) -> None:
    """The output is a ramp of one unit per sample, so the error of a constant prediction grows by one per sample."""
    ramp = np.arange(SIZE, dtype=float)[None]
    noise = np.random.default_rng(0).normal(size=(1, SIZE))
    record = Record(noise, ramp, Grid.line(SIZE, 0.1), (Channel("f"),), (Channel("u"),))
    prepared = prepare(record, window=40, warmup=10, test=test)
    assert prepared.stretch is not None
    start, stop = prepared.stretch
    silent = SimpleNamespace(has_memory=False, ask=lambda data: Answer(np.zeros_like(data.outputs), None, ()))
    contest, _ = contest_record(silent, prepared, "LFNO")  # type: ignore[arg-type]
    held = stop if before is None else before  # a test at the beginning uses the first value after the test
    expected = np.sqrt(np.mean((np.arange(start + 10, stop) - held) ** 2.0))
    assert contest.rows["persistence"]["rmse"] == pytest.approx([expected])


def same(rows: dict[str, dict[str, Any]], others: dict[str, dict[str, Any]]) -> None:
    """Assert that two tables of errors are equal."""
    assert rows.keys() == others.keys()
    for name, row in rows.items():
        for figure, value in row.items():
            assert others[name][figure] == pytest.approx(value, abs=1e-9), (name, figure)


def oscillator(samples: int, size: int) -> tuple[np.ndarray, np.ndarray]:
    """Return forces and motions of a linear oscillator from rest, each (samples, 1, time)."""
    force = np.random.default_rng(1).normal(size=(samples, 1, size))
    response = [lsim(([2.0], [1.0, 0.8, 4.0]), one[0], 0.1 * np.arange(size))[1] for one in force]
    return force, np.stack(response)[:, None]


def test_a_gap_in_a_linear_record_does_not_make_a_network_look_good() -> None:
    """The verdict says that the linear model of a linear system is better than an artificial "network" with an error of 1 %.

    Training and test data have a gap. The values in the gap do not change any error.
    """
    force, motion = oscillator(1, 4000)
    mask = np.ones((1, 4000), dtype=bool)
    mask[:, 1500:1900] = mask[:, 3500:3600] = False
    answer = motion[0] + 0.01 * motion.std() * np.random.default_rng(2).normal(size=(1, 4000))
    channels = (Channel("f"),), (Channel("u"),)
    contests = []
    for fill in (0.0, 30.0):
        record = Record(force[0], np.where(mask, motion[0], fill), Grid.line(4000, 0.1), *channels, mask=mask)
        prepared = prepare(record, window=200, warmup=100)
        start, stop = prepared.stretch or (0, 0)
        network = SimpleNamespace(has_memory=False, ask=lambda data, a=start, b=stop: Answer(answer[:, a:b], None, ()))
        contests.append(contest_record(network, prepared, "LFNO")[0])  # type: ignore[arg-type]
    same(contests[0].rows, contests[1].rows)
    assert contests[0].rows["LFNO"]["nrmse"] == pytest.approx(0.01, rel=0.2)
    assert contests[0].rows[MODAL]["nrmse"] < 0.003
    assert "is not worth its training" in contests[0].verdict


def test_values_in_gaps_of_trajectories_do_not_change_the_errors() -> None:
    force, motion = oscillator(20, 150)
    mask = np.random.default_rng(3).random(motion.shape) < 0.9
    data = Dataset(force, motion, Grid.line(150, 0.1), mask=mask)
    rows = []
    for fill in (0.0, 30.0):
        spoiled = replace(data, outputs=np.where(mask, motion, fill))
        network = SimpleNamespace(ask=lambda chosen: Answer(np.zeros_like(chosen.outputs), None, ()))
        rows.append(contest_samples(network, Prepared(spoiled, standard(20), []), "LFNO").rows)  # type: ignore[arg-type]
    same(*({name: row for name, row in one.items() if name != "persistence"} for one in rows))
    assert rows[0][MODAL]["nrmse"] < 0.02


def test_the_scores_of_the_chosen_model_do_not_depend_on_the_order_of_the_rows() -> None:
    """A file sorts the rows by name, so the first row may be a baseline."""
    rows = {"linear baseline": {"l2": 0.6}, "feedback": {"l2": 0.01}, "linear": {"l2": 0.5}}
    assert Scores(rows, "", [], {"feedback": {"chosen": True}, "linear": {"chosen": False}}).own["l2"] == 0.01
    assert Scores(rows, "", [], {"linear": {"chosen": True}}).own["l2"] == 0.5
    assert Scores(rows, "", []).own == {}
