"""The ONNX graph of one time step: ONNX Runtime gives the outputs of the model if the caller passes the state back."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import lfno
from lfno.surrogate.deploy import run
from tests.surrogate.rigs import MODELS, forces, linear

onnxruntime = pytest.importorskip("onnxruntime")


def stepped(path: Path, inputs: np.ndarray, kind: type) -> np.ndarray:
    """Return the outputs (2, outputs, time) for a batch of two input signals, `inputs` and 2 × `inputs`."""
    session = onnxruntime.InferenceSession(str(path), providers=["CPUExecutionProvider"])
    state, answers = np.zeros((2, session.get_inputs()[1].shape[1]), kind), []
    for sample in inputs.T:
        answer, state = session.run(None, {"input": np.stack([sample, 2 * sample]).astype(kind), "state": state})
        answers.append(answer)
    return np.stack(answers, -1)


@pytest.mark.parametrize("kind", MODELS)
def test_onnx_runtime_gives_the_predictions_of_the_model(kind: str, tmp_path: Path) -> None:
    model, inputs = MODELS[kind](), forces(60)
    written = model.export("onnx-step", tmp_path / "rig.onnx")
    assert written.size == (tmp_path / "rig.onnx").stat().st_size < 50_000
    for answer, force in zip(stepped(written.path, inputs, np.float32), (inputs, 2 * inputs), strict=True):
        expected = run.respond(model.program(), force)
        np.testing.assert_allclose(answer, expected, atol=1e-4 * np.abs(expected).max())


@pytest.mark.parametrize("hold", ["zero", "linear", "cubic"])
def test_double_precision_and_every_hold(hold: str, tmp_path: Path) -> None:
    model, inputs = linear(hold), forces(60)
    written = model.export("onnx-step", tmp_path / "rig.onnx", precision="double")
    expected = run.respond(model.program(), inputs)
    np.testing.assert_allclose(stepped(written.path, inputs, np.float64)[0], expected, atol=1e-11)


def test_the_metadata_have_step_unit_and_channels(tmp_path: Path) -> None:
    written = linear().export("onnx-step", tmp_path / "rig.onnx")
    told = onnxruntime.InferenceSession(str(written.path)).get_modelmeta().custom_metadata_map
    assert (float(told["lfno_dt"]), told["lfno_unit"]) == (0.02, "s")
    assert json.loads(told["lfno_signals"])["inputs"][0] == ["force", "N"]


def test_a_failed_export_raises_an_error_and_leaves_no_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(lfno.LfnoError, match="no folder"):
        linear().export("onnx-step", tmp_path / "gone" / "rig.onnx")
    with pytest.raises(lfno.LfnoError, match="choose float or double"):
        linear().export("onnx-step", tmp_path / "rig.onnx", precision="half")
    monkeypatch.setattr("lfno.surrogate.deploy.onnx_file.TOLERANCE", {"float": -1.0, "double": -1.0})
    with pytest.raises(lfno.LfnoError, match=r"differs from the model by .* export to c or fmu instead"):
        linear().export("onnx-step", tmp_path / "rig.onnx")
    assert not list(tmp_path.iterdir())
