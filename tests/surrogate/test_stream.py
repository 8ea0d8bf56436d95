"""Streams: the outputs equal the prediction of the whole record, and the state can be saved."""

from __future__ import annotations

import re
import warnings
from pathlib import Path

import numpy as np
import pytest

import lfno
from tests.surrogate.rigs import MODELS, forces


@pytest.mark.parametrize("kind", MODELS)
def test_samples_and_blocks_give_the_prediction_of_the_whole_record(kind: str) -> None:
    model, inputs = MODELS[kind](), forces()
    expected = model.predict(inputs)
    stream = model.stream()
    single = [stream.step(inputs[:, k])[:, None] for k in range(33)]
    parts = [*single, stream.step(inputs[:, 33:40]), stream.step(inputs[:, 40:])]
    np.testing.assert_allclose(np.concatenate(parts, -1), expected, atol=1e-9 * np.abs(expected).max())


@pytest.mark.parametrize("kind", ["linear", "feedback", "gated"])
def test_a_restored_state_gives_identical_outputs_and_streams_are_independent(kind: str) -> None:
    model, inputs = MODELS[kind](), forces()
    stream, other = model.stream(), model.stream()
    stream.step(inputs[:, :50])
    kept = stream.state()
    first = stream.step(inputs[:, 50:60])
    other.step(-inputs)
    stream.restore(kept)
    np.testing.assert_array_equal(stream.step(inputs[:, 50:60]), first)
    stream.reset()
    np.testing.assert_array_equal(stream.step(inputs[:, :5]), model.stream().step(inputs[:, :5]))
    warm = model.stream(past=inputs[:, :50])
    np.testing.assert_array_equal(warm.step(inputs[:, 50:60]), first)


def test_wrong_inputs_raise_an_error_and_leave_the_state_unchanged() -> None:
    model, inputs = MODELS["linear"](), forces()
    stream = model.stream()
    stream.step(inputs[:, :5])
    before = stream.state()
    for wrong, words in [(np.zeros((3, 4)), "takes 2 channels"), (np.full((2, 3), np.nan), "NaN"), ("a", "real numbers")]:
        with pytest.raises(lfno.LfnoError, match=words):
            stream.step(wrong)
    assert np.array_equal(before, stream.state())
    with pytest.raises(lfno.LfnoError, match="another model"):
        MODELS["feedback"]().stream().restore(before)


@pytest.mark.parametrize("kind", ["linear", "feedback"])
def test_a_time_step_far_from_the_training_step_causes_one_warning(kind: str, tmp_path: Path) -> None:
    """A step that is too large is wrong between the samples, and a step that is far too small is probably in another unit."""
    model = MODELS[kind]()
    step = model.grid.axes[-1].step
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for dt in (None, 0.01 * step, 0.5 * step, step, 2 * step):
            model.stream(dt)
    for ratio in (2.5, 20, 0.005, 1e-4):
        for use in (model.stream, lambda dt: model.export("c", tmp_path / "model", dt=dt)):
            with pytest.warns(UserWarning, match=re.escape(f" {ratio:.3g} times the step of training")) as told:
                use(dt=ratio * step)
            assert len(told) == 1
            assert told[0].filename == __file__
