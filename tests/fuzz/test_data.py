"""Any grid, signal, data set or option gives a right result or an LfnoError."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import strategies as st

from lfno.core.grid import Axis, Grid
from lfno.data import split as splits
from lfno.data import windows
from lfno.data.check import compare
from lfno.data.dataset import Dataset
from lfno.data.files import Variable, read
from lfno.data.files.write import WRITERS, write
from lfno.data.make import plan
from lfno.data.prepare import prepare
from lfno.data.signals import read_signals
from lfno.data.signals.questions import load_question
from lfno.data.split import Split
from lfno.systems.registry import REGISTRY
from lfno.training.options import parse
from tests.fuzz.strategies import FLOATS, JSON, NAMES, SHARES, SIZES, arrays, attempt, counts, grids, mostly, of_shape, tried


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
    lines = st.builds(Grid.line, st.just(steps), mostly(0.05, st.floats(1e-9, 20)))
    grid = data.draw(st.one_of(lines, lines, lines, lines, grids()))
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
        pieces = made.gather(np.arange(stop)[None])[:, 0]
        scored = np.concatenate([piece[skip:] for piece, skip in zip(pieces, made.scored, strict=True)])
        assert np.array_equal(scored, np.arange(start + warmup, stop))


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
    options: dict[str, Any] = {key: True for key in ("resample",) if data.draw(st.booleans())}
    for key in ("input", "output", "time", "sample", "axes"):
        if data.draw(st.integers(0, 7)) == 0:
            options[key] = data.draw(st.one_of(NAMES, st.sampled_from(["f", "u", "t", "f,u", "sample,t", "*", "f:3"])))
    options |= {} if "t" in named else {"dt": data.draw(mostly(0.1, FLOATS))}
    found = attempt(lambda: read_signals(named, **options))
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
        table = attempt(made.to_xarray)
        assert table is None or Dataset.from_xarray(table).metadata() == made.metadata()


def compared(data: Any) -> None:
    """Solve again with another solver. The promised accuracy holds, or an LfnoError is raised."""
    name = data.draw(st.sampled_from(["duffing-c05", "pendulum-c05", "heat", "no such"]))
    samples, seed = data.draw(mostly(1, st.integers(-2, 3))), data.draw(mostly(0, SIZES))
    found = attempt(lambda: compare(plan(name, count=data.draw(mostly(2, SIZES))), samples, seed))
    assert found is None or found["holds"]


def systems(data: Any) -> None:
    """Make any system with any parameters. If the drawn grid has one axis, also solve the system on it."""
    kind = data.draw(st.sampled_from(sorted({entry.system for entry in REGISTRY.values()}, key=lambda one: one.__name__)))
    names = st.sampled_from([*(parameter.name for parameter in kind.parameters), "what"])
    values = data.draw(st.dictionaries(names, st.one_of(FLOATS, NAMES, JSON), max_size=2))
    system = attempt(lambda: kind(**values))
    if system is not None and data.draw(st.booleans()):
        grid = data.draw(grids(side=8))
        attempt(lambda: system.check_grid(grid))
        attempt(lambda: system.solve(data.draw(of_shape((1, *grid.shape))), grid)) if grid.ndim == 1 else None


def written(data: Any) -> None:
    """Write arrays in any format and read them again. For NPZ and HDF5, the values must be equal."""
    ending = data.draw(st.sampled_from([*WRITERS, ".txt", ""]))
    steps = data.draw(st.integers(0, 9))
    axes = data.draw(st.sampled_from([("t",), ("sample", "t"), ("x", "t"), ("t", "channel")]))
    shape = tuple({"t": steps, "sample": 3}.get(axis, 2) for axis in axes)
    named = {name: data.draw(of_shape(shape)) for name in data.draw(st.sets(st.one_of(NAMES, st.just("u")), max_size=2))}
    variables = [Variable.of("t", np.arange(steps) * 0.1, "s", ("t",))]
    variables += [Variable.of(name, values, data.draw(NAMES), axes) for name, values in named.items()]
    path = data.folder / f"a{ending}"
    if attempt(lambda: (write(path, variables), True)) is not None:
        again = attempt(lambda: read(path))
        if again is not None and "u" in named and "u" in again and ending in (".npz", ".h5"):
            assert np.array_equal(again["u"].array([], keep_double=True), named["u"].astype(float), equal_nan=True)


def questions(data: Any) -> None:
    path = data.folder / "q.npz"
    np.savez(path, **{name: data.draw(arrays(side=12)) for name in ("t", "f", "u")[: data.draw(st.integers(0, 3))]})
    names = st.lists(st.one_of(NAMES, st.sampled_from(["f", "u", "f:0", "t"])), max_size=2)
    options = {"dt": data.draw(FLOATS)} if data.draw(st.booleans()) else {}
    attempt(lambda: load_question(path, data.draw(names), data.draw(names), **options))


def prepared(data: Any) -> None:
    """A record or trajectories are split and cut into windows with any options."""
    steps = data.draw(mostly(120, st.integers(0, 120)))
    shape = data.draw(st.sampled_from([(steps,), (6, steps)]))
    named = {"t": np.arange(steps) * 0.1} | {name: data.draw(of_shape(shape)) for name in ("f", "u")}
    options: dict[str, Any] = {}
    tests = st.one_of(NAMES, st.builds("{}:{}".format, FLOATS, FLOATS), st.just("2:4"))
    for key, values in {"window": SIZES, "warmup": SIZES, "fold": SIZES, "test": tests, "from_rest": st.booleans()}.items():
        if data.draw(st.integers(0, 2)) == 0:
            options[key] = data.draw(values)
    made = attempt(lambda: prepare(named, **options))
    if made is not None:
        parts = [made.split.train, made.split.validation, made.split.test]
        assert len(np.unique(np.concatenate(parts))) == sum(len(part) for part in parts), "parts overlap"


CASES = [
    compared,
    systems,
    written,
    questions,
    prepared,
    axis_and_grid,
    datasets,
    solved,
    split,
    windowed,
    words,
    signals,
    containers,
]


@counts(CASES, {datasets: 15, solved: 20, compared: 8}, {compared: 150, solved: 300, systems: 300})
def test_a_right_result_or_an_error_message(case, count):
    tried(case, count)
