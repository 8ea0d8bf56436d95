"""The interface of all systems: data sets by name, parameters, kinds of inputs, and error messages."""

import re
from pathlib import Path

import numpy as np
import pytest

from lfno.core.errors import LfnoError
from lfno.core.grid import Axis, Grid
from lfno.data.split import standard
from lfno.systems import REGISTRY, Duffing, Lorenz, Pendulum, as_signal, find, open_mesh
from lfno.systems.excitations import rich, sum_of_sines, unseen
from lfno.systems.families import Curve, Separable
from lfno.systems.fields import PeriodicField, Profiles


def test_paper_odes_are_registered_with_their_variants():
    for name in ("duffing-c0", "duffing-c05", "lorenz-rho5", "lorenz-rho10", "pendulum-c05"):
        assert {name, f"{name}-rich", f"{name}-out"} <= set(REGISTRY)
        assert find(name).count == 380
    assert find("duffing-c05").grid == Grid.line(2048, dt=0.01)


def test_an_unknown_name_gives_an_error_with_similar_names():
    with pytest.raises(LfnoError, match="did you mean duffing-c05"):
        find("dufing-c05")


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Duffing(c=-1), "c = -1 is outside"),
        (lambda: Duffing(c=float("nan")), "c = nan is outside"),
        (lambda: Duffing(gamma=1), "no parameter 'gamma'; it has c, alpha, beta"),
        (lambda: Pendulum(ratio=0), "ratio = 0 is outside"),
        (lambda: Lorenz(rho="five"), "rho = 'five' is not a number"),
        (lambda: Duffing().solve(np.zeros(7), Grid.line(8, 0.1)), r"shape \(7,\).*has shape \(8,\)"),
        (lambda: Duffing().solve(np.array([0, np.nan, 0]), Grid.line(3, 0.1)), r"not finite at index \(0, 1\)"),
        (lambda: Duffing().solve(lambda t: np.zeros(3), Grid.line(8, 0.1)), "returned an array of shape"),
        (lambda: Duffing().solve(np.zeros((2, 3)), Grid((Axis("x", 2, 1), Axis("t", 3, 1)))), "grid with the axes"),
    ],
)
def test_errors_name_what_is_wrong(make, message):
    with pytest.raises(LfnoError, match=message):
        make()


def test_a_function_and_its_samples_give_the_same_response():
    """Cubic splines interpolate the samples, with an error of O(dt⁴)."""
    grid = Grid.line(400, dt=0.02)

    def force(t):
        return np.exp(-0.1 * t) * np.sin(3 * t)

    np.testing.assert_allclose(Duffing().solve(force(grid["t"].points), grid), Duffing().solve(force, grid), atol=1e-7)


def test_a_batch_of_functions_equals_each_alone():
    grid = Grid.line(100, dt=0.05)
    both = Duffing().solve(lambda t: np.stack([np.sin(t), np.cos(2 * t)]), grid)
    np.testing.assert_allclose(both[1:], Duffing().solve(lambda t: np.cos(2 * t), grid), rtol=0, atol=1e-14)


def test_slices_of_a_signal_are_its_samples():
    grid = Grid.line(30, dt=0.1)
    (t,) = open_mesh(grid)
    function = as_signal(lambda t: np.stack([k * t for k in range(6)]), grid)
    array = as_signal(np.stack([k * t for k in range(6)]), grid)
    family = Curve("A", lambda A, t: A * t, 0, 5)
    for signal in (function, array, family.signal(family.draw(6, np.random.default_rng(0)))):
        np.testing.assert_allclose(signal[2:5][1:](t), np.stack([3 * t, 4 * t]), atol=1e-12)
        assert signal[4:].count == 2


def test_an_array_on_a_periodic_axis_is_interpolated_by_a_periodic_spline():
    grid = Grid((Axis("x", 32, 2 * np.pi / 32, periodic=True),))
    signal = as_signal(np.sin(grid["x"].points), grid)
    x = np.linspace(0, 2 * np.pi, 200)
    np.testing.assert_allclose(signal(x)[0], np.sin(x), atol=1e-5)


@pytest.mark.parametrize("family", [rich((1, 2), (0.2, 8), 20.0), unseen((1, 2), (0.2, 8), 20.0)])
def test_random_signals_are_reproducible_bounded_and_smooth(family):
    """Equal seeds give equal signals. All kinds of signals occur. Signals are bounded and have no jumps."""
    t = np.linspace(0, 20, 4001)
    draws = family.draw(40, np.random.default_rng(3))
    values = family.evaluate(draws, t)
    np.testing.assert_array_equal(values, family.evaluate(family.draw(40, np.random.default_rng(3)), t))
    assert not np.allclose(values, family.evaluate(family.draw(40, np.random.default_rng(4)), t))
    assert np.bincount(draws["kind"]).tolist() == [40 // len(family.members)] * len(family.members)
    assert np.abs(values).max() < 20
    assert values.std(axis=1).min() > 0.05
    # no jumps: the largest change in one step is a small part of the range
    assert (np.abs(np.diff(values)).max(axis=1) / np.ptp(values, axis=1)).max() < 0.12


@pytest.mark.parametrize("size", [5, 63, 100, 4097])
def test_sum_of_sines_equals_the_direct_sum(size):
    """Equally spaced times use the fast method, other times the direct sum."""
    generator = np.random.default_rng(0)
    frequency, phase = generator.uniform(0.2, 8, (3, 24)), generator.uniform(0, 6, (3, 24))
    even = 2.0 + 0.005 * np.arange(size)
    for t in (even, even**2):
        plain = sum(np.sin(frequency[:, [k]] * t + phase[:, [k]]) for k in range(24))
        np.testing.assert_allclose(sum_of_sines(frequency, phase, t), plain, atol=1e-11)


def test_random_signals_are_not_multiples_of_each_other():
    """In the paper's family, all samples are multiples of each other."""
    t = np.linspace(0, 20, 500)
    family = rich((1, 2), (0.2, 8), 20.0)
    values = family.evaluate(family.draw(60, np.random.default_rng(0)), t)
    unit = values / np.linalg.norm(values, axis=1, keepdims=True)
    alike = np.abs(unit @ unit.T - np.eye(60))
    assert np.median(alike.max(axis=1)) < 0.9


def test_separable_forcing_is_a_product():
    family = Separable(Profiles(2.0), rich((1, 2), (1, 20), 1.0))
    draws = family.draw(5, np.random.default_rng(0))
    x, t = np.linspace(0, 2, 11)[:, None], np.linspace(0, 1, 30)[None]
    field = family.evaluate(draws, x, t)
    assert field.shape == (5, 11, 30)
    np.testing.assert_allclose(field[:, [0, -1]], 0, atol=1e-12)
    assert all(np.linalg.matrix_rank(one, tol=1e-10) == 1 for one in field)


def test_a_periodic_field_has_the_variance_of_its_formula():
    """The variance at a point is Σₖ s² over all wave vectors except 0. The mean in space is zero. The field is periodic."""

    def deviation(squared):
        return (squared / (4 * np.pi**2) + 1) ** -1.0

    family = PeriodicField((1.0, 1.0), 3, deviation)
    draws = family.draw(4000, np.random.default_rng(0))
    x = np.arange(8) / 8
    u = family.evaluate(draws, x[:, None], x[None])
    k = np.arange(-3, 4)
    exact = (deviation(4 * np.pi**2 * (k[:, None] ** 2 + k**2)) ** 2).sum() - 1
    assert abs(u.var() / exact - 1) < 0.02
    np.testing.assert_allclose(u.mean(axis=(1, 2)), 0, atol=1e-12)
    np.testing.assert_allclose(family.evaluate(draws, x[:, None] + 1, x[None] - 2), u, atol=1e-10)


def test_periodic_field_amplitude_is_its_root_mean_square():
    family = PeriodicField((2 * np.pi,), 5, lambda squared: 1 / np.sqrt(squared), amplitude=(2.0, 2.0))
    x = 2 * np.pi / 64 * np.arange(64)
    u = family.evaluate(family.draw(7, np.random.default_rng(0)), x)
    np.testing.assert_allclose(np.sqrt((u**2).mean(axis=1)), 2.0, rtol=1e-12)


def test_the_code_of_the_page_on_adding_a_system_runs(tmp_path, monkeypatch):
    monkeypatch.setenv("LFNO_CACHE", str(tmp_path))
    page = (Path(__file__).parents[2] / "docs/how-to/add-a-system.md").read_text()
    names: dict[str, object] = {"__name__": "page"}
    before = dict(REGISTRY)
    try:
        for block in re.findall(r"```python\n(.*?)```", page, re.S):
            exec(block, names)
        assert names["data"].outputs.shape == (8, 1, 1024)
        assert "van-der-pol-out" in REGISTRY
    finally:
        REGISTRY.clear()
        REGISTRY.update(before)
    code = re.findall(r"```python\n(.*?)```", page, re.S)[0]
    assert len([line for line in code.splitlines() if line.strip()]) <= 20


def test_the_code_of_the_page_on_data_sets_runs(tmp_path, monkeypatch):
    monkeypatch.setenv("LFNO_CACHE", str(tmp_path))
    page = (Path(__file__).parents[2] / "docs/data.md").read_text()
    names: dict[str, object] = {}
    for block in re.findall(r"```python\n(.*?)```", page, re.S):
        exec(block, names)
    assert [len(names[name]) for name in ("soft", "own", "step", "long", "points", "data")] == [50, 1, 3, 20, 20, 2]
    assert names["long"].grid.shape == (4096,)


def test_data_sets_for_testing_only_have_190_samples():
    for name, entry in REGISTRY.items():
        assert entry.count == (190 if name.endswith("-out") else entry.system.count)


def test_the_flow_of_the_benchmark_has_its_published_sizes():
    entry = REGISTRY["navier-stokes-nu1e-3"]
    split = standard(entry.count, 0, entry.system.folds)
    assert len(split.train) + len(split.validation) == 1000
    assert len(split.test) == 200
