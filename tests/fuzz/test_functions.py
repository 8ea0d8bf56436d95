"""Any input to any public function: a right answer or an LfnoError, never another exception, never a wrong answer."""

from __future__ import annotations

import os
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import strategies as st

import lfno
from lfno.data import split as splits
from lfno.data import windows
from lfno.data.dataset import Dataset
from lfno.data.make import plan
from lfno.data.normalise import Normaliser
from lfno.data.signals import load
from lfno.data.split import Split
from lfno.evaluation import metrics
from lfno.evaluation.baselines import fit_baselines
from lfno.evaluation.identify import identify
from lfno.evaluation.realisation import realise
from lfno.evaluation.regimes import moving_average, regimes
from lfno.grid import Axis, Grid
from lfno.systems.registry import REGISTRY
from lfno.training.options import parse
from tests.fuzz.strategies import FLOATS, JSON, NAMES, SHARES, SIZES, arrays, attempt, grids, mostly, of_shape, tried

MODELS = {"FNO": lfno.FNO, "LNO": lfno.LNO, "LFNO": lfno.LFNO}


def axis_and_grid(data: Any) -> None:
    fields = [data.draw(s) for s in (NAMES, SIZES, FLOATS, FLOATS, NAMES, st.booleans(), st.booleans())]
    axis = attempt(lambda: Axis(*fields))
    if axis is not None and axis.size < 10**6:
        assert axis.points.shape == (axis.size,)
        assert axis.length > 0
    axes = [a for a in (axis, attempt(lambda: Axis(data.draw(NAMES), 3, 1.0))) if a is not None]
    grid = attempt(lambda: Grid(tuple(axes)))
    if grid is not None:
        assert Grid.from_dict(grid.to_dict()) == grid
        attempt(lambda: grid[data.draw(NAMES)])
        attempt(lambda: grid.change(grid.names[0], size=data.draw(SIZES)))
    attempt(lambda: Grid.line(data.draw(SIZES), data.draw(FLOATS)))
    attempt(lambda: Grid.from_dict(data.draw(JSON)))


def model(data: Any) -> Any:
    """A model that can be built, small enough to run."""
    grid = data.draw(grids())
    kind = data.draw(st.sampled_from(sorted(MODELS)))
    fields: dict[str, Any] = {"width": data.draw(st.integers(1, 3)), "modes": data.draw(st.integers(1, 4)), "projection": 4}
    fields |= {"in_channels": data.draw(st.integers(1, 2)), "out_channels": data.draw(st.integers(1, 2))}
    fields |= {"grid_channels": data.draw(st.booleans()), "padding": data.draw(st.sampled_from([0.0, 0.5, 1.3]))}
    if kind != "FNO":
        axes = data.draw(st.sampled_from([None, "time", (0,), (1, 0), (5,)]))
        fields |= {"n_poles": data.draw(st.integers(1, 3)), "laplace_axes": axes, "share_poles": data.draw(st.booleans())}
    return attempt(lambda: MODELS[kind](grid, **fields))


def constructors(data: Any) -> None:
    """Sizes that no memory holds are refused before memory is taken."""
    sizes = mostly(2, st.one_of(SIZES, st.sampled_from([1000, 100_000, 10**6])))
    kind = data.draw(st.sampled_from(sorted(MODELS)))
    fields = {name: data.draw(sizes) for name in ("in_channels", "width", "modes", "projection")}
    fields |= {} if kind == "FNO" else {"n_poles": data.draw(sizes)}
    fields |= {"padding": data.draw(mostly(0.0, FLOATS))}
    words = st.sampled_from(["activation", "poles", "steady", "layout", "what"])
    fields |= data.draw(mostly({}, st.dictionaries(words, NAMES, max_size=1)))
    attempt(lambda: MODELS[kind](data.draw(grids(side=60)), **fields))


def answers(data: Any) -> None:
    made = model(data)
    if made is None:
        return
    good = data.draw(st.booleans())
    shape = (data.draw(st.integers(0, 3)), made.config.in_channels, *made.grid.shape)
    inputs = data.draw(of_shape(shape) if good else arrays(side=8))
    grid = data.draw(st.one_of(st.none(), grids()))
    answer = attempt(lambda: made.predict(inputs, grid))
    if answer is not None:
        points = (grid or made.grid).shape
        assert answer.shape[-len(points) :] == points
        parts = attempt(lambda: made.decompose(inputs, grid))
        size = np.abs(answer).max()
        if np.isfinite(size):
            assert np.allclose(parts[0] + parts[1], answer, atol=1e-4 * max(1.0, float(size)))
    if inputs.dtype.kind in "fc" and inputs.dtype.itemsize > 2:
        attempt(lambda: made(torch.as_tensor(inputs)))
    if made.config.__class__.__name__ != "FNOConfig":
        table = made.poles()
        assert np.isfinite(table.contribution).all()


def saved(data: Any) -> None:
    made = model(data)
    if made is None:
        return
    name = data.draw(st.text(st.characters(exclude_characters="/\0", codec="utf-8"), min_size=1, max_size=8))
    path = data.folder / f"{name}.safetensors"
    if attempt(lambda: (made.save(path, note=data.draw(JSON)), True)) is None:
        return
    again = lfno.load(path)
    path.unlink()
    assert again.config == made.config
    for name, value in made.state_dict().items():
        assert torch.equal(again.state_dict()[name], value)


def normalised(data: Any) -> None:
    made = model(data)
    if made is not None:
        attempt(lambda: made.normalise(*(data.draw(arrays(0, 1, 3)) for _ in range(4))))
        assert torch.isfinite(made.input_scale).all()


def fitted(data: Any) -> None:
    count, steps = data.draw(mostly(8, st.integers(0, 9))), data.draw(mostly(16, st.integers(0, 20)))
    kinds = [of_shape((count, steps)), of_shape((count, 1, steps)), of_shape((count, 2, steps))]
    inputs, outputs = (data.draw(st.one_of(*kinds, arrays() if data.draw(st.booleans()) else kinds[0])) for _ in "xy")
    changes = {"width": 2, "modes": data.draw(st.integers(1, 4)), "projection": 4, "epochs": 1, "steady_decay": 1e-4}
    changes |= {"n_poles": 2, "batch": data.draw(mostly(3, SIZES)), "learning_rate": data.draw(mostly(0.01, FLOATS))}
    run = attempt(lambda: lfno.fit((inputs, outputs), dt=data.draw(mostly(0.1, FLOATS)), device="cpu", **changes))
    if run is not None and np.isfinite(inputs).all():
        assert np.isfinite(run.predict(inputs.reshape(count, -1, steps)[:2])).all()


def datasets(data: Any) -> None:
    name = data.draw(st.sampled_from(["duffing-c05", "lorenz-rho5", "pendulum-c05", "heat", "burgers", "no such", ""]))
    changes: dict[str, Any] = {}
    for key, values in {"count": SIZES, "seed": SIZES, "dtype": NAMES, "c": FLOATS, "rho": FLOATS, "what": FLOATS}.items():
        if data.draw(st.sampled_from([True, False, False, False])):
            changes[key] = data.draw(values)
    steps = data.draw(st.integers(1, 24))
    changes["grid"] = Grid.line(steps, data.draw(mostly(0.05, st.floats(1e-6, 20))))
    if data.draw(st.booleans()):
        changes["inputs"] = data.draw(st.one_of(of_shape((2, steps)), of_shape((steps,)), arrays()))
    else:
        changes.setdefault("count", 2)
    made = attempt(lambda: plan(name, **changes).build())
    if made is not None:
        assert np.isfinite(made.outputs).all()
        assert made.outputs.shape[2:] == made.grid.shape


def solved(data: Any) -> None:
    name = data.draw(st.sampled_from(["duffing-c05", "lorenz-rho5", "pendulum-c05"]))
    system, steps = REGISTRY[name].system(), data.draw(st.integers(1, 24))
    grid = data.draw(st.one_of(st.builds(Grid.line, st.just(steps), mostly(0.05, st.floats(1e-9, 20))), grids()))
    given = data.draw(st.one_of(of_shape((2, *grid.shape)), arrays()))
    outputs = attempt(lambda: system.solve(given, grid))
    if outputs is not None:
        assert np.isfinite(outputs).all()
        assert outputs.shape[2:] == grid.shape


def split(data: Any) -> None:
    size = data.draw(st.one_of(st.integers(-5, 500), st.sampled_from([0, -(10**9)])))
    made = [
        attempt(lambda: splits.standard(size, data.draw(SIZES))),
        attempt(lambda: splits.random(size, data.draw(SHARES), data.draw(SHARES), abs(data.draw(SIZES)))),
        attempt(lambda: splits.in_time(size, data.draw(SHARES), data.draw(SHARES))),
    ]
    for one in made:
        if one is not None:
            assert sorted(np.concatenate([one.train, one.validation, one.test])) == list(range(size))
    attempt(lambda: Split(*(data.draw(arrays(0, 2)) for _ in range(3))))
    attempt(lambda: Split.from_dict(data.draw(JSON)))


def windowed(data: Any) -> None:
    sizes = st.one_of(st.integers(-3, 60), SIZES)
    start, length, warmup = data.draw(st.integers(-5, 50)), data.draw(sizes), data.draw(sizes)
    stop = start + data.draw(st.integers(-5, 200))
    made = attempt(lambda: windows.cut(start, stop, length, warmup))
    if made is not None and start >= 0:
        record = np.arange(stop, dtype=float)[None]
        again = made.stitch(made.gather(record), stop)
        assert np.array_equal(again[0, start + warmup :], record[0, start + warmup :])
        attempt(lambda: made.stitch(data.draw(arrays()), stop))


def normaliser(data: Any) -> None:
    values = data.draw(arrays())
    made = attempt(lambda: Normaliser.fit(values))
    if made is not None and np.abs(values.astype(float)).max() < 1e6 and values.dtype.itemsize >= 4:
        again = made.decode(made.encode(values))
        assert np.allclose(again.astype(float), values.astype(float), atol=1e-3, rtol=1e-3)
    attempt(lambda: Normaliser.from_dict(data.draw(JSON)))
    if made is not None:
        attempt(lambda: made.encode(data.draw(arrays())))


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


def words(data: Any) -> None:
    text = st.one_of(NAMES, st.builds("{}={}".format, NAMES, st.text(max_size=30)), st.just("a=" + "(" * 300))
    attempt(lambda: parse(data.draw(st.lists(text, max_size=3))))


def signals(data: Any) -> None:
    steps = data.draw(mostly(32, st.integers(0, 40)))
    t = np.arange(steps) * data.draw(st.sampled_from([0.1, 1e-9, 1e9]))
    named = data.draw(st.one_of(st.just({}), st.dictionaries(NAMES, arrays(), max_size=2)))
    named |= {"t": t} if data.draw(st.booleans()) else {}
    shape = data.draw(st.sampled_from([(steps,), (3, steps), (steps, 3), (5, 2, steps)]))
    named |= {name: data.draw(st.one_of(of_shape(shape), of_shape(shape), arrays())) for name in ("f", "u")}
    options: dict[str, Any] = {key: True for key in ("drop_missing", "interpolate", "resample") if data.draw(st.booleans())}
    for key in ("input", "output", "time", "sample", "axes"):
        if data.draw(st.integers(0, 7)) == 0:
            options[key] = data.draw(st.one_of(NAMES, st.sampled_from(["f", "u", "t", "f,u", "sample,t", "*", "f:3"])))
    options |= {} if "t" in named else {"dt": data.draw(mostly(0.1, FLOATS))}
    found = attempt(lambda: load(named, **options))
    if found is not None:
        assert np.isfinite(found.outputs).all()


def containers(data: Any) -> None:
    grid = data.draw(grids())
    count = data.draw(st.integers(0, 3))
    inputs, outputs = (data.draw(st.one_of(of_shape((count, 1, *grid.shape)), arrays())) for _ in "xy")
    given = {data.draw(NAMES): data.draw(st.one_of(of_shape((count,)), arrays(0, 2)))}
    made = attempt(lambda: Dataset(inputs, outputs, grid, given))
    if made is not None:
        assert len(made[: len(made) // 2]) == len(made) // 2


CASES = [axis_and_grid, constructors, answers, saved, normalised, fitted, datasets, solved, split, windowed, normaliser,
         measured, baselines, identified, words, signals, containers]  # fmt: skip
#: those that train or solve are slow: fewer of them in the short run
SLOW = {fitted: 10, datasets: 15, solved: 20, identified: 15, answers: 30, saved: 20, baselines: 20, constructors: 25}


@pytest.fixture(autouse=True)
def quiet(tmp_path, monkeypatch):
    monkeypatch.setenv("LFNO_CACHE", str(tmp_path))
    monkeypatch.setattr(st.DataObject, "folder", tmp_path, raising=False)
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.__name__)
def test_few(case):
    tried(case, SLOW.get(case, 40))


@pytest.mark.long
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.__name__)
def test_many(case):
    tried(case, int(os.environ.get("LFNO_CASES", "600")))
