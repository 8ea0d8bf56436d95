"""Errors of the transient part and of the steady part of a model, measured on a record whose input repeats."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import lfno
from lfno.core.grid import Grid
from lfno.data.signals.record import Record
from lfno.evaluation.repeats import measure_split
from lfno.identification.identify import Modes
from lfno.identification.modal import ModalModel
from lfno.surrogate.trust import split_trust
from lfno.systems.base import Channel
from tests.cli.rig import answer, call

STEP, PERIOD = 0.05, 200
CHANNELS = (Channel("force", "N"),), (Channel("x", "m"),)
TRUE = Modes(np.array([-0.3 + 5j]), np.full((1, 1, 1), -0.2j), np.zeros((1, 1)), np.ones(1), 0.0, "linear")


def record(noise: float = 0.0, periods: int = 6) -> Record:
    """Return a record of a lightly damped oscillator, from rest, under a random force that repeats every 10 s.

    noise: standard deviation of the noise of the output, as a share of the standard deviation of the output.
    periods: number of periods.
    """
    draw = np.random.default_rng(0)
    force = np.tile(draw.normal(size=(1, PERIOD)), periods)
    motion = TRUE.simulate(force[None], STEP)[0]
    motion = motion + noise * motion.std() * draw.normal(size=motion.shape)
    return Record(force, motion, Grid.line(PERIOD * periods, STEP), *CHANNELS)


def model(modes: Modes = TRUE) -> lfno.Surrogate:
    told = {"data": {"name": "rig", "signals": {"inputs": [["force", "N"]], "outputs": [["x", "m"]], "from_rest": True}}}
    return lfno.Surrogate([ModalModel(modes, np.zeros(1), np.zeros(1), Grid.line(PERIOD, STEP), told)])


def test_the_true_model_has_no_error_in_both_parts() -> None:
    found = measure_split(model(), record())
    assert found is not None
    assert found.steady < 1e-3
    assert found.transient is not None
    assert found.transient < 1e-3


def test_the_error_of_the_true_model_is_the_noise() -> None:
    found = measure_split(model(), record(noise=0.1))
    assert found is not None
    assert found.noise is not None
    assert found.steady == pytest.approx(found.noise, rel=0.3)


def test_a_wrong_damping_is_an_error_of_both_parts() -> None:
    """With half of the damping, the transient decays too slowly, and the resonance of the steady part is too high."""
    wrong = replace(TRUE, poles=np.array([-0.15 + 5j]))
    found = measure_split(model(wrong), record())
    truth = record()
    steady = TRUE.steady(truth.inputs[None, :, :PERIOD], STEP)
    expected = np.linalg.norm(wrong.steady(truth.inputs[None, :, :PERIOD], STEP) - steady)
    larger = max(np.linalg.norm(steady), np.linalg.norm(truth.outputs[:, :PERIOD]))
    assert found is not None
    assert found.steady == pytest.approx(expected / larger, rel=0.02)
    assert found.transient is not None
    assert found.transient > 0.1


def test_a_record_that_does_not_repeat_is_not_measured() -> None:
    draw = np.random.default_rng(1)
    force = draw.normal(size=(1, 1000))
    once = Record(force, TRUE.simulate(force[None], STEP)[0], Grid.line(1000, STEP), *CHANNELS)
    assert measure_split(model(), once) is None
    words, measured = split_trust(model(), once)
    assert measured is None
    assert "was not measured" in words


def test_the_errors_on_test_samples_are_taken_from_the_model_file() -> None:
    told = model()
    told.provenance["split_errors"] = {"prediction": 0.05, "steady": 0.06, "transient": 0.07}
    words, _ = split_trust(told, record(), known=False)
    assert "steady part 6 %" in words


def test_lfno_decompose_prints_the_measured_errors(tmp_path: Path) -> None:
    data = record(noise=0.01)
    np.savez(tmp_path / "rig.npz", t=data.grid["t"].points, force=data.inputs[0], x=data.outputs[0])
    model().save(tmp_path / "model.safetensors")
    words = call("decompose", tmp_path / "model.safetensors", tmp_path / "rig.npz", "--output", "x", "-o", tmp_path)
    assert "The steady part of the model differs from the mean of" in words
    assert "Measurement noise alone causes a difference of" in words
    told = answer("decompose", tmp_path / "model.safetensors", tmp_path / "rig.npz", "--output", "x", "-o", tmp_path)
    assert told["measured"]["steady"] < 0.02


def test_a_folder_with_the_ending_of_the_file_is_refused(tmp_path: Path) -> None:
    """The command writes a folder. With the name of a file, it would write a folder called `parts.npz`."""
    data = record()
    np.savez(tmp_path / "rig.npz", t=data.grid["t"].points, force=data.inputs[0], x=data.outputs[0])
    model().save(tmp_path / "model.safetensors")
    with pytest.raises(lfno.LfnoError, match=r"leave out the ending .npz"):
        call("decompose", tmp_path / "model.safetensors", tmp_path / "rig.npz", "--output", "x", "-o", tmp_path / "parts.npz")
    assert not (tmp_path / "parts.npz").exists()
