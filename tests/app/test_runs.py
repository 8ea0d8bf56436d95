"""Runs on the page: queue, progress, stop, interruption, continuation, results, exports and predictions."""

from __future__ import annotations

import io
import time
import zipfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import lfno
from lfno.app.api import Desk
from lfno.app.bode import bode, whole_segments
from lfno.app.diary import Diary
from lfno.core.errors import LfnoError
from tests.app import conftest
from tests.app.conftest import finish, unpack

Table = Callable[..., Path]


def test_a_linear_model_of_the_signals(desk: Desk, table: Table, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The oscillator forgets in 15 s. The record has 300 s, so that the test data after the warm-up show its resonance."""
    monkeypatch.setattr(conftest, "T", 0.05 * np.arange(6_000))
    found = desk.receive("rig.csv", table().read_bytes())
    [run] = desk.ask("train", {"file": found["id"], "models": ["linear"]})["runs"]
    end = finish(desk, run["id"])
    assert (end["stage"], end["ready"]) == ("done", True), end["words"]
    told = desk.ask("outcome", {"run": run["id"]})["outcome"]
    assert told["test"]["linear"]["l2"] < 0.1
    assert told["modes"][0]["frequency"] == pytest.approx(np.sqrt(2 - 0.16) / (2 * np.pi), rel=0.1)
    # the frequency response of the model is near the frequency response of the oscillator
    bode = told["bode"]
    w = 2 * np.pi * unpack(bode["frequency"])
    inside = (w > 0.8) & (w < 3)
    exact = np.abs(1 / (2 - w**2 + 0.8j * w))
    assert np.allclose(unpack(bode["model"]["magnitude"])[0, 0][inside], exact[inside], rtol=0.35)
    one = desk.ask("sample", {"run": run["id"], "place": 0})
    # the times are those of the file: the test is the last fifth of 300 s, and its warm-up is not shown
    start = unpack(one["t"])[0]
    assert start > 240
    assert unpack(one["t"])[-1] == pytest.approx(299.95)
    assert f"The first {start - 240:.3g} s of the test data are the warm-up" in told["times"]
    parts = unpack(one["transient"]) + unpack(one["steady"])
    half = parts.shape[-1] // 2  # the sum of the parts is checked in the second half of the test
    assert np.allclose(parts[:, half:], unpack(one["prediction"])[:, half:], atol=1e-3)
    with pytest.raises(LfnoError, match="there is no test sample 99"):
        desk.ask("sample", {"run": run["id"], "place": 99})
    # exports
    name, content = desk.saved({"run": run["id"], "form": "model"})
    (tmp_path / name).write_bytes(content)
    assert lfno.load(tmp_path / name).kind == "linear"
    archive = zipfile.ZipFile(io.BytesIO(desk.saved({"run": run["id"], "form": "c"})[1]))
    assert {Path(member).suffix for member in archive.namelist()} >= {".c", ".h"}
    assert zipfile.is_zipfile(io.BytesIO(desk.saved({"run": run["id"], "form": "fmu"})[1]))
    assert b"rig.csv: a fitted model" in desk.saved({"run": run["id"], "form": "report"})[1]
    with pytest.raises(LfnoError, match="cannot be saved as 'exe'"):
        desk.saved({"run": run["id"], "form": "exe"})
    # predict a new file, with its output and without it
    answer = desk.predict("new.csv", table("new.csv").read_bytes(), run["id"])
    assert answer["errors"]["l2"] < 0.1
    rows = desk.saved({"answer": answer["id"]})[1].decode().splitlines()
    assert rows[0] == '"t [s]","u [mm]"'
    assert desk.saved({"answer": answer["id"]})[0] == "new-predicted-by-linear-model-of-rig-csv.csv"
    assert len(rows) == 6001
    bare = "\n".join(line.rpartition(",")[0] for line in table().read_text().splitlines()) + "\n"
    absent = desk.predict("bare.csv", bare.encode(), run["id"])
    assert (absent["errors"], absent["missing"]) == (None, ["u"])
    with pytest.raises(LfnoError, match=r"^wrong\.csv"):
        desk.predict("wrong.csv", b"a,b\n1,2\n3,4\n", run["id"])
    assert len(desk.ask("workspace", {})["files"]) == 1


def test_a_prediction_tells_the_changes_to_the_data_and_leaves_gaps_in_the_measured_output(desk: Desk, table: Table) -> None:
    found = desk.receive("rig.csv", table().read_bytes())
    [run] = desk.ask("train", {"file": found["id"], "models": ["linear"]})["runs"]
    finish(desk, run["id"])
    lines = table().read_text().splitlines()
    rows = [row.rpartition(",")[0] + "," if 500 <= k < 600 else row for k, row in enumerate(lines[1:])]  # without output
    gap = "\n".join([lines[0], *rows[:1000], *rows[1300:]]) + "\n"  # 15 s without any data
    answer = desk.predict("gap.csv", gap.encode(), run["id"])
    assert any("300 rows are missing" in note for note in answer["notes"])
    times, truth = unpack(answer["drawn"]["t"]), unpack(answer["drawn"]["truth"])[0]
    lost = ((times > 25.01) & (times < 29.9)) | ((times > 50.01) & (times < 64.9))
    assert np.isnan(truth[lost]).all()
    assert np.isfinite(unpack(answer["drawn"]["prediction"])).all()


def test_every_run_of_a_prediction_can_be_shown(desk: Desk, table: Table, tmp_path: Path) -> None:
    found = desk.receive("rig.csv", table().read_bytes())
    [run] = desk.ask("train", {"file": found["id"], "models": ["linear"]})["runs"]
    finish(desk, run["id"])
    force = np.stack([np.sin(0.5 * k * np.arange(400) * 0.05) for k in (1, 2, 3)])
    np.savez(tmp_path / "runs.npz", t=np.arange(400) * 0.05, force=force)
    answer = desk.predict("runs.npz", (tmp_path / "runs.npz").read_bytes(), run["id"])
    assert answer["count"] == 3
    for sample in range(3):
        drawn = desk.ask("predicted", {"answer": answer["id"], "sample": sample})
        assert np.allclose(unpack(drawn["input"])[0], force[sample], atol=1e-6)
    with pytest.raises(LfnoError, match="there is no run 3: the prediction has 3 runs"):
        desk.ask("predicted", {"answer": answer["id"], "sample": 3})


def test_the_measured_frequency_response_uses_measured_values_only() -> None:
    """Missing values of the output do not change the measured frequency response. The true system is an FIR filter.

    The prediction is 7 times too large. If predicted values filled the gaps, the measured response would change.
    """
    draw = np.random.default_rng(0)
    force = draw.standard_normal((1, 1, 4000))
    motion = np.apply_along_axis(lambda f: np.convolve(f, [0.5, 0.3, 0.2])[:4000], -1, force)
    signals = {"input": force, "truth": motion, "prediction": 7 * motion}
    gaps = np.array(motion)
    gaps[..., 700:760] = gaps[..., 2500:2600] = np.nan
    for truth in (motion, gaps):
        found = bode({**signals, "truth": truth}, step=0.1)
        w = 2 * np.pi * unpack(found["frequency"]) * 0.1
        exact = np.abs(0.5 + 0.3 * np.exp(-1j * w) + 0.2 * np.exp(-2j * w))
        assert np.allclose(unpack(found["measured"]["magnitude"])[0, 0], exact, atol=0.06)
        assert np.median(unpack(found["coherence"])) > 0.99
    places, length = whole_segments(np.isfinite(gaps[0]), 1)
    assert all(np.isfinite(gaps[0, 0, start : start + length]).all() for _, start in places)
    assert bode({**signals, "truth": np.where(np.arange(4000) % 12 == 0, np.nan, motion)}, step=0.1) is None


def test_deleting_a_file_deletes_its_runs(desk: Desk, table: Table) -> None:
    found = desk.receive("rig.csv", table().read_bytes())
    [run] = desk.ask("train", {"file": found["id"], "models": ["linear"]})["runs"]
    finish(desk, run["id"])
    left = desk.ask("delete", {"kind": "files", "id": found["id"]})
    assert (left["files"], left["runs"]) == ([], [])


def test_wrong_options_of_a_run_give_an_error_message(desk: Desk, table: Table) -> None:
    found = desk.receive("rig.csv", table().read_bytes())
    for order, message in (
        ({"models": []}, "choose at least one model"),
        ({"models": ["gpt"]}, "model 'gpt' is not known"),
        ({"models": ["fno"], "epochs": 0}, "epochs must be a whole number"),
        ({"models": ["fno"], "file": "0" * 12}, "is not in the workspace any more"),
        ({"models": ["fno"], "system": "moon"}, "system 'moon' is not known"),
    ):
        with pytest.raises(LfnoError, match=message):
            desk.ask("train", {"file": found["id"], **order})
    assert desk.ask("workspace", {})["runs"] == []
    with pytest.raises(LfnoError, match="is not in the workspace any more"):
        desk.ask("stop", {"run": "0" * 12})


@pytest.mark.long
def test_stopped_and_interrupted_runs_of_a_queue(desk: Desk, table: Table) -> None:
    found = desk.receive("rig.csv", table().read_bytes())
    first, second = desk.ask("train", {"file": found["id"], "models": ["fno", "lno"], "epochs": 5000})["runs"]
    assert desk.ask("progress", {"run": second["id"]})["stage"] == "waiting"
    with pytest.raises(LfnoError, match="is active; stop the run before you delete it"):
        desk.ask("delete", {"kind": "runs", "id": first["id"]})
    # a run that is stopped in training keeps and tests its best weights
    while desk.ask("progress", {"run": first["id"]})["stage"] != "training":
        time.sleep(0.05)
    desk.ask("stop", {"run": first["id"]})
    end = finish(desk, first["id"])
    assert (end["stage"], end["ready"]) == ("stopped", True)
    assert end["losses"][-1]["epoch"] < 5000
    assert desk.ask("outcome", {"run": first["id"]})["outcome"]["label"] == "FNO"
    # the server stops during the second run; the run then continues from its checkpoint in another server
    while not desk.ask("progress", {"run": second["id"]})["losses"]:
        time.sleep(0.05)
    folder = desk.workspace.find("runs", second["id"]).folder
    desk.close()
    assert Diary(folder).read()["stage"] == "interrupted"
    other = Desk(desk.workspace.folder)
    try:
        assert other.ask("outcome", {"run": first["id"]})["outcome"]["label"] == "FNO"
        other.ask("continue", {"run": second["id"]})
        while other.ask("progress", {"run": second["id"]})["stage"] != "training":
            time.sleep(0.05)
        other.ask("stop", {"run": second["id"]})
        assert finish(other, second["id"])["ready"] is True
        other.ask("delete", {"kind": "runs", "id": second["id"]})
        assert not folder.exists()
    finally:
        other.close()


@pytest.mark.long
def test_a_stop_before_the_training_leaves_no_model(desk: Desk) -> None:
    found = desk.ask("example", {})
    [run] = desk.ask("train", {"file": found["id"], "models": ["lfno"], "epochs": 2000})["runs"]
    while (now := desk.ask("progress", {"run": run["id"]}))["stage"] != "pilot":
        assert not now["over"], now["words"]
        time.sleep(0.05)
    assert now["seconds_left"] > 0
    desk.ask("stop", {"run": run["id"]})
    end = finish(desk, run["id"])
    assert end["stage"] == "stopped"
    assert end["words"] == "Stopped during the short trial runs before the training. There is no model."
    with pytest.raises(LfnoError, match="this run has no model"):
        desk.ask("outcome", {"run": run["id"]})
