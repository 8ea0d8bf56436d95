"""An exported model agrees with the original, as real matrix products, as an ONNX file and as a PyTorch program."""

from __future__ import annotations

import json
from itertools import product
from pathlib import Path

import numpy as np
import pytest
import torch

from lfno.core.errors import LfnoError
from lfno.core.grid import Axis, Grid
from lfno.models import FNO, LFNO, LNO, Operator
from lfno.models.export import export
from lfno.models.frozen import Frozen

LINE = Grid.line(45, dt=0.05)
FIELD = Grid((Axis("x", 9, 0.1), Axis("t", 14, 0.1, time=True)))
CUBE = Grid((Axis("x", 6, 0.1, periodic=True), Axis("y", 7, 0.1), Axis("t", 8, 0.1, time=True)))


def stirred(model: Operator) -> Operator:
    """Return the model with offsets, and with noise on all parameters, so that no term is zero.

    Without noise, the Fourier weights R of some networks are zero before training.
    """
    torch.manual_seed(0)
    model.normalise(0.3, 2.0, -0.1, 1.5)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.add_(0.05 * torch.randn_like(parameter))
    return model


def difference(model: Operator) -> float:
    """Return the relative difference between a model and its real matrix products."""
    x = torch.randn(2, model.config.in_channels, *model.grid.shape)
    with torch.no_grad():
        frozen = Frozen(model, model.grid)(x)
        exact = model.double()(x.double())
    return float((frozen - exact).abs().max() / exact.abs().max())


@pytest.mark.parametrize("grid", [LINE, FIELD, CUBE], ids=["1-D", "2-D", "3-D"])
def test_real_matrix_products_agree_with_the_model(grid: Grid) -> None:
    shape = {"modes": 3, "width": 3, "projection": 8}
    models: list[Operator] = [FNO(grid, **shape), LNO(grid, **shape), LNO(grid, version="decoupled", **shape)]
    for layout, steady, shared, axes in product(
        ("blocks", "sequence", "branches"), ("exact", "free", "shared", "residual"), (True, False), (None, "time")
    ):
        fields = {"n_poles": 2, "layout": layout, "steady": steady, "share_poles": shared, "laplace_axes": axes}
        more = {"skip": layout == "blocks", "transient_layers": 2, "steady_layers": 3, "grid_channels": shared, "mixed": shared}
        more |= {"gate": shared and layout == "blocks"}
        models.append(LFNO(grid, **shape, **fields, **more, padding=0.25 if shared else 0.0))
    assert max(difference(stirred(model)) for model in models) < 2e-5


@pytest.mark.parametrize("grid", [LINE, FIELD], ids=["1-D", "2-D"])
def test_onnx_runtime_agrees_and_takes_any_batch(grid: Grid, tmp_path: Path) -> None:
    import onnxruntime

    model = stirred(LFNO(grid, modes=4, width=4, n_poles=3, in_channels=2, transient_layers=1, laplace_axes="time", gate=True))
    written = export(model, tmp_path / "model.onnx")
    assert written.error < 1e-5
    session = onnxruntime.InferenceSession(str(written.path), providers=["CPUExecutionProvider"])
    told = session.get_modelmeta().custom_metadata_map
    assert Grid.from_dict(json.loads(told["lfno_grid"])) == grid
    for batch in (1, 5):
        x = np.random.default_rng(batch).normal(size=(batch, 2, *grid.shape)).astype(np.float32)
        (answer,) = session.run(None, {"input": x})
        np.testing.assert_allclose(answer, model.predict(x), atol=1e-4 * np.abs(answer).max())


def test_torch_program_at_another_rate(tmp_path: Path) -> None:
    model = stirred(LFNO(LINE, modes=4, width=4, n_poles=3))
    fine = LINE.change("t", size=90, step=0.025)
    written = export(model, tmp_path / "model.pt2", "torch", fine)
    x = torch.randn(4, 1, 90)
    answer = torch.export.load(written.path).module()(x).detach().numpy()
    np.testing.assert_allclose(answer, model.predict(x, fine), atol=1e-5 * np.abs(answer).max())


def test_a_wrong_target_or_folder_gives_one_error_message(tmp_path: Path) -> None:
    model = LFNO(LINE, modes=4, width=4)
    with pytest.raises(LfnoError, match="choose onnx or torch"):
        export(model, tmp_path / "a", "tflite")
    with pytest.raises(LfnoError, match="there is no folder"):
        export(model, tmp_path / "nowhere" / "a.onnx")


def test_a_failed_export_does_not_change_an_existing_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    model = LNO(LINE, modes=3, width=3, projection=8)
    with pytest.raises(LfnoError, match="too large to export"):
        export(model, tmp_path / "model.pt2", "torch", Grid.line(10**18, dt=1e-12))
    (tmp_path / "model.pt2").write_text("before")
    monkeypatch.setattr("lfno.models.export.TOLERANCE", -1.0)
    with pytest.raises(LfnoError, match="differs from the original"):
        export(model, tmp_path / "model.pt2", "torch")
    assert [(path.name, path.read_text()) for path in tmp_path.iterdir()] == [("model.pt2", "before")]
