"""The systems on the page: inputs, reference solutions, predictions, parts, modes and sweeps are right."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

import lfno
from lfno.app.api import Desk
from lfno.app.catalogue import PAPER_FREQUENCY, catalogue, shipped
from lfno.app.fieldbench import FORMULAS
from lfno.app.inputs import DURATION, KINDS, Input
from lfno.app.json_values import packed
from lfno.app.single import Single
from lfno.core.errors import LfnoError
from lfno.core.grid import Grid
from lfno.core.json_text import jsonable
from lfno.evaluation.caveat import NOT_PHYSICAL, SPLIT_WRONG
from lfno.evaluation.metrics import relative_l2
from lfno.systems import find
from lfno.systems.families import Curve
from lfno.systems.signals import FunctionSignal
from tests.app.conftest import unpack

PAPER = {"kind": "decaying sine", "amplitude": 7.3, "frequency": PAPER_FREQUENCY}


def test_the_catalogue_has_twelve_systems_with_their_models() -> None:
    told = catalogue()
    rows = {row["name"]: row for row in told["systems"]}
    assert len(rows) == 12
    assert {"LFNO", "FNO", "LNO"} <= {one["key"] for one in rows["duffing-c05"]["models"]}
    assert [one["key"] for one in rows["navier-stokes-nu1e-3"]["models"]] == list(shipped("navier-stokes-nu1e-3"))
    assert told["opening"] in rows
    json.dumps(told, allow_nan=False)


@pytest.mark.parametrize(
    ("name", "unit"),
    [("beam", "N/m"), ("heat", ""), ("reaction-diffusion", ""), ("brusselator", "1/s"), ("burgers", "1/s"),
     ("navier-stokes", "1/s"), ("navier-stokes-nu1e-3", "")],
)  # fmt: skip
def test_the_slider_of_a_field_has_the_unit_of_its_parameter(name: str, unit: str) -> None:
    """Without a unit of its own, the parameter has the unit of the input. The input must then be proportional to it."""
    rows = {row["name"]: row for row in catalogue()["systems"]}
    assert rows[name]["slider"]["unit"] == unit
    family = find(name).family
    if isinstance(family, Curve) and family.unit is None:
        points = np.random.default_rng(0).uniform(0.1, 0.9, (find(name).grid.ndim, 5))
        once, twice = family.evaluate({family.name: np.array([1.3, 2.6])}, *points[: len(points) - (name == "navier-stokes")])
        np.testing.assert_allclose(twice, 2 * once, rtol=1e-12)


def test_models_trained_on_random_inputs_come_first() -> None:
    for row in catalogue()["systems"]:
        rich = [one["key"].endswith(" rich") for one in row["models"]]
        assert rich == sorted(rich, reverse=True), row["name"]


@pytest.mark.parametrize("name", [name for name in FORMULAS if isinstance(find(name).family, Curve)])
def test_the_formula_of_a_field_gives_its_input(name: str) -> None:
    from sympy.parsing.sympy_parser import implicit_multiplication_application, parse_expr, standard_transformations

    def parsed(text: str) -> Any:
        for sign, code in (("−", "-"), ("²", "**2"), ("e^", "exp"), ("π", " pi ")):
            text = text.replace(sign, code)
        return parse_expr(text, transformations=(*standard_transformations, implicit_multiplication_application))

    left, _, right = FORMULAS[name].partition(" = ")
    formula, _, shorthand = right.partition(", w = ")
    expression = parsed(formula).subs("w", parsed(shorthand or "0"))
    family = find(name).family
    names = [family.name, *(letter for letter in "xyt" if letter in left)]
    for values in np.random.default_rng(0).uniform(0.1, 2.0, (3, len(names))):
        shown = float(expression.subs(dict(zip(names, values, strict=True))))
        assert shown == pytest.approx(float(family.function(*values)), rel=1e-12)


@pytest.mark.parametrize("kind", KINDS)
def test_the_solution_for_every_kind_of_input_equals_the_reference_solution(kind: str) -> None:
    entry = find("duffing-c05")
    system = entry.system(**entry.parameters)
    given = Input(kind, 3.0, 0.4, 1, tuple(np.sin(np.arange(40.0))))
    grid = Grid.line(256, dt=0.08)
    truth = system.reference(FunctionSignal(lambda t: given(t)[None], 1), grid)[0, 0]
    assert np.abs(Single(system).solve(given, grid) - truth).max() < 1e-6 * np.abs(truth).max()


def test_random_inputs_are_periodic_and_have_the_power_of_a_sine() -> None:
    t = np.arange(4096) * DURATION / 4096
    for kind in ("multisine", "random"):
        given = Input(kind, 2.0, 0.6, 3)
        assert np.abs(given(t) - given(t + DURATION)).max() < 1e-9
        assert np.sqrt((given(t) ** 2).mean()) == pytest.approx(2.0 / np.sqrt(2))


def test_the_answers_about_an_oscillator_equal_the_results_of_the_library(desk: Desk) -> None:
    query = {"system": "pendulum-c05", "input": PAPER}
    entry = find("pendulum-c05")
    signal = entry.family.signal({"A": np.array([7.3])})
    inputs, truth = entry.system(**entry.parameters).record(signal, entry.grid)
    told = desk.ask("truth", query)
    assert np.abs(unpack(told["truth"]) - truth[0, 0, ::2]).max() < 1e-6
    assert np.abs(unpack(told["input"]) - inputs[0, 0, ::2]).max() < 1e-6
    for key, file in shipped("pendulum-c05").items():
        if key.endswith(" rich"):
            continue
        prediction = lfno.load(file).ask(inputs[0, 0]).values
        answer = desk.ask("answer", {**query, "model": key})
        assert np.abs(unpack(answer["prediction"]) - prediction[::2]).max() < 1e-4
        assert answer["l2"] == pytest.approx(float(relative_l2(prediction[None, None], truth)[0]), rel=1e-2)
        assert answer["notes"] == []
    split = desk.ask("split", {**query, "model": "LFNO"})
    assert "not physical" in split["caveat"]
    # the true parts add up to the true response
    parts = unpack(split["true_transient"]) + unpack(split["true_steady"])
    assert np.abs(parts - unpack(told["truth"])).max() < 1e-5
    assert desk.ask("modes", {**query, "model": "truth"})["modes"][0]["frequency"] == pytest.approx(0.154, abs=0.05)
    assert max(desk.ask("poles", {**query, "model": "LFNO"})["poles"]["re"]) < 0
    assert desk.ask("poles", {**query, "model": "FNO"})["poles"] is None


def test_an_input_out_of_the_training_range_gives_a_note(desk: Desk) -> None:
    for change in ({"kind": "sine"}, {"amplitude": 15.0}, {"frequency": 0.5}):
        answer = desk.ask("answer", {"system": "duffing-c05", "input": {**PAPER, **change}, "model": "FNO"})
        assert answer["notes"][0].startswith("out of the range of training")
    beyond = desk.ask("answer", {"system": "heat", "value": 12.5, "model": "FNO"})
    assert "is not between" in beyond["notes"][0]
    assert desk.ask("answer", {"system": "heat", "value": 5, "model": "FNO"})["notes"] == []


def test_random_inputs_of_a_field(desk: Desk) -> None:
    drawn = {"system": "heat", "family": "random", "value": 3}
    answer = desk.ask("answer", {**drawn, "model": "LFNO rich"})
    assert answer["l2"] < 1e-3
    assert answer["notes"] == []
    paper = {"system": "heat", "value": 5}
    for query, key, words in ((drawn, "LFNO", "inputs of one shape"), (paper, "LFNO rich", "on random inputs")):
        notes = desk.ask("answer", {**query, "model": key})["notes"]
        assert notes[0].startswith("out of the range of training")
        assert words in notes[0]
    # the true parts add up to the true response
    split, truth = desk.ask("split", {**drawn, "model": "LFNO rich"}), unpack(desk.ask("truth", drawn)["truth"])
    assert np.abs(unpack(split["true_transient"]) + unpack(split["true_steady"]) - truth).max() < 1e-6
    error = np.linalg.norm(unpack(split["steady"]) - unpack(split["true_steady"]))
    size = max(np.linalg.norm(unpack(split["true_steady"])), np.linalg.norm(truth))
    assert split["split_error"] == pytest.approx(error / size, rel=1e-4)
    with pytest.raises(LfnoError, match="value is not between 0 and 19"):
        desk.ask("truth", {**drawn, "value": 20})
    # the field of a system that is not driven starts at random
    assert desk.ask("truth", {"system": "burgers", "family": "random", "value": 1})["formula"].startswith("u₀(x)")
    with pytest.raises(LfnoError, match="family 'random' is not known"):
        desk.ask("truth", {"system": "navier-stokes-nu1e-3", "family": "random", "value": 1})


def test_a_split_that_is_not_physical_has_a_caveat_with_the_reason(desk: Desk) -> None:
    reasons = {"duffing-c05": "one shape of forcing", "duffing-c0": "not damped", "pendulum-c05": "free parameters"}
    for system, reason in reasons.items():
        query = {"system": system, "input": PAPER, "model": "LFNO"}
        for question in ("split", "modes"):
            caveat = desk.ask(question, query)["caveat"]
            assert caveat.startswith(NOT_PHYSICAL)
            assert reason in caveat
    query = {"system": "duffing-c05", "input": {**PAPER, "kind": "multisine"}, "model": "feedback rich"}
    split = desk.ask("split", query)
    assert (split["caveat"], desk.ask("modes", query)["caveat"]) == ("", "")
    assert split["split_error"] < 1e-3
    whole = desk.ask("split", {"system": "duffing-c05", "input": PAPER, "model": "FNO"})  # the FNO has no poles
    assert "there is no split" in whole["reason"]
    assert not {"transient", "steady"} & set(whole)


def test_the_split_of_a_zero_response_has_no_relative_error(desk: Desk) -> None:
    query = {"system": "duffing-c05", "input": {**PAPER, "amplitude": 0}, "model": "feedback rich"}
    split = desk.ask("split", query)
    assert split["split_error"] is None
    assert not unpack(split["true_steady"]).any()


def test_a_caveat_about_the_split_alone_does_not_concern_the_modes(desk: Desk) -> None:
    """The poles of this network are right, but the sizes of its transient and its steady part are wrong."""
    query = {"system": "reaction-diffusion", "family": "random", "value": 0, "model": "LFNO rich"}
    assert desk.ask("split", query)["caveat"].startswith(SPLIT_WRONG)
    assert desk.ask("modes", query)["caveat"] == ""


def test_the_first_input_of_an_oscillator_is_inside_the_range_of_training(desk: Desk) -> None:
    for system in desk.ask("systems", {})["systems"]:
        if "feedback rich" in [model["key"] for model in system["models"]]:
            query = {"system": system["name"], "input": system["start"], "model": "feedback rich"}
            assert desk.ask("answer", query)["notes"] == [], system["name"]


def test_an_undamped_system_has_no_true_steady_part(desk: Desk) -> None:
    split = desk.ask("split", {"system": "duffing-c0", "input": PAPER, "model": "LFNO"})
    assert "no true steady part" in split["reason"]
    assert "true_steady" not in split
    with pytest.raises(LfnoError, match="nothing damps the system"):
        desk.ask("sweep", {"system": "duffing-c0", "model": "truth", "amplitude": 1.0})


def test_a_sweep_with_small_sines_is_linear_and_with_large_sines_depends_on_the_direction(desk: Desk) -> None:
    weak = desk.ask("sweep", {"system": "duffing-c05", "model": "truth", "amplitude": 0.01})
    w = 2 * np.pi * unpack(weak["frequency"])
    assert np.allclose(unpack(weak["up"]), 0.01 / np.abs(1 - w**2 + 0.5j * w), rtol=0.02)
    strong = desk.ask("sweep", {"system": "duffing-c05", "model": "truth", "amplitude": 5.0})
    up, down = unpack(strong["up"]), unpack(strong["down"])
    assert (up > 1.5 * down).any()
    with pytest.raises(LfnoError, match="exact steady layers"):
        desk.ask("sweep", {"system": "duffing-c05", "model": "FNO", "amplitude": 1.0})


def test_the_answers_about_a_field(desk: Desk) -> None:
    field = desk.ask("truth", {"system": "burgers", "value": 2.0})
    assert field["truth"]["shape"] == field["input"]["shape"] == [50, 50]
    assert desk.ask("answer", {"system": "burgers", "value": 2.0, "model": "LFNO"})["l2"] < 0.01
    split = desk.ask("split", {"system": "burgers", "value": 2.0, "model": "LFNO"})
    assert split["transient"]["shape"] == [50, 50]


SINE = {"kind": "sine", "amplitude": 1, "frequency": 1}


@pytest.mark.parametrize(
    ("query", "message"),
    [
        ({"system": "moon", "value": 1}, "system 'moon' is not known"),
        ({"system": "../../etc/passwd"}, "is not known"),
        ({"system": "heat", "value": "much"}, "'much' is not a number"),
        ({"system": "heat", "value": True}, "True is not a number"),
        ({"system": "heat", "value": float("nan")}, "nan is not allowed"),
        ({"system": "heat", "value": 10**400}, "is too large; choose a value between"),
        ({"system": "heat", "value": 1e9}, "is not allowed; choose a value between"),
        ({"system": "duffing-c05", "input": {**SINE, "amplitude": 10**400}}, "the amplitude is too large"),
        ({"system": "duffing-c05", "input": {**SINE, "kind": "noise"}}, "kind 'noise' is not known"),
        ({"system": "duffing-c05", "input": {**SINE, "seed": 1.5}}, "seed = 1.5 is not a whole number"),
        ({"system": "duffing-c05", "input": {"kind": "drawn by hand", "points": [1]}}, "must have 2 to 512 points"),
        ([], "must be a JSON object"),
    ],
)
def test_wrong_options_give_an_error_message(desk: Desk, query: Any, message: str) -> None:
    with pytest.raises(LfnoError, match=message):
        desk.ask("truth", query)


def test_numbers_that_are_not_finite_become_null_in_json() -> None:
    tree = {"a": np.float64(np.inf), "b": [np.nan, np.int64(3)], "c": np.array([1.5]), 4: (True, None)}
    assert jsonable(tree) == {"a": None, "b": [None, 3], "c": [1.5], "4": [True, None]}
    values = np.linspace(-1, 1, 6).reshape(2, 3)
    assert np.allclose(unpack(packed(values)), values)
    assert np.array_equal(unpack(packed(values, double=True)), values)
