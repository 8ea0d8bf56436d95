"""A data set of the registry is made once, made again if settings change, and resumed after an interruption."""

import json

import numpy as np
import pytest
from typer.testing import CliRunner

from lfno.cli import build
from lfno.core.errors import LfnoError
from lfno.core.grid import Grid
from lfno.data import storage
from lfno.data.cache import cache_directory, partial_directory
from lfno.data.check import compare
from lfno.data.make import dataset, make, plan
from lfno.systems import Duffing

SHORT = Grid.line(64, dt=0.05)


@pytest.fixture(autouse=True)
def _own_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("LFNO_CACHE", str(tmp_path / "cache"))


def small(**changes):
    return plan("duffing-c05", **{"count": 6, "grid": SHORT, **changes})


def test_a_data_set_is_the_solution_of_its_system():
    data = dataset("duffing-c05", count=6, grid=SHORT, dtype="float64", beta=2.0)
    A = np.linspace(0.05, 10, 6)
    np.testing.assert_array_equal(data.parameters["A"], A)
    t = SHORT["t"].points
    np.testing.assert_allclose(data.inputs[:, 0], A[:, None] * np.exp(-0.05 * t) * np.sin(5 * t), atol=1e-14)
    np.testing.assert_array_equal(
        data.outputs, Duffing(c=0.5, beta=2.0).solve(lambda s: A[:, None] * np.exp(-0.05 * s) * np.sin(5 * s), SHORT)
    )
    assert data.provenance["parameters"] == {"c": 0.5, "alpha": 1.0, "beta": 2.0}
    assert {"system", "solver", "accuracy", "seed", "version"} <= data.provenance.keys()


def test_inputs_that_the_user_gives():
    data = dataset("duffing-c05", grid=SHORT, inputs=np.ones((3, 64)))
    assert data.outputs.shape == (3, 1, 64)
    assert dataset("duffing-c05", grid=SHORT, inputs=np.cos).inputs.shape == (1, 1, 64)


def test_a_data_set_is_made_once_unless_it_changes():
    path, made = make(small())
    assert made
    assert make(small()) == (path, False)
    assert make(small(seed=1)) != (path, False)
    assert make(small(c=0.4))[0] != path
    path.write_bytes(path.read_bytes()[:1000])
    assert make(small()) == (path, True)


def test_damaged_data_in_the_cache_are_made_again():
    first = dataset("duffing-c05", count=6, grid=SHORT)
    path = make(small())[0]
    whole = bytearray(path.read_bytes())
    whole[len(whole) * 3 // 4] ^= 0xFF
    path.write_bytes(whole)
    np.testing.assert_array_equal(dataset("duffing-c05", count=6, grid=SHORT).outputs, first.outputs)


def test_a_file_of_the_user_is_not_overwritten(tmp_path):
    name = small().path_name
    (tmp_path / f"{name}.h5").write_text("mine")
    with pytest.raises(LfnoError, match="cannot replace this file"):
        make(small(), tmp_path)
    assert (tmp_path / f"{name}.h5").read_text() == "mine"


def test_same_seed_same_bytes(tmp_path):
    rich = {"count": 8, "grid": SHORT}
    first, second = (make(plan("duffing-c05-rich", **rich), tmp_path / d)[0].read_bytes() for d in "ab")
    assert first == second
    other = make(plan("duffing-c05-rich", **rich, seed=1), tmp_path / "c")[0].read_bytes()
    assert other != first


def test_an_interrupted_data_set_is_resumed(monkeypatch):
    """After an interruption in the third part, the first two parts are not solved again, and the result is the same."""
    whole = small().build().outputs
    monkeypatch.setattr(Duffing, "chunk", 2)
    solved: list[int] = []
    integrate = Duffing.integrate

    def counting(self, signal, grid):
        if len(solved) == 2:
            solved.append(0)
            raise KeyboardInterrupt
        solved.append(signal.count)
        return integrate(self, signal, grid)

    monkeypatch.setattr(Duffing, "integrate", counting)
    with pytest.raises(KeyboardInterrupt):
        make(small())
    assert sorted(p.suffix for p in cache_directory().rglob("*") if p.is_file()) == [".npz", ".npz"]
    path, _ = make(small())
    assert solved == [2, 2, 0, 2]
    np.testing.assert_array_equal(storage.load(path).outputs, whole)
    assert not any(partial_directory().iterdir())


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"count": 0}, "count is 0"),
        ({"dtype": "float16"}, "float32 or float64"),
        ({"seed": -1}, "seed is -1"),
        ({"gamma": 1}, "no parameter 'gamma'"),
        ({"c": -2}, "c = -2 is outside"),
    ],
)
def test_error_messages_name_the_wrong_option(changes, message):
    with pytest.raises(LfnoError, match=message):
        plan("duffing-c05", **changes)


def test_check_compares_with_the_reference():
    row = compare(small(), samples=2)
    assert row["holds"]
    assert 0 < row["largest"] < 1e-8


def run(*words: str):
    return CliRunner().invoke(build(), list(words), catch_exceptions=False)


def test_command_line(tmp_path):
    made = json.loads(run("data", "make", "duffing-c05", "--count", "4", "--set", "c=0.3", "--json").stdout)
    assert made[0]["made"]
    assert storage.load(made[0]["path"]).provenance["parameters"]["c"] == 0.3
    again = json.loads(run("data", "make", "duffing-c05", "--count", "4", "--set", "c=0.3", "--json").stdout)
    assert not again[0]["made"]
    assert "duffing-c05" in run("systems").stdout
    assert any("duffing-c0-out" in row["sets"] for row in json.loads(run("systems", "--json").stdout))
    figure = tmp_path / "figure.png"
    assert str(figure) in run("data", "show", "duffing-c05", "--out", str(figure)).stdout
    assert figure.read_bytes().startswith(b"\x89PNG")
    with pytest.raises(LfnoError, match="did you mean"):
        run("data", "make", "dufing-c05")
    with pytest.raises(LfnoError, match="name=value"):
        run("data", "make", "duffing-c05", "--set", "c")
