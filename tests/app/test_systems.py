"""The systems of the page: what it shows is what the library computes."""

from __future__ import annotations

import base64
import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import lfno
from lfno.app.api import Desk
from lfno.app.plain import packed, plain
from lfno.app.systems import catalogue
from lfno.core.errors import LfnoError
from lfno.evaluation.metrics import relative_l2
from lfno.models.storage import SHIPPED
from lfno.systems import find


def unpack(tree: dict[str, Any]) -> np.ndarray:
    return np.frombuffer(base64.b64decode(tree["data"]), "<f4").reshape(tree["shape"])


@pytest.fixture(scope="module")
def desk() -> Desk:
    return Desk()


def test_twelve_systems_and_what_is_missing() -> None:
    rows = {row["name"]: row for row in catalogue()}
    assert len(rows) == 12
    assert rows["duffing-c05"]["models"] == ["LFNO", "FNO", "LNO"]
    assert rows["duffing-c05"]["note"] == ""
    assert rows["duffing-c05"]["slider"] | {"value": 0} == {
        "name": "A", "low": 0.05, "high": 10.0, "step": 0.05, "value": 0, "least": -9.9, "most": 19.95,
    }  # fmt: skip
    json.dumps(list(rows.values()), allow_nan=False)


def test_weights_that_are_not_there_are_said_to_be_missing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("lfno.app.systems.SHIPPED", tmp_path)
    shutil.copy(SHIPPED / "heat.safetensors", tmp_path)
    rows = {row["name"]: row for row in catalogue()}
    assert rows["heat"]["models"] == ["LFNO"]
    assert rows["heat"]["note"] == "No weights of FNO and LNO are shipped for this set."
    assert rows["beam"]["models"] == []
    assert rows["beam"]["note"].startswith("No weights are shipped for this set: the page shows the truth alone.")


@pytest.mark.parametrize("weights", [False, True])
def test_a_forced_flow_with_and_without_weights(weights: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    name, grid = "navier-stokes-nu1e-3", find("navier-stokes-nu1e-3").grid
    for module in ("lfno.app.systems", "lfno.models.storage"):
        monkeypatch.setattr(f"{module}.SHIPPED", tmp_path)
    if weights:
        config = lfno.LFNO.Config(in_channels=10, width=4, modes=(4, 4, 4), n_poles=2)
        lfno.LFNO(grid, config).save(tmp_path / f"{name}.safetensors")
    flow = Desk().ask("explore", {"system": name, "value": 1})
    assert flow["truth"]["shape"] == flow["input"]["shape"] == [64, 64, 40]
    assert list(flow["models"]) == (["LFNO"] if weights else [])
    if weights:
        parts = [unpack(flow["models"]["LFNO"][part]) for part in ("transient", "steady", "prediction")]
        assert np.abs(parts[0] + parts[1] - parts[2]).max() < 1e-5


def test_an_oscillator(desk: Desk) -> None:
    answer = desk.ask("explore", {"system": "pendulum-c05", "value": 7.3})
    entry = find("pendulum-c05")
    signal = entry.family.signal({"A": np.array([7.3])})
    inputs, truth = entry.system(**entry.parameters).record(signal, entry.grid)
    assert np.abs(unpack(answer["truth"]) - truth[0, 0]).max() < 1e-6
    assert np.abs(unpack(answer["input"]) - inputs[0, 0]).max() < 1e-6
    for name, suffix in (("LFNO", ""), ("FNO", "-fno"), ("LNO", "-lno")):
        prediction = lfno.load(f"pendulum-c05{suffix}").predict(inputs)
        one = answer["models"][name]
        assert np.abs(unpack(one["prediction"]) - prediction[0, 0]).max() < 1e-5
        assert one["l2"] == pytest.approx(float(relative_l2(prediction, truth)[0]), rel=1e-2)
    split = answer["models"]["LFNO"]
    assert np.abs(unpack(split["transient"]) + unpack(split["steady"]) - unpack(split["prediction"])).max() < 1e-5
    assert max(split["poles"]["re"]) < 0
    assert "not physical" in split["caveat"]
    # another amplitude, another answer, and other poles ring
    assert 1.0 in desk.benches["pendulum-c05"].solutions  # every position of the slider was solved with the first
    other = desk.ask("explore", {"system": "pendulum-c05", "value": 1.0})
    assert unpack(other["truth"]).std() < 0.5 * unpack(answer["truth"]).std()
    assert other["models"]["LFNO"]["poles"]["contribution"] != split["poles"]["contribution"]


def test_beyond_the_range_of_training(desk: Desk) -> None:
    answer = desk.ask("explore", {"system": "heat", "value": 12.5})
    assert not answer["trained"]
    assert desk.ask("explore", {"system": "heat", "value": 5})["trained"]
    with pytest.raises(LfnoError, match=r"A = 1e\+09 is too far from what the models have seen; choose a value between"):
        desk.ask("explore", {"system": "heat", "value": 1e9})


def test_a_field(desk: Desk) -> None:
    field = desk.ask("explore", {"system": "burgers", "value": 2.0})
    assert field["truth"]["shape"] == field["input"]["shape"] == [50, 50]
    assert field["models"]["LFNO"]["l2"] < 0.01


@pytest.mark.parametrize(
    ("query", "sentence"),
    [
        ({"system": "moon", "value": 1}, "there is no system 'moon' on this page"),
        ({"system": "../../etc/passwd", "value": 1}, "there is no system"),
        ({"system": "heat", "value": "much"}, "the amplitude 'much' is not a number"),
        ({"system": "heat", "value": True}, "the amplitude True is not a number"),
        ({"system": "heat", "value": float("nan")}, "is too far from"),
        ([], "a question comes with an object"),
    ],
)
def test_wrong_questions(desk: Desk, query: Any, sentence: str) -> None:
    with pytest.raises(LfnoError, match=sentence):
        desk.ask("explore", query)


def test_numbers_that_json_has_no_word_for() -> None:
    tree = {"a": np.float64(np.inf), "b": [np.nan, np.int64(3)], "c": np.array([1.5]), 4: (True, None)}
    assert plain(tree) == {"a": None, "b": [None, 3], "c": [1.5], "4": [True, None]}
    values = np.linspace(-1, 1, 6).reshape(2, 3)
    assert np.allclose(unpack(packed(values)), values)
