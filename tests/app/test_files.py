"""Files on the page: they are stored, read, renamed and deleted, and are still there after a restart of the server."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from lfno.app.api import Desk
from lfno.app.curves import curves
from lfno.core.errors import LfnoError
from lfno.core.grid import Grid
from tests.app.conftest import unpack

Table = Callable[..., Path]


def drop(desk: Desk, path: Path, name: str = "") -> dict[str, Any]:
    """Upload a file and return its description."""
    return desk.receive(name or path.name, path.read_bytes())


def test_the_description_has_variables_roles_and_curves(desk: Desk, table: Table) -> None:
    found = drop(desk, table())
    assert [row["name"] for row in found["variables"]] == ["time", "force", "u"]
    assert found["problem"] is None
    assert (found["input"], found["output"]) == ([["force", "N"]], [["u", "mm"]])
    assert found["reading"] == {"input": "force", "output": "u", "time": "time"}
    assert found["kind"] == "one record"
    assert found["drawn"]["output"]["shape"] == [1, 3000]
    json.dumps(found, allow_nan=False)


def test_curves_of_long_records_keep_peaks_and_gaps(desk: Desk, tmp_path: Path) -> None:
    t = np.arange(50_000) * 0.01
    u = np.cos(t)
    u[12_345] = 9.0
    u[20_000:21_000] = np.nan
    np.savez(tmp_path / "long.npz", t=t, f=np.sin(t**1.1), u=u)
    drawn = drop(desk, tmp_path / "long.npz")["drawn"]
    shown = unpack(drawn["output"])[0]
    assert len(shown) <= 4096
    assert np.nanmax(shown) == 9.0
    gone = np.isnan(shown)
    times = unpack(drawn["t"])
    assert gone.sum() > 30
    assert times[gone].min() > 199
    assert times[gone].max() < 211


@pytest.mark.parametrize("size", [50_000, 50_001, 50_024])
def test_a_reduced_signal_has_a_peak_at_its_very_end(size: int) -> None:
    values = np.zeros((1, size))
    values[0, -1] = 9.0
    grid = Grid.line(size, dt=0.01)
    drawn = curves(grid, {"u": values})
    times, shown = unpack(drawn["t"]), unpack(drawn["u"])[0]
    assert len(times) == len(shown) <= 4096
    assert shown.max() == 9.0
    assert (np.diff(times) >= 0).all()
    assert times[-1] <= grid.axes[0].points[-1]


def test_a_damaged_file_gives_a_message_with_its_name_and_is_not_stored(desk: Desk, table: Table, tmp_path: Path) -> None:
    with pytest.raises(LfnoError, match=r"^bad\.csv: line 82, column 'u' holds 'overflow', which is not a number"):
        drop(desk, table("bad.csv", 82, "overflow"))
    (tmp_path / "notes.docx").write_bytes(b"PK\x03\x04")
    with pytest.raises(LfnoError, match=r"^notes\.docx: files with \.docx are not read; convert to one of"):
        drop(desk, tmp_path / "notes.docx")
    assert desk.ask("workspace", {})["files"] == []


def test_a_file_name_cannot_lead_out_of_the_workspace(desk: Desk, table: Table) -> None:
    for name in ("../../../etc/cron.d/rig.csv", "C:\\Windows\\rig.csv", "/etc/passwd/rig.csv"):
        found = drop(desk, table(), name)
        assert found["name"] == "rig.csv"
        folder = desk.workspace.find("files", found["id"]).folder
        assert folder.parent == desk.workspace.folder / "files"
        assert sorted(path.name for path in folder.iterdir()) == ["about.json", "signals-0.csv"]
    for identity in ("../runs", "", None, 7, "0" * 12, "A" * 12):
        with pytest.raises(LfnoError, match="is not in the workspace any more"):
            desk.ask("file", {"file": identity})


def test_error_messages_name_fields_of_the_page(desk: Desk, table: Table) -> None:
    file = table("late.csv")
    lines = file.read_text().splitlines()
    late = [line.split(",") for line in lines[1:]]
    late = [",".join([str(float(cells[0]) * (1 + 0.001 * k)), *cells[1:]]) for k, cells in enumerate(late)]
    file.write_text("\n".join([lines[0], *late]) + "\n")
    found = drop(desk, file)
    assert found["reading"]["resample"] is True
    with pytest.raises(LfnoError, match="“Resample to even time steps”") as caught:
        desk.ask("read", {"file": found["id"], "options": {**found["reading"], "resample": False}})
    assert "--" not in str(caught.value)
    read = desk.ask("read", {"file": found["id"], "options": {**found["reading"], "axes": "", "dt": ""}})
    assert any("is not uniform" in note for note in read["notes"])
    for options, sentence in (
        ({"input": "power"}, "there is no variable 'power'"),
        ({"dt": "soon"}, "the time step 'soon' is not a number"),
        ({"path": "/etc/passwd"}, "there is no field 'path' for reading a file"),
    ):
        with pytest.raises(LfnoError, match=sentence):
            desk.ask("read", {"file": found["id"], "options": options})


def test_a_file_with_a_problem_keeps_the_roles_of_its_other_variables(desk: Desk, table: Table) -> None:
    lines = table().read_text().splitlines()
    bare = "\n".join(line.partition(",")[2] for line in lines) + "\n"  # without the time
    found = desk.receive("bare.csv", bare.encode())
    assert "there is no time vector" in found["problem"]
    assert found["reading"] == {"input": "force", "output": "u"}
    read = desk.ask("read", {"file": found["id"], "options": {**found["reading"], "dt": "0.05"}})
    assert read["samples"]["train"] > 0
    still = [",".join([line.split(",")[0], "1.0", line.split(",")[2]]) for line in lines[1:]]
    found = desk.receive("still.csv", ("\n".join([lines[0], *still]) + "\n").encode())
    assert "is constant" in found["problem"]
    assert found["reading"] == {"input": "force", "output": "u", "time": "time"}


def test_the_column_of_run_numbers_has_its_role_and_runs_have_their_lengths(desk: Desk, table: Table) -> None:
    lines = table().read_text().splitlines()
    rows = [
        f"{1 + (k >= 1300)},{(k - 1300 * (k >= 1300)) * 0.05:.2f},{line.partition(',')[2]}" for k, line in enumerate(lines[1:])
    ]
    found = desk.receive("runs.csv", ("\n".join([f"run,{lines[0]}", *rows]) + "\n").encode())
    assert found["reading"]["sample"] == "run"
    assert found["lengths"] == [1300, 1700]


def test_the_period_of_the_input_can_be_stated_on_the_page(desk: Desk, table: Table, tmp_path: Path) -> None:
    t = np.arange(3000) * 0.05
    f = np.sin(2 * np.pi * t / 25) + np.sin(6 * np.pi * t / 25)  # period 25 s
    rows = [f"{a:.2f},{b:.6f},{c:.6f}" for a, b, c in zip(t, f, np.convolve(f, np.ones(9) / 9)[:3000], strict=True)]
    found = desk.receive("periodic.csv", ("\n".join(["t [s],f [N],u [m]", *rows]) + "\n").encode())
    assert any("repeats every 500 samples" in note for note in found["notes"])
    for periodic, period in (("no", None), ("50", 1000), ("", 500)):
        read = desk.ask("read", {"file": found["id"], "options": {**found["reading"], "periodic": periodic}})
        assert (read["kind"], read["drawn"]["output"]["shape"]) == ("one record", [1, 3000])  # as measured, not averaged
        told = [note for note in read["notes"] if "repeats every" in note]
        assert [f"repeats every {period} samples" in note for note in told] == ([True] if period else [])
    with pytest.raises(LfnoError, match="“Period of the input” = soon is not a period in s"):
        desk.ask("read", {"file": found["id"], "options": {**found["reading"], "periodic": "soon"}})


def test_roles_and_names_are_still_there_in_another_server(desk: Desk, table: Table) -> None:
    found = drop(desk, table())
    desk.ask("read", {"file": found["id"], "options": {"input": "u", "output": "force", "time": "time"}})
    desk.ask("rename", {"kind": "files", "id": found["id"], "name": "  my rig\n\x00 "})
    other = Desk(desk.workspace.folder)
    try:
        [listed] = other.ask("workspace", {})["files"]
        assert (listed["id"], listed["name"]) == (found["id"], "my rig")
        again = other.ask("file", {"file": found["id"]})
        assert again["input"] == [["u", "mm"]]
        other.ask("delete", {"kind": "files", "id": found["id"]})
        assert desk.ask("workspace", {})["files"] == []
        with pytest.raises(LfnoError, match="is not in the workspace any more"):
            desk.ask("file", {"file": found["id"]})
    finally:
        other.close()


def test_the_example_can_be_read(desk: Desk) -> None:
    found = desk.ask("example", {})
    assert found["problem"] is None
    assert any("not measured" in note for note in found["notes"])
