"""A file on the page: shown, refused in one sentence, trained on, stopped, and saved as a model."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import lfno
from lfno.app.api import Desk
from lfno.core.errors import LfnoError

Table = Callable[..., Path]


@pytest.fixture
def desk() -> Any:
    desk = Desk()
    yield desk
    desk.close()


def drop(desk: Desk, path: Path, name: str = "") -> dict[str, Any]:
    return desk.receive(name or path.name, path.read_bytes())


def test_what_is_inside(desk: Desk, table: Table) -> None:
    found = drop(desk, table())
    assert [row["name"] for row in found["variables"]] == ["time", "force", "u"]
    assert found["problem"] is None
    assert (found["input"], found["output"]) == ([["force", "N"]], [["u", "mm"]])
    assert found["command"] == "lfno fit rig.csv --input force --output u --time time"
    assert found["kind"] == "one record"
    assert found["drawn"]["output"]["shape"] == [1, 1200]
    json.dumps(found, allow_nan=False)


def test_long_records_keep_their_peaks(desk: Desk, tmp_path: Path) -> None:
    t = np.arange(50_000) * 0.01
    u = np.cos(t)
    u[12_345] = 9.0
    np.savez(tmp_path / "long.npz", t=t, f=np.sin(t**1.1), u=u)
    drawn = drop(desk, tmp_path / "long.npz")["drawn"]
    from tests.app.test_systems import unpack

    assert unpack(drawn["output"]).shape[-1] <= 4096
    assert unpack(drawn["output"]).max() == 9.0


def test_a_bad_file_is_refused_under_its_own_name(desk: Desk, table: Table, tmp_path: Path) -> None:
    with pytest.raises(LfnoError, match=r"^bad\.csv: line 82, column 'u' holds 'overflow', which is not a number"):
        drop(desk, table("bad.csv", 82, "overflow"))
    (tmp_path / "notes.docx").write_bytes(b"PK\x03\x04")
    with pytest.raises(LfnoError, match=r"^notes\.docx: files with \.docx are not read; convert to one of"):
        drop(desk, tmp_path / "notes.docx")


def test_a_name_is_never_a_path(desk: Desk, table: Table) -> None:
    for name in ("../../../etc/cron.d/rig.csv", "C:\\Windows\\rig.csv", "/etc/passwd/rig.csv"):
        assert drop(desk, table(), name)["name"] == "rig.csv"
        assert desk.upload is not None
        assert desk.upload.path.name == "signals.csv"
    folder = desk.upload.folder  # type: ignore[union-attr]
    desk.close()
    assert not folder.exists()


def test_what_a_file_needs_is_asked_for(desk: Desk, table: Table) -> None:
    file = table("late.csv")
    lines = file.read_text().splitlines()
    late = [line.split(",") for line in lines[1:]]
    late = [",".join([str(float(cells[0]) * (1 + 0.001 * k)), *cells[1:]]) for k, cells in enumerate(late)]
    file.write_text("\n".join([lines[0], *late]) + "\n")
    found = drop(desk, file)
    assert "resample=True" in found["problem"]
    assert found["options"]["resample"] is True
    assert "drawn" not in found
    with pytest.raises(LfnoError, match=r"late\.csv has not been read yet"):
        desk.ask("train", {"source": "file"})
    read = desk.ask("read", {**found["options"], "axes": "", "dt": ""})
    assert read["command"] == "lfno fit late.csv --input force --output u --time time --resample"
    assert any("was not uniform" in note for note in read["notes"])
    holes = drop(desk, table("holes.csv", 500, ""))
    assert any("1 value of" in note for note in holes["notes"])
    with pytest.raises(LfnoError, match="there is no variable 'power'"):
        desk.ask("read", {"input": "power"})
    with pytest.raises(LfnoError, match="the time step 'soon' is not a number"):
        desk.ask("read", {"dt": "soon"})
    with pytest.raises(LfnoError, match="there is no option 'path' for reading a file"):
        desk.ask("read", {"path": "/etc/passwd"})


def test_without_a_file(desk: Desk) -> None:
    for question in ("read", "signals"):
        with pytest.raises(LfnoError, match="there is no file yet"):
            desk.ask(question, {})
    with pytest.raises(LfnoError, match="no training run has finished yet"):
        desk.ask("outcome", {})
    with pytest.raises(LfnoError, match="no training run is going on"):
        desk.ask("stop", {})
    assert desk.ask("progress", {}) == {"stage": "idle", "over": True}


def finish(desk: Desk) -> dict[str, Any]:
    while not (progress := desk.ask("progress", {}))["over"]:
        time.sleep(0.05)
    assert progress["failure"] is None, progress["failure"]
    return progress


def test_a_model_of_the_signals(desk: Desk, table: Table, tmp_path: Path) -> None:
    drop(desk, table())
    desk.ask("train", {"source": "file", "model": "lno", "epochs": 2})
    progress = finish(desk)
    assert (progress["stage"], len(progress["losses"])) == ("done", 2)
    assert desk.ask("progress", {"since": 2})["losses"] == []
    assert any("steady modes" in reason for reason in progress["choices"])
    outcome = desk.ask("outcome", {})
    assert {"LNO", "mean", "persistence", "best linear model", "modal model"} == set(outcome["test"])
    assert outcome["verdict"].startswith("The LNO")
    one = desk.ask("sample", {"place": 0})
    assert one["truth"]["shape"] == one["prediction"]["shape"] == one["transient"]["shape"]
    with pytest.raises(LfnoError, match="there is no test sample 99"):
        desk.ask("sample", {"place": 99})
    name, content = desk.workshop.model_file()
    (tmp_path / name).write_bytes(content)
    assert name == "rig-lno.safetensors"
    assert lfno.load(tmp_path / name).kind == "LNO"


def test_one_run_at_a_time_and_a_stop_that_keeps_the_best(desk: Desk, table: Table) -> None:
    drop(desk, table())
    for wrong, sentence in (({"model": "gpt"}, "model 'gpt' is not known"), ({"epochs": 0}, "epochs must be a whole number")):
        with pytest.raises(LfnoError, match=sentence):
            desk.ask("train", {"source": "file", **wrong})
    desk.ask("train", {"source": "file", "model": "fno", "epochs": 5000})
    with pytest.raises(LfnoError, match=r"a run on rig\.csv is still going on; stop it before starting another"):
        desk.ask("train", {"source": "heat"})
    desk.ask("stop", {})
    progress = finish(desk)
    assert progress["stage"] == "stopped"
    assert progress["losses"][-1]["epoch"] < 5000
    assert desk.ask("outcome", {})["label"] == "FNO"
    assert desk.ask("sample", {"place": 0})["poles"] is None
