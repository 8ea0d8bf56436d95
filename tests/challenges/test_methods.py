"""The methods: on data of a linear system, the error is as small as the noise, and no method receives test outputs."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from lfno.challenges import load, run
from lfno.challenges.fitted import Settings
from lfno.challenges.linear import LinearModes, free_motions, state_spread
from lfno.challenges.load import Data
from lfno.challenges.methods import find_method
from lfno.challenges.protocol import Question, Record, Training, figures, is_white
from lfno.core.errors import LfnoError
from lfno.identification.identify import Modes
from tests.challenges.layouts import SCALES, figure, write

#: settings of a network that is trained for a few seconds
TINY = {"epochs": 2, "width": 4, "transient_layers": 1, "n_poles": 4, "projection": 8}


@pytest.mark.parametrize("name", ["cascaded-tanks", "coupled-drives", "emps", "fine-steering-mirror"])
def test_a_linear_system_is_identified_down_to_the_noise(name: str, tmp_path: Path):
    expected, skip = write(name, tmp_path)
    result = run(name, tmp_path, "linear")
    assert set(result.figures) == set(expected)
    for key, (value,) in result.figures.items():
        noise = figure(expected[key], skip, SCALES.get(name, 1.0))
        assert 0.98 * noise < value < 1.1 * noise


@pytest.mark.parametrize("method", ["linear", "level", "lfno"])
def test_test_outputs_do_not_change_the_model(method: str, tmp_path: Path):
    name = "fine-steering-mirror"
    write(name, tmp_path)
    data = load(name, tmp_path)
    other = Data(data.challenge, data.training, tuple(replace(r, outputs=-3 * r.outputs) for r in data.test))
    fitted = [find_method(method)(one.training, Settings(changes=TINY if method == "lfno" else {})) for one in (data, other)]
    for record in data.test[:3]:
        answers = [one.models[0].simulate(record.question(0)) for one in fitted]
        np.testing.assert_array_equal(*answers)
    assert fitted[0].validation == fitted[1].validation


def test_the_initial_state_is_estimated_from_the_first_outputs():
    poles = np.array([-0.3 + 4j, -1.0 + 0j])
    modes = Modes(poles, np.array([[[0.5 - 1j, 2.0]]]), np.zeros((1, 1)), np.ones(2), 0.0, "linear")
    inputs = np.random.default_rng(0).normal(size=(1, 1, 600))
    whole = modes.simulate(inputs, 0.05)[0]
    late = Question(inputs[0, :, 250:], whole[:, 250:270])
    spread = state_spread(modes, inputs, 0.05)
    model = LinearModes(modes, np.zeros((1, 1)), np.zeros((1, 1)), 0.05, spread, np.array([1e-16]))
    np.testing.assert_allclose(model.simulate(late), whole[:, 250:], atol=1e-6)
    # averaged over many noisy draws, the prior gives a smaller error than ordinary least squares
    basis, rng, errors = free_motions(poles, 200, 0.05), np.random.default_rng(1), []
    for start in range(50, 400):
        truth, later = whole[:, start : start + 200], inputs[0, :, start : start + 200]
        first = truth[:, :12] + 0.05 * rng.normal(size=(1, 12))
        noisy = replace(model, noise=np.array([0.05**2])).simulate(Question(later, first))
        rest = modes.simulate(later[None], 0.05)[0]
        plain = rest + (first - rest[:, :12]) @ np.linalg.pinv(basis[:, :12]) @ basis
        errors.append([((answer - truth) ** 2).mean() for answer in (noisy, plain)])
    assert np.mean(errors, 0)[0] < np.mean(errors, 0)[1]


def test_a_periodic_record_is_predicted_in_steady_state():
    modes = Modes(np.array([-2.0 + 4j]), np.array([[[-1j]]]), np.zeros((1, 1)), np.ones(1), 0.0, "linear")
    inputs = np.random.default_rng(0).normal(size=(1, 200))
    model = LinearModes(modes, np.zeros((1, 1)), np.zeros((1, 1)), 0.05, np.eye(2)[None], np.ones(1))
    answer = model.simulate(Question(inputs, inputs[:, :0], period=200))
    long = modes.simulate(np.tile(inputs, 9)[None], 0.05)[0]
    np.testing.assert_allclose(answer, long[:, -200:], atol=1e-6)


def test_auto_chooses_the_method_with_the_smallest_error_on_held_out_records(tmp_path: Path):
    write("coupled-drives", tmp_path)
    result = run("coupled-drives", tmp_path, "auto", minutes=0.1, **TINY)
    compared = result.configuration["relative validation errors"]
    assert min(compared, key=compared.get) == result.configuration["method"]
    assert result.configuration["method"] in ("linear", "feedback")  # a network of two epochs has learned nothing
    assert {"linear", "feedback"} <= set(compared) <= {"linear", "feedback", "lfno"}


def test_white_noise_is_recognised_in_a_residual():
    rng = np.random.default_rng(5)
    inputs, noise = rng.normal(size=(2, 1, 3000))
    model = LinearModes(*_known_modes(inputs))
    clean = model.simulate(Question(inputs, inputs[:, :0], rest=True))
    for extra, white in ((0.1 * noise, True), (0.1 * np.cumsum(noise, -1), False), (np.nan * noise, False)):
        assert is_white(model, [Record("training", inputs, clean + extra, rest=True)], 0) == white


def _known_modes(inputs: np.ndarray) -> tuple:
    """Return the arguments of `LinearModes` for a known mode."""
    modes = Modes(np.array([-2.0 + 4j]), np.array([[[-1j]]]), np.zeros((1, 1)), np.ones(1), 0.0, "linear")
    return modes, np.zeros((1, 1)), np.zeros((1, 1)), 0.05, np.eye(2)[None], np.ones(1)


def test_each_seed_has_its_own_figures(tmp_path: Path):
    write("coupled-drives", tmp_path)
    result = run("coupled-drives", tmp_path, "lfno", seeds=2, minutes=0.05, **TINY)
    assert all(len(values) == 2 for values in result.figures.values())
    assert result.figures["low amplitude"][0] != result.figures["low amplitude"][1]
    assert all(spread > 0 for spread in result.spread.values())


def test_the_split_holds_out_the_last_fifth_or_one_record_of_six():
    rng = np.random.default_rng(0)
    one = Record("a", rng.normal(size=(1, 100)), rng.normal(size=(1, 100)))
    kept, held = Training((one,), 1.0, 0).split()
    assert [len(kept.records[0]), len(held.records[0])] == [80, 20]
    periodic = tuple(replace(one, figure=f, period=50, inputs=one.inputs + k) for f in "ab" for k in range(6))
    kept, held = Training(periodic, 1.0, 0).split()
    assert [record.figure for record in held.records] == ["a", "b"]
    assert len(kept.records) == 10
    assert not any(record is other for record in kept.records for other in held.records)
    with pytest.raises(LfnoError, match="one training realisation of 'a'"):
        Training(periodic[:1], 1.0, 0).split()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"method": "magic"}, "there is no method 'magic'"),
        ({"method": "level"}, "needs periodic training records"),
        ({"method": "lfno", "seeds": 0}, "0 seeds"),
        ({"method": "lfno", "colour": 3}, "there is no option 'colour'"),
    ],
)
def test_wrong_arguments_raise_an_error(arguments: dict, message: str, tmp_path: Path):
    write("coupled-drives", tmp_path)
    with pytest.raises(LfnoError, match=message):
        run("coupled-drives", tmp_path, **arguments)


def test_outputs_that_do_not_depend_on_the_inputs_are_predicted_by_their_mean():
    rng = np.random.default_rng(3)
    records = tuple(Record("training", *rng.normal(2.0, 1.0, (2, 1, 400))) for _ in range(2))
    model = find_method("linear")(Training(records, 0.02, 10), Settings()).models[0]
    answer = model.simulate(records[0].question(10))
    assert "constant" in model.description
    np.testing.assert_allclose(answer, np.mean([record.outputs for record in records]))


@pytest.mark.parametrize("method", ["linear", "level"])
def test_the_first_fit_gives_the_validation_figures_and_has_not_seen_the_held_out_records(method: str, tmp_path: Path):
    """`auto` tests whether the residual of the first fit is white noise.

    The residual of the final model is too small for this test, because the held-out records were part of its fit.
    """
    write("fine-steering-mirror", tmp_path)
    training = load("fine-steering-mirror", tmp_path).training
    found = find_method(method)(training, Settings())
    assert found.trained is not None
    held = training.split()[1].records
    assert figures(found.trained, held, training.skip, training.scale) == found.validation
    assert figures(found.models[0], held, training.skip, training.scale) != found.validation
