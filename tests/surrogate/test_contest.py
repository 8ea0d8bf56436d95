"""The opponents of a model of one's own record."""

from types import SimpleNamespace

import numpy as np
import pytest

from lfno.core.grid import Grid
from lfno.data.prepare import prepare
from lfno.data.signals.record import Record
from lfno.surrogate.contest import contest_record
from lfno.systems.base import Channel

SIZE = 800


@pytest.mark.parametrize(("test", "before"), [("10:20", 99), ("60:80", 599), ("0:10", None)])
def test_persistence_holds_the_last_value_before_the_test(test: str, before: int | None) -> None:
    """A ramp of one unit a sample: the error grows by one a sample from the value that is held."""
    ramp = np.arange(SIZE, dtype=float)[None]
    noise = np.random.default_rng(0).normal(size=(1, SIZE))
    record = Record(noise, ramp, Grid.line(SIZE, 0.1), (Channel("f"),), (Channel("u"),))
    prepared = prepare(record, window=40, warmup=10, test=test)
    assert prepared.stretch is not None
    start, stop = prepared.stretch
    silent = SimpleNamespace(linear=None, predict=lambda data: (np.zeros_like(data.outputs), None))
    contest, _ = contest_record(silent, prepared, "LFNO")  # type: ignore[arg-type]
    held = stop if before is None else before  # with nothing before it, the first value after it
    expected = np.sqrt(np.mean((np.arange(start + 10, stop) - held) ** 2.0))
    assert contest.rows["persistence"]["rmse"] == pytest.approx([expected])
