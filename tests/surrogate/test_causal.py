"""A fit with causal=True gives a model that streams, predicts records in one pass and can be exported."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import lfno
from tests.cli.rig import answer

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
    assert not any("stitched" in note for note in model.ask(record).notes)


def test_what_cannot_be_causal_says_so() -> None:
    with pytest.raises(lfno.LfnoError, match="an FNO sees a whole window at once"):
        lfno.fit("duffing-c05", "fno", causal=True)
