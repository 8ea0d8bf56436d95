"""A fit with causal=True gives a model that can stream, and that predicts a record in one pass."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import lfno
from lfno.core.grid import Grid
from lfno.data.stretches import Stretch
from lfno.identification.feedback.hold import permitted
from lfno.identification.feedback.refit import with_best_hold
from lfno.identification.feedback.terms import Terms
from tests.cli.rig import answer
from tests.surrogate.rigs import GRID, feedback, forces

SMALL = {"epochs": 1, "width": 2, "projection": 4, "transient_layers": 2, "n_poles": 2}


def test_a_causal_network_streams(tmp_path: Path) -> None:
    t = np.arange(1200) * 0.05
    force = np.random.default_rng(0).normal(size=1200)
    motion = np.convolve(force, np.exp(-t[:100]))[:1200] * 0.05
    np.savez(tmp_path / "rig.npz", t=t, f=force, u=motion)
    words = [word for name, value in SMALL.items() if name != "epochs" for word in ("--set", f"{name}={value}")]
    answer("fit", tmp_path / "rig.npz", "--input", "f", "--output", "u", "--model", "lfno", "--causal", "--epochs", 1,
           "--out", tmp_path / "run", *words)  # fmt: skip
    model = lfno.load(tmp_path / "run")
    assert model.causal
    stream, expected = model.stream(), model.predict(force)
    np.testing.assert_allclose(stream.step(force), expected, atol=1e-5 * np.abs(expected).max())
    record, _ = model.read(tmp_path / "rig.npz")
    assert not any("consists of windows" in note for note in model.ask(record).notes)


def test_a_model_that_cannot_be_causal_is_refused() -> None:
    with pytest.raises(lfno.LfnoError, match="an FNO sees a whole window at once"):
        lfno.fit("duffing-c05", "fno", causal=True)


def test_a_model_that_uses_future_samples_can_predict_and_cannot_stream(tmp_path: Path) -> None:
    model = feedback("centred")
    assert not model.causal
    assert np.isfinite(model.predict(forces())).all()
    with pytest.raises(lfno.LfnoError, match=r"two future samples; fit a model with `lfno fit --causal`"):
        model.stream()
    for target in ("c", "fmu", "onnx-step", "onnx"):
        with pytest.raises(lfno.LfnoError, match="two future samples"):
            model.export(target, tmp_path / "rig")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(("ahead", "hold"), [(False, "cubic"), (True, "centred")])
def test_the_best_hold_of_a_smooth_input_uses_future_samples_only_if_permitted(ahead: bool, hold: str) -> None:
    model, step = feedback("linear", Terms(1, sines=(0,)), 1e9).members[0], GRID.steps[-1]
    draw = np.random.default_rng(0)
    t, rates = step / 16 * np.arange(16 * 300), draw.uniform(1, 40, (2, 20, 1))  # the Nyquist frequency is 157 rad/s
    force = 0.1 * np.sin(rates * t + draw.uniform(0, 6, (2, 20, 1))).sum(1) + model.input_offset[:, None]
    motion = model.predict(force[None], Grid.line(len(t), step / 16))[0]
    assert with_best_hold(model, [Stretch(force[:, ::16], motion[:, ::16], start="rest")], permitted(ahead)).hold == hold
