"""Functional mock-up units (FMUs): FMPy accepts the files, and the outputs equal the outputs of the model."""

from __future__ import annotations

import ctypes
import subprocess
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import lfno
from lfno.surrogate import Surrogate
from tests.surrogate.rigs import GRID, MODELS, STRICT, forces, linear, modes, needs_compiler

fmpy = pytest.importorskip("fmpy")
DT = 0.02
NAMES = ["x", "dx__dt"]


def simulate(file: Path, inputs: np.ndarray, every: int = 1, **options: Any) -> np.ndarray:
    """Return the outputs of an FMU that FMPy runs with a communication step of `every` model steps."""
    table = np.rec.fromarrays([DT * np.arange(inputs.shape[1]), *inputs], names=["time", "force", "flow"])
    stop = DT * (inputs.shape[1] - 1)
    result = fmpy.simulate_fmu(str(file), input=table, stop_time=stop, output_interval=every * DT, output=NAMES, **options)
    return np.stack([result[name] for name in NAMES])


def with_derivatives(file: Path, inputs: np.ndarray, every: int, folder: Path) -> np.ndarray:
    """Return the outputs of an FMU of FMI 2.0. The importer sets the derivatives of the inputs.

    The option `set_input_derivatives` of FMPy 0.3.32 has an array of fixed size, and works only for models with nine inputs.
    """
    description = fmpy.read_model_description(str(file))
    unit = fmpy.instantiate_fmu(fmpy.extract(str(file), str(folder / "unzipped")), description)
    which, orders = (ctypes.c_uint * 2)(0, 1), (ctypes.c_int * 2)(1, 1)
    unit.setupExperiment(startTime=0.0)
    unit.enterInitializationMode()
    unit.setReal([0, 1], inputs[:, 0].tolist())
    unit.exitInitializationMode()
    answers = [unit.getReal([2, 3])]
    for k in range(0, inputs.shape[1] - every, every):
        unit.setReal([0, 1], inputs[:, k].tolist())
        rates = (inputs[:, k + every] - inputs[:, k]) / (every * DT)
        unit.fmi2SetRealInputDerivatives(unit.component, which, 2, orders, (ctypes.c_double * 2)(*rates))
        unit.doStep(currentCommunicationPoint=k * DT, communicationStepSize=every * DT)
        answers.append(unit.getReal([2, 3]))
    unit.terminate()
    unit.freeInstance()
    return np.array(answers).T


def with_intermediate_updates(file: Path, inputs: np.ndarray, every: int, folder: Path) -> np.ndarray:
    """Return the outputs of an FMU of FMI 3.0. The importer sets the inputs at every model step."""
    description = fmpy.read_model_description(str(file))

    def update(_: Any, time: float, asked: bool, *rest: Any) -> None:
        assert asked
        unit.setFloat64([0, 1], inputs[:, round(time / DT)].tolist())

    unit = fmpy.instantiate_fmu(fmpy.extract(str(file), str(folder / "unzipped")), description, intermediate_update=update)
    unit.enterInitializationMode()
    unit.setFloat64([0, 1], inputs[:, 0].tolist())
    unit.exitInitializationMode()
    answers = [unit.getFloat64([2, 3])]
    for k in range(0, inputs.shape[1] - every, every):
        unit.doStep(currentCommunicationPoint=k * DT, communicationStepSize=every * DT)
        answers.append(unit.getFloat64([2, 3]))
    kept = unit.getFMUState()
    unit.terminate()
    unit.freeFMUState(kept)
    unit.freeInstance()
    return np.array(answers).T


@needs_compiler
@pytest.mark.parametrize("version", ["2.0", "3.0"])
@pytest.mark.parametrize("kind", ["linear", "feedback", "gated"])
def test_fmpy_gets_the_predictions_of_the_model(kind: str, version: str, tmp_path: Path) -> None:
    """If the inputs move during a communication step, the outputs are exact. If they keep their values, the outputs lag."""
    from fmpy.validation import validate_fmu

    model, inputs = MODELS[kind](), forces()
    unit = model.export("fmu", tmp_path / "rig.fmu", version=version)
    assert unit.binary
    assert validate_fmu(str(unit.path)) == []
    expected = model.predict(inputs)
    peak = np.abs(expected).max()
    if version == "2.0":
        moved = with_derivatives(unit.path, inputs, 1, tmp_path)
        lines = np.stack([np.interp(np.arange(300), np.arange(0, 300, 4), line[::4]) for line in inputs])
        coarse = with_derivatives(unit.path, lines[:, :297], 4, tmp_path)
        assert np.abs(coarse - model.predict(lines)[:, :297:4]).max() < 1e-9 * peak, "four model steps in one step"
    else:
        moved = with_intermediate_updates(unit.path, inputs, 1, tmp_path)
        coarse = with_intermediate_updates(unit.path, inputs[:, :297], 4, tmp_path)
        assert np.abs(coarse - expected[:, :297:4]).max() < 1e-9 * peak, "four model steps in one step"
    assert np.abs(moved - expected).max() < 1e-9 * peak
    held = np.abs(simulate(unit.path, inputs) - expected).max() / peak
    assert 1e-3 < held < 0.5, "an input that keeps its value during a step is half a step late on average"


@needs_compiler
@pytest.mark.parametrize("version", ["2.0", "3.0"])
def test_held_inputs_give_the_exact_response_to_the_staircase(version: str, tmp_path: Path) -> None:
    """For any hold of the model, an FMU gives the response to the input of the importer. Here this input is a staircase."""
    inputs = forces()
    centred = (inputs - np.array([[0.3], [-1.0]]))[None]
    late = np.concatenate([centred[..., :1], centred[..., :-1]], -1)  # the direct term uses the value before the jump
    smooth = modes("zero").simulate(centred, DT) - np.einsum("oi,sit->sot", modes().direct, centred)
    staircase = (smooth + np.einsum("oi,sit->sot", modes().direct, late))[0] + np.array([[2.0], [0.0]])
    for hold in ("linear", "zero"):
        unit = linear(hold).export("fmu", tmp_path / f"{hold}.fmu", version=version)
        np.testing.assert_allclose(simulate(unit.path, inputs), staircase, atol=1e-10)


@needs_compiler
@pytest.mark.parametrize("version", ["2.0", "3.0"])
def test_bad_calls_are_refused(version: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    unit = linear().export("fmu", tmp_path / "rig.fmu", version=version)
    with pytest.raises(Exception, match=r"DoStep (failed|returned)"):
        simulate(unit.path, forces(), every=1.5)  # type: ignore[arg-type]
    bad = forces()
    bad[0, 5] = np.nan
    with pytest.raises(Exception, match=r"(failed|returned)"):
        simulate(unit.path, bad)


@needs_compiler
@pytest.mark.parametrize("version", ["2.0", "3.0"])
def test_the_source_is_strict_c(version: str, tmp_path: Path) -> None:
    unit = linear("zero").export("fmu", tmp_path / "rig.fmu", version=version)
    with zipfile.ZipFile(unit.path) as archive:
        archive.extractall(tmp_path)
    words = ["cc", *STRICT, "-c", "rig.c", f"fmi{version[0]}.c"]
    done = subprocess.run(words, cwd=tmp_path / "sources", capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_without_a_compiler_the_fmu_holds_source_only(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("shutil.which", lambda _: None)
    unit = linear().export("fmu", tmp_path / "rig.fmu")
    assert (unit.binary, unit.reason) == ("", "no C compiler was found")
    with zipfile.ZipFile(unit.path) as archive:
        assert not [name for name in archive.namelist() if name.startswith("binaries")]


def test_equal_models_give_equal_bytes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("shutil.which", lambda _: None)
    first = linear().export("fmu", tmp_path / "rig.fmu").path.read_bytes()
    assert linear().export("fmu", tmp_path / "rig.fmu").path.read_bytes() == first


def test_bad_names_versions_and_models_raise_an_error(tmp_path: Path) -> None:
    for path, fields, words in [
        ("2rig.fmu", {}, "name of an FMU"), ("gone/rig.fmu", {}, "no folder"), ("rig.fmu", {"version": "1.0"}, "FMI version"),
    ]:  # fmt: skip
        with pytest.raises(lfno.LfnoError, match=words):
            linear().export("fmu", tmp_path / path, **fields)
    weighted = Surrogate([lfno.LFNO(GRID, width=4, modes=8, n_poles=2)])
    for model, words in [(weighted, "free weights R"), (Surrogate([lfno.FNO(GRID, width=4, modes=8)]), "whole window at once")]:
        for target in ("c", "fmu"):
            with pytest.raises(lfno.LfnoError, match=words):
                model.export(target, tmp_path / f"rig.{target}")
    assert not list(tmp_path.iterdir()), "no incomplete file is left"
