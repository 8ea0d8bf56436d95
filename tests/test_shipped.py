"""The shipped models have the recorded errors on the test samples of their data sets."""

from pathlib import Path

import numpy as np
import pytest

import lfno
from lfno.data.make import dataset
from lfno.data.split import standard
from lfno.evaluation.splitting import score_split
from lfno.paper.record import read_record
from lfno.paper.scoring import mean_errors
from lfno.paper.studies import GROUPS
from lfno.systems import ReactionDiffusion

RECORDS = Path(__file__).parents[1] / "results" / "main" / "default"


NETWORKS = [(task, model) for task in GROUPS["paper"] for model in ("LFNO", "FNO", "LNO")]
#: data sets with two shipped models: `lfno.load(task)` is an identified equation, and `lfno.load(f"{task}-lfno")` is an LFNO
BESIDE = ("reaction-diffusion-rich",)
PAIRS = [*NETWORKS, *((task, "LFNO") for task in GROUPS["rich-fields"])]


@pytest.mark.parametrize(("task", "model"), PAIRS)
def test_the_errors_of_a_shipped_model_equal_those_of_its_record(task, model):
    told = read_record(RECORDS / task / f"{model}-s0-f0.json")
    data = dataset(task)
    test = standard(len(data)).test
    name = task if model == "LFNO" and task not in BESIDE else f"{task}-{model.lower()}"
    found = lfno.load(name).predict(data.inputs[test])
    # abs: the error of the beam is limited by rounding errors of single precision
    assert mean_errors(found, data.outputs[test]) == pytest.approx(told.scores, rel=0.01, abs=2e-8)


def test_the_equation_of_a_field_is_the_shipped_model_where_it_is_found():
    data = dataset("reaction-diffusion-rich")
    test = standard(len(data)).test
    model = lfno.load("reaction-diffusion-rich")
    assert model.kind == "equation"
    assert not model.split_caveat
    assert mean_errors(model.predict(data.inputs[test]), data.outputs[test])["l2"] < 2e-4
    for mode, pole in zip(model.modes(), ReactionDiffusion().linearised_poles(), strict=False):
        assert mode.pole == pytest.approx(pole, rel=1e-4)


#: data sets whose shipped model consists of modes with feedback
FEEDBACK = ("duffing-c05-rich", "pendulum-c05-rich", "lorenz-rho5-rich")


@pytest.mark.parametrize("task", FEEDBACK)
def test_shipped_models_for_random_forcing_have_the_errors_in_their_files(task):
    model = lfno.load(task)
    assert model.kind == "feedback"
    assert not model.split_caveat
    data = dataset(task)
    test = standard(len(data)).test
    found = mean_errors(model.predict(data.inputs[test]), data.outputs[test])
    assert found["l2"] == pytest.approx(model.scores.rows["feedback"]["l2"], rel=0.01)


def test_the_network_for_the_forced_lorenz_system_knows_the_split_and_the_modes():
    model = lfno.load("lorenz-rho10-rich")
    assert not model.split_caveat
    whole = dataset("lorenz-rho10-rich", steady=True)
    data = whole[standard(len(whole)).test]
    errors = score_split(model, data).means()
    assert errors["prediction"] < 0.004
    assert max(errors["steady"], errors["transient"]) < 1.5 * errors["prediction"]


@pytest.mark.parametrize("task", GROUPS["rich-starts"])
def test_networks_for_random_initial_fields_have_about_their_recorded_errors_on_new_samples(task):
    told = read_record(RECORDS / task / "LFNO-s0-f0.json").scores["l2"]
    data = lfno.dataset(task, count=6, seed=99)
    assert mean_errors(lfno.load(task).predict(data.inputs), data.outputs)["l2"] < 2 * told


def test_a_shipped_model_is_accurate_for_amplitudes_that_no_sample_has():
    t = lfno.dataset("duffing-c05", count=1).grid["t"].points
    for amplitude in (0.731, 5.123, 9.377):
        force = amplitude * np.exp(-0.05 * t) * np.sin(5 * t)
        truth = lfno.dataset("duffing-c05", inputs=force[None, None])
        guess = lfno.load("duffing-c05").predict(truth.inputs)
        assert np.linalg.norm(guess - truth.outputs) < 0.02 * np.linalg.norm(truth.outputs)


def test_the_shipped_model_of_a_flow_predicts_more_frames_than_in_training():
    data = lfno.dataset("navier-stokes-nu1e-3", count=2, seed=12345)
    model = lfno.load("navier-stokes-nu1e-3")
    longer = data.grid.change("t", size=41)
    found = model.predict(np.broadcast_to(data.inputs[..., :1], (2, 10, *longer.shape)), grid=longer)[..., :40]
    assert mean_errors(found, data.outputs)["l2"] < 0.004
