"""Predictions of long signals block by block: the same outputs as for the whole signal, with constant memory."""

from __future__ import annotations

import tracemalloc
from functools import partial

import numpy as np
import pytest

from lfno.core.grid import Grid
from lfno.data.signals.record import Record
from lfno.surrogate import Surrogate
from lfno.surrogate.passes import decompose_in_blocks, predict_in_blocks
from lfno.surrogate.running_mean import RunningMean
from lfno.systems.base import Channel
from tests.surrogate.rigs import GRID, feedback, forces, linear, network

KINDS = ["zero", "linear", "cubic", "feedback", "network"]


def made(kind: str) -> Surrogate:
    """Return a model: a network, a model with feedback, or a linear model with the hold `kind`."""
    return {"network": network, "feedback": partial(feedback, "cubic")}.get(kind, partial(linear, kind))()


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("size", [1000, 997, 2, 1])
def test_a_prediction_in_blocks_equals_the_prediction_of_the_whole_signal(kind: str, size: int) -> None:
    if size < {"cubic": 4, "network": 100, "feedback": 2}.get(kind, 0):
        pytest.skip("too few samples for a spline, the modes of a network, or a step")
    member, inputs = made(kind).members[0], np.stack([forces(size), -forces(size)])
    grid = GRID.change("t", size=size)
    expected = member.predict(inputs, grid)
    answer = predict_in_blocks(member, inputs, grid, block=166)
    np.testing.assert_allclose(answer, expected, atol=1e-11 * np.abs(expected).max())


@pytest.mark.parametrize("kind", ["linear", "network"])
def test_the_split_in_blocks_equals_the_split_of_the_whole_signal(kind: str) -> None:
    """The steady part is the response to the whole signal repeated for ever.

    The two computations differ: `decompose` uses a transform, and `decompose_in_blocks` repeats the signal of a network.
    """
    member, grid = made(kind).members[0], GRID.change("t", size=900)
    inputs = forces(900)[None]
    expected = member.decompose(inputs, grid)
    for part, whole in zip(decompose_in_blocks(member, inputs, grid, block=256), expected, strict=True):
        np.testing.assert_allclose(part, whole, atol=1e-9 * np.abs(whole).max())


def test_a_causal_model_predicts_a_long_record_in_one_pass() -> None:
    """A record that is longer than the training windows is not cut into windows."""
    model, inputs = network(), forces(2000)
    channels = tuple(Channel(name, unit) for name, unit in model.signals.inputs), (Channel("x", "m"), Channel("v", "m/s"))
    grid = Grid.line(2000, 0.02)
    answer = model.ask(Record(inputs, np.zeros_like(inputs), grid, *channels))
    expected = model.members[0].predict(inputs[None], grid)[0]
    np.testing.assert_allclose(answer.values, expected, atol=1e-11 * np.abs(expected).max())
    assert not any("consists of windows" in note for note in answer.notes)
    np.testing.assert_allclose(model.predict(inputs), expected, atol=1e-11 * np.abs(expected).max())


def test_memory_does_not_grow_with_the_record(monkeypatch: pytest.MonkeyPatch) -> None:
    """Apart from the arrays of inputs and outputs, a prediction needs one byte per input value, for a check of the inputs."""
    monkeypatch.setattr("lfno.surrogate.model.BLOCK", 2**12)
    monkeypatch.setattr("lfno.surrogate.passes.predict_in_blocks.__defaults__", (lambda *_: None, 2**12))
    model, extra = linear(), []
    for size in (100_000, 400_000):
        inputs = forces(size)
        tracemalloc.start()
        answer = model.predict(inputs)
        extra.append(tracemalloc.get_traced_memory()[1] - answer.nbytes)
        tracemalloc.stop()
    assert extra[1] - extra[0] < 1.5 * 2 * 300_000
    assert extra[1] < 20e6


def test_running_mean_and_spread_equal_mean_and_standard_deviation() -> None:
    values, tally = np.random.default_rng(0).normal(size=(5, 3, 4)), RunningMean()
    for one in values:
        tally.add(one)
    np.testing.assert_allclose(tally.mean, values.mean(0))
    np.testing.assert_allclose(tally.spread, values.std(0, ddof=1))
