"""Several experiments in one file, which the names of the arrays separate: `uEst` and `uVal`, or `u_100mV` and `u_200mV`."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from scipy.io import savemat

from lfno.data.dataset import Dataset
from lfno.data.prepare import prepare
from lfno.data.signals import read_signals
from lfno.data.signals.experiments import runs_of
from lfno.data.signals.runs import Runs
from tests.data.laboratory import STEP, multisine, resonance, run

PERIOD, LINES = 256, 32


def signals(size: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Return force and response of one run as MATLAB columns (size, 1)."""
    one = run(size, seed)
    return one.inputs.T, one.outputs.T


def repeated(phases: int, amplitudes: int, periods: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Return force and response in steady state, two arrays (phase, amplitude, period, sample).

    Each index of the first axis has its own random phases of the multisine.
    """
    rng = np.random.default_rng(seed)
    waves = np.stack([multisine(PERIOD, LINES, rng) for _ in range(phases)])
    force = np.tile(waves[:, None] * np.linspace(0.5, 2, amplitudes)[:, None], periods + 2)
    shape = (phases, amplitudes, periods + 2, PERIOD)
    return force.reshape(shape)[:, :, 2:], resonance(force).reshape(shape)[:, :, 2:]


@pytest.mark.parametrize("ends", [("Est", "Val"), ("_train", "_test"), ("_id", "_val"), ("Estimation", "Validation")])
def test_the_names_of_arrays_tell_the_split(tmp_path: Path, ends: tuple[str, str]) -> None:
    values = {f"{name}{end}": one for seed, end in enumerate(ends) for name, one in zip("uy", signals(400, seed), strict=True)}
    savemat(tmp_path / "tanks.mat", values | {"Ts": STEP})
    found = read_signals(tmp_path / "tanks.mat")
    assert found.grid.steps == (pytest.approx(STEP),)
    assert found.provenance["split"] == {"train": [0], "test": [1]}
    prepared = prepare(tmp_path / "tanks.mat")
    tested = {span.record for span in prepared.spans if span.part == "test"}
    assert tested == {1}
    assert {span.record for span in prepared.spans if span.part != "test"} == {0}
    np.testing.assert_allclose(prepared.records[1].outputs[0, :400], run(400, 1).outputs[0], rtol=1e-12)


def test_parts_may_have_different_lengths_and_a_validation_part() -> None:
    values = {}
    for seed, (end, size) in enumerate([("train", 600), ("val", 300), ("test", 400)]):
        values[f"force_{end}"], values[f"x_{end}"] = (one[:, 0] for one in signals(size, seed))
    found = read_signals(values, dt=STEP)
    assert isinstance(found, Runs)
    assert found.provenance["split"] == {"train": [0], "validation": [1], "test": [2]}
    prepared = prepare(values, dt=STEP)
    assert [(span.part, span.record) for span in prepared.spans] == [("train", 0), ("validation", 1), ("test", 2)]


def test_names_of_a_user_choose_one_experiment() -> None:
    force, motion = signals(400, 0)
    other, its_motion = signals(400, 1)
    values = {"uEst": force, "yEst": motion, "uVal": other, "yVal": its_motion}
    found = read_signals(values, input="uVal", output="yVal", dt=STEP)
    np.testing.assert_array_equal(found.inputs, other.T)


def test_a_name_that_only_ends_with_the_letters_of_a_part_is_not_a_split() -> None:
    """The name "interval" ends with "val". Only names like "y_val" or "yVal" belong to a part of the split."""
    force, motion = (one[:, 0] for one in signals(400, 0))
    found = read_signals({"u": force, "y": motion, "interval": np.float64(3)}, dt=STEP)
    assert "split" not in found.provenance


@pytest.mark.parametrize("order", ["period, phase, amplitude", "channel, realisation, period", "phase, period, amplitude"])
def test_the_axis_of_periods_is_the_axis_along_which_the_values_repeat(order: str) -> None:
    axes = {"period, phase, amplitude": (3, 2, 0, 1), "phase, period, amplitude": (3, 0, 2, 1)}
    values = dict(zip("uy", repeated(3, 2, 4, 0), strict=True))
    runs = np.concatenate([values["y"].reshape(6, -1)])
    if order == "channel, realisation, period":
        arrays = {name: one.reshape(6, 4, PERIOD).transpose(2, 0, 1)[:, None] for name, one in values.items()}
    else:
        arrays = {name: one.transpose(axes[order]) for name, one in values.items()}
    found, period, periods = runs_of(arrays)
    if order == "phase, period, amplitude":  # the periods are on the third axis, so `runs_of` reads the second as channels
        assert (period, periods, len(found), found[0]["y"].shape) == (PERIOD, 4, 2, (4 * PERIOD, 3))
        return
    assert (period, periods, len(found)) == (PERIOD, 4, 6)
    np.testing.assert_array_equal(np.stack([one["y"][:, 0] for one in found]), runs)


def test_levels_and_parts_of_a_benchmark_with_periods() -> None:
    values = {}
    for seed, end in enumerate(("train", "test")):
        for level, size in (("100mV", 1.0), ("200mV", 2.0)):
            for name, one in zip("uy", repeated(4 - 2 * seed, 1, 2, seed), strict=True):
                values[f"{name}_{level}_{end}"] = size * one.transpose(3, 1, 0, 2)
    found = read_signals(values, dt=STEP)
    assert isinstance(found, Dataset)
    assert found.inputs.shape == (12, 1, 2 * PERIOD)
    assert found.provenance["period"] == PERIOD
    assert found.provenance["split"] == {"train": [*range(8)], "test": [*range(8, 12)]}
    prepared = prepare(values, dt=STEP)
    assert {*prepared.split.test.tolist()} == {*range(8, 12)}
    assert not {*prepared.split.train.tolist(), *prepared.split.validation.tolist()} & {*range(8, 12)}
