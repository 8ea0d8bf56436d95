"""Metrics, baselines, identification and surrogates give a right result or an LfnoError for any arrays."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import strategies as st

import lfno
from lfno.core.grid import Axis, Grid
from lfno.data.dataset import Dataset
from lfno.data.signals.record import Record
from lfno.evaluation import metrics
from lfno.evaluation.baselines import fit_baselines
from lfno.evaluation.regimes import moving_average, regimes
from lfno.identification.frequency import measure_response
from lfno.identification.identify import identify
from lfno.identification.linear import fit_record, fit_trajectories
from lfno.identification.pulse import small_signal_modes
from lfno.identification.realisation import realise
from lfno.surrogate import Surrogate
from lfno.systems.base import Channel
from tests.fuzz.strategies import FLOATS, SHARES, SIZES, arrays, attempt, counts, grids, mostly, of_shape, tried


def measured(data: Any) -> None:
    prediction = data.draw(arrays())
    truth = data.draw(st.one_of(of_shape(prediction.shape), arrays()))
    for measure in (metrics.relative_l2, metrics.relative_linf, metrics.rmse, metrics.fit_percent, metrics.scores):
        attempt(lambda m=measure: m(prediction, truth))
    attempt(lambda: regimes(prediction, truth, data.draw(SIZES), data.draw(st.integers(-2, 9))))
    attempt(lambda: moving_average(prediction, data.draw(st.integers(-2, 9))))
    attempt(lambda: str(metrics.summary(data.draw(st.lists(FLOATS, max_size=4)))))


def baselines(data: Any) -> None:
    count, steps = data.draw(st.integers(0, 7)), data.draw(st.integers(0, 12))
    shape = data.draw(st.sampled_from([(count, 1, steps), (count, 2, 3, steps)]))
    inputs, outputs = data.draw(of_shape(shape)), data.draw(st.one_of(of_shape(shape), arrays()))
    parameters = data.draw(st.one_of(st.none(), of_shape((count,)), arrays(0, 2)))
    grid = data.draw(grids()) if data.draw(st.booleans()) else _fitting(shape)
    made = attempt(lambda: fit_baselines(inputs, outputs, parameters, grid))
    for predict in (made or {}).values():
        answer = attempt(lambda p=predict: p(inputs, parameters))
        assert answer is None or answer.shape == outputs.shape


def _fitting(shape: tuple[int, ...]) -> Grid:
    axes = [Axis("x", max(shape[2], 1), 1.0)] if len(shape) == 4 else []
    return Grid((*axes, Axis("t", max(shape[-1], 1), 0.1, time=True)))


def identified(data: Any) -> None:
    count, steps = data.draw(mostly(3, st.integers(0, 3))), data.draw(mostly(40, st.integers(0, 40)))
    inputs = data.draw(st.one_of(of_shape((count, 1, steps)), arrays()))
    outputs = data.draw(st.one_of(of_shape((count, 2, steps)), arrays()))
    grid = Grid.line(max(steps, 1), data.draw(st.floats(1e-6, 1e6)))
    poles = data.draw(mostly(None, arrays(0, 2)))
    most, warmup = data.draw(st.integers(-1, 3)), data.draw(mostly(0, st.integers(-2, 50)))
    hold = data.draw(mostly(None, st.sampled_from(["linear", "x"])))
    found = attempt(lambda: identify(inputs, outputs, grid, poles, max_poles=most, warmup=warmup, hold=hold))
    if found is not None:
        assert np.isfinite(found.poles).all()
    step, order = data.draw(FLOATS), data.draw(st.one_of(st.none(), SIZES))
    attempt(lambda: realise(data.draw(arrays(side=9)), step, order, data.draw(SHARES)))


def linear(data: Any) -> None:
    """Fit the linear baseline to any arrays, predict with it, and measure the frequency response of the data."""
    record = data.draw(st.booleans())
    count, steps = data.draw(mostly(6, st.integers(0, 6))), data.draw(mostly(220 if record else 40, st.integers(0, 40)))
    inputs, outputs = (data.draw(st.one_of(of_shape((count, 1, steps)), arrays())) for _ in "xy")
    grid = Grid.line(max(steps, 1), data.draw(mostly(0.1, st.floats(1e-6, 1e6))))
    fit = fit_record if record else fit_trajectories
    given = [values[0] if record and values.ndim and len(values) else values for values in (inputs, outputs)]
    found = attempt(lambda: fit(*given, grid))
    if found is not None:
        answer = attempt(lambda: found.predict(data.draw(st.one_of(st.just(inputs), arrays()))))
        assert answer is None or np.isfinite(answer).all()
    attempt(lambda: measure_response(inputs, outputs, data.draw(mostly(0.1, FLOATS)), data.draw(mostly(None, SIZES))))


def small_signals(data: Any) -> None:
    answer = data.draw(st.one_of(of_shape((2, 1, 64)), arrays()))
    ask = {"amplitude": data.draw(mostly(1.0, FLOATS)), "operating": data.draw(mostly(0.0, FLOATS))}
    ask |= {"order": data.draw(mostly(None, st.integers(-1, 4))), "width": data.draw(mostly(None, FLOATS))}
    found = attempt(lambda: small_signal_modes(lambda x: answer, data.draw(mostly(Grid.line(64, 0.1), grids())), **ask))
    if found is not None:
        assert np.isfinite(found.poles).all()


def surrogates(data: Any) -> None:
    """A model with a network predicts a data set or a record of any shape and sampling rate."""
    grid = data.draw(mostly(Grid.line(32, 0.1), grids()))
    made = attempt(lambda: lfno.LNO(grid, width=2, modes=2, n_poles=2, projection=4))
    if made is None:
        return
    made.provenance = {"data": {"signals": {"warmup": data.draw(mostly(4, st.integers(-2, 40)))}}}
    where = data.draw(st.one_of(st.just(grid), grids(side=50)))
    values = data.draw(of_shape((1, *where.shape)))
    channel = (Channel("f"),)
    kinds = [lambda: Record(values, values, where, channel, channel), lambda: Dataset(values[None], values[None], where)]
    asked = attempt(data.draw(st.sampled_from(kinds)))
    if asked is not None:
        surrogate = Surrogate([made] * data.draw(st.integers(1, 2)))
        answer = attempt(lambda: surrogate.ask(asked).values)
        parts = attempt(lambda: surrogate.decompose(asked))
        if answer is not None and parts is not None:
            assert answer.shape == asked.outputs.shape
            size = max(float(np.abs(values).max()) for values in (answer, *parts))
            assert np.allclose(parts[0] + parts[1], answer, atol=1e-4 * max(1.0, size)) or not np.isfinite(size)


CASES = [linear, small_signals, surrogates, measured, baselines, identified]


@counts(CASES, {identified: 15, baselines: 20, linear: 4}, {linear: 100})
def test_a_right_result_or_an_error_message(case, count):
    tried(case, count)
