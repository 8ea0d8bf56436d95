"""A whole window of a causal model as an ONNX graph: correct outputs, in a file not much larger than the weights."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import lfno
from lfno.core.grid import Grid
from lfno.surrogate import Surrogate
from lfno.surrogate.deploy import run
from tests.surrogate.rigs import MODELS, forces, linear

onnxruntime = pytest.importorskip("onnxruntime")


@pytest.mark.parametrize("kind", [*MODELS, "cubic"])
@pytest.mark.parametrize("size", [300, 161, 12])
def test_onnx_runtime_gives_the_predictions_of_the_model(kind: str, size: int, tmp_path: Path) -> None:
    model = linear("cubic") if kind == "cubic" else MODELS[kind]()
    written = model.export("onnx", tmp_path / "rig.onnx", model.grid.change("t", size=size))
    session = onnxruntime.InferenceSession(str(written.path), providers=["CPUExecutionProvider"])
    inputs = np.stack([forces(size), -2 * forces(size), forces(size)[::-1]])
    (answer,) = session.run(None, {"input": inputs.astype(np.float32)})
    expected = np.stack([run.respond(model.program(), one) for one in inputs])
    np.testing.assert_allclose(answer, expected, atol=1e-5 * np.abs(expected).max())


def test_the_file_is_not_much_larger_than_the_weights(tmp_path: Path) -> None:
    fields = {"width": 16, "modes": 32, "n_poles": 8, "share_poles": True, "transient_layers": 8, "gate": True}
    network = lfno.LFNO(Grid.line(2048, 0.01), steady="exact", **fields)
    written = Surrogate([network]).export("onnx", tmp_path / "rig.onnx")
    weights = 4 * sum(one.numel() for one in network.parameters())
    assert written.size < 4 * weights
    assert written.error < 1e-5


def test_the_metadata_have_grid_and_channels(tmp_path: Path) -> None:
    model = linear()
    written = model.export("onnx", tmp_path / "rig.onnx")
    told = onnxruntime.InferenceSession(str(written.path)).get_modelmeta().custom_metadata_map
    assert Grid.from_dict(json.loads(told["lfno_grid"])) == model.grid
    assert json.loads(told["lfno_signals"])["inputs"][0] == ["force", "N"]
