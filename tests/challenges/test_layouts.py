"""Files of every benchmark are read according to the protocol: for exact predictions, the figure of merit is the RMS noise."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from lfno.challenges import CHALLENGES, load
from lfno.challenges.protocol import Question, figures
from tests.challenges.layouts import SCALES, WRITERS, figure, write


def test_all_nine_benchmarks_have_a_layout_in_these_tests():
    assert set(WRITERS) == set(CHALLENGES)
    assert len(CHALLENGES) == 9


@pytest.mark.parametrize("name", WRITERS)
def test_the_figure_of_an_exact_prediction_is_the_noise(name: str, tmp_path: Path):
    expected, skip = write(name, tmp_path)
    data = load(name, tmp_path)
    challenge = data.challenge
    assert challenge.skip == skip
    measured = [measured for pairs in expected.values() for _, measured in pairs]
    assert len(data.test) == len(measured)
    for record, outputs in zip(data.test, measured, strict=True):
        np.testing.assert_allclose(record.outputs, outputs, rtol=1e-12)
    pairs = iter(zip(data.test, (clean for pairs in expected.values() for clean, _ in pairs), strict=True))

    class InOrder:
        """A model that returns the clean outputs of the test records, one after the other."""

        description = "truth"

        def simulate(self, question: Question) -> np.ndarray:
            return next(pairs)[1]

    found = figures(InOrder(), data.test, challenge.skip, challenge.scale)
    assert found == pytest.approx({key: figure(value, skip, SCALES.get(name, 1.0)) for key, value in expected.items()})
    assert tuple(found) == (challenge.figures or tuple(expected))
    for published in challenge.published:
        assert len(published.figures) == len(challenge.figures)


def test_the_training_records_follow_the_protocol(tmp_path: Path):
    write("silverbox", tmp_path / "s")
    write("f-16", tmp_path / "f")
    write("parallel-wiener-hammerstein", tmp_path / "p")
    (circuit,) = load("silverbox", tmp_path / "s").training.records
    assert len(circuit) == int(0.75 * (127400 - 40650))
    aircraft = load("f-16", tmp_path / "f").training
    assert sorted(record.figure for record in aircraft.records) == sorted(
        f"F16Data_{kind}_Level{level}" for kind in ("FullMSine", "SineSw") for level in (1, 3, 5, 7)
    )
    assert aircraft.step == pytest.approx(1 / 400)
    branches = load("parallel-wiener-hammerstein", tmp_path / "p").training
    assert len(branches.records) == 100
    first = branches.records[0]
    np.testing.assert_allclose(first.inputs[:, :512], first.inputs[:, 512:])  # the second period follows the first one in time


def test_a_question_gives_no_access_to_later_outputs(tmp_path: Path):
    write("cascaded-tanks", tmp_path)
    (record,) = load("cascaded-tanks", tmp_path).test
    question = record.question(50)
    assert question.first_outputs.shape == (1, 50)
    assert question.first_outputs.base is None  # a copy, from which the other outputs cannot be reached
    assert not any(
        np.shares_memory(value, record.outputs) for value in vars(question).values() if isinstance(value, np.ndarray)
    )


def test_sampling_steps_come_from_the_files(tmp_path: Path):
    steps = {"cascaded-tanks": 4.0, "emps": 1e-3, "coupled-drives": 0.02, "fine-steering-mirror": 1 / 6400}
    for name, step in steps.items():
        write(name, tmp_path / name)
        assert load(name, tmp_path / name).training.step == pytest.approx(step)
