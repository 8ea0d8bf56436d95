"""Several runs in one file: tables, cells, structure arrays, groups and sheets give the signals of each run."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest
from scipy.io import savemat

from lfno.core.errors import LfnoError
from lfno.data.dataset import Dataset
from lfno.data.describe import describe
from lfno.data.files import read
from lfno.data.prepare import prepare
from lfno.data.signals import read_signals
from lfno.data.signals.record import Record
from lfno.data.signals.runs import Runs, of_trajectories
from tests.data.laboratory import STEP, run

SIZES = (120, 90, 200)
RUNS = [run(size, seed) for seed, size in enumerate(SIZES)]


def same(found: Any, runs: list[Record] = RUNS) -> None:
    """Check that the runs that were read have the signals of `runs`."""
    assert isinstance(found, Runs)
    assert found.grid.steps == (pytest.approx(STEP),)
    assert len(found) == len(runs)
    for one, true in zip(found.records, runs, strict=True):
        np.testing.assert_allclose(one.inputs, true.inputs, rtol=1e-12)
        np.testing.assert_allclose(one.outputs, true.outputs, rtol=1e-12)


def cells(values: list[np.ndarray]) -> np.ndarray:
    """Return arrays as a MATLAB cell array."""
    array = np.empty((1, len(values)), object)
    for k, one in enumerate(values):
        array[0, k] = one
    return array


def table(path: Path, numbered: bool) -> Path:
    """Write RUNS one below the other as a CSV file, with a column of run numbers if `numbered`."""
    rows = []
    for k, one in enumerate(RUNS):
        columns = [one.grid.axes[-1].points, one.inputs[0], one.outputs[0]]
        rows.append(np.stack([*([np.full(len(one), k + 1.0)] if numbered else []), *columns], 1))
    names = ["run"] * numbered + ["t", "force", "x"]
    np.savetxt(path, np.concatenate(rows), delimiter=",", header=",".join(names), comments="", fmt="%.17g")
    return path


@pytest.mark.parametrize("numbered", [True, False])
def test_tables_with_run_numbers_or_a_time_that_starts_again(tmp_path: Path, numbered: bool) -> None:
    same(read_signals(table(tmp_path / "runs.csv", numbered)))
    if numbered:
        same(read_signals(tmp_path / "runs.csv", sample="run"))


def test_equal_runs_of_a_time_that_starts_again_are_trajectories() -> None:
    t = np.tile(np.arange(50) * 0.1, 6)
    found = read_signals({"t": t, "force": np.sin(t), "x": np.cos(t) + np.arange(300)})
    assert isinstance(found, Dataset)
    assert found.inputs.shape == (6, 1, 50)


def test_a_single_row_that_goes_back_is_still_an_error() -> None:
    t = np.arange(60) * 0.1
    t[30] = 0.0
    with pytest.raises(LfnoError, match="goes back"):
        read_signals({"t": t, "force": np.sin(t), "x": np.cos(t)})


@pytest.mark.parametrize("step", ["Ts", "dt", "fs", "SampleTime"])
def test_cells_of_matlab_with_their_sampling_time(tmp_path: Path, step: str) -> None:
    value = 1 / STEP if step == "fs" else STEP
    inputs, outputs = cells([one.inputs.T for one in RUNS]), cells([one.outputs.T for one in RUNS])
    savemat(tmp_path / "runs.mat", {"u": inputs, "y": outputs, step: value})
    found = read_signals(tmp_path / "runs.mat")
    same(found)
    assert any(f"was taken from {step!r}" in note for note in found.provenance["notes"])


def test_structure_arrays_and_structures_like_iddata(tmp_path: Path) -> None:
    kind = [("u", object), ("y", object), ("Ts", object)]
    array = np.array([[(one.inputs[0], one.outputs[0], STEP) for one in RUNS]], dtype=kind)
    savemat(tmp_path / "array.mat", {"data": array})
    same(read_signals(tmp_path / "array.mat"))
    experiments = {
        "InputData": cells([one.inputs.T for one in RUNS]), "OutputData": cells([one.outputs.T for one in RUNS]),
        "Ts": STEP, "InputName": "force", "Notes": "by hand",
    }  # fmt: skip
    savemat(tmp_path / "iddata.mat", {"z": experiments})
    same(read_signals(tmp_path / "iddata.mat"))
    one = RUNS[2]
    savemat(tmp_path / "one.mat", {"z": {"InputData": one.inputs.T, "OutputData": one.outputs.T, "Ts": STEP}})
    found = read_signals(tmp_path / "one.mat")
    assert isinstance(found, Record)
    np.testing.assert_array_equal(found.outputs, one.outputs)


def test_cells_and_structure_arrays_of_version_7_3(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for kind in ("cell", "struct"):
        with h5py.File(tmp_path / f"{kind}.mat", "w", userblock_size=512) as file:
            holder = file if kind == "cell" else file.create_group("data")
            kept = file.create_group("#refs#")
            for name, role in (("u", "inputs"), ("y", "outputs")):
                links = holder.create_dataset(name, (len(RUNS), 1), h5py.ref_dtype)
                if kind == "cell":
                    links.attrs["MATLAB_class"] = np.bytes_("cell")
                for k, one in enumerate(RUNS):
                    kept[f"{name}{k}"] = getattr(one, role)  # shape (1, time) in HDF5 is (time, 1) in MATLAB
                    kept[f"{name}{k}"].attrs["MATLAB_class"] = np.bytes_("double")
                    links[k, 0] = kept[f"{name}{k}"].ref
            file["Ts"] = [[STEP]]
            file["Ts"].attrs["MATLAB_class"] = np.bytes_("double")
        same(read_signals(tmp_path / f"{kind}.mat"))
    monkeypatch.setattr("lfno.data.files.matlab.MOST_ELEMENTS", 2)
    found = read(tmp_path / "cell.mat")
    assert [*found] == ["Ts"]
    assert sorted(note[:35] for note in found.notes) == [f"'{name}' was left out: it has 3 elements" for name in "uy"]


def test_cells_that_are_too_long_or_too_deep_are_left_out_with_a_note(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("lfno.data.files.matlab5.MOST_ELEMENTS", 2)
    deep = cells([np.ones(3)])
    for _ in range(9):
        deep = cells([deep])
    savemat(tmp_path / "runs.mat", {"long": cells([np.ones(3)] * 3), "deep": deep, "f": np.ones(3)})
    found = read(tmp_path / "runs.mat")
    assert [*found] == ["f"]
    assert found.notes[0] == "'long' was left out: it has 3 elements, more than 2"
    assert found.notes[1].endswith("was left out: it is nested more than 8 levels deep")


def test_numbered_groups_of_hdf5(tmp_path: Path) -> None:
    with h5py.File(tmp_path / "runs.h5", "w") as file:
        for k, one in enumerate(RUNS):
            group = file.create_group(f"run{k + 1}")
            group["t"], group["force"], group["x"] = one.grid.axes[-1].points, one.inputs[0], one.outputs[0]
    same(read_signals(tmp_path / "runs.h5"))


def test_one_number_for_each_run_is_a_constant_input(tmp_path: Path) -> None:
    inputs, outputs = cells([one.inputs.T for one in RUNS]), cells([one.outputs.T for one in RUNS])
    savemat(tmp_path / "runs.mat", {"u": inputs, "y": outputs, "Ts": STEP, "stiffness": [1.0, 2.0, 3.0]})
    found = read_signals(tmp_path / "runs.mat", input="u,stiffness", output="y")
    assert isinstance(found, Runs)
    assert [record.inputs[1, 0] for record in found.records] == [1.0, 2.0, 3.0]
    assert all((record.inputs[1] == record.inputs[1, 0]).all() for record in found.records)


def test_runs_are_described_and_prepared(tmp_path: Path) -> None:
    path = table(tmp_path / "runs.csv", numbered=True)
    report = describe(path)
    assert report["kind"] == "3 runs of unequal length"
    assert report["options"]["input"] == "force"
    prepared = prepare(path, window=32, warmup=8)
    assert len(prepared.records) == 3


@pytest.mark.parametrize("equal", [True, False])
@pytest.mark.parametrize("numbered", [True, False])
def test_inspect_offers_a_parameter_of_each_run_as_an_input(equal: bool, numbered: bool, tmp_path: Path) -> None:
    runs = [run(100 if equal else 100 + 20 * seed, seed) for seed in range(6)]
    columns = {
        "run": np.repeat(np.arange(6.0), [len(one) for one in runs]),
        "t": np.concatenate([one.grid.axes[-1].points for one in runs]),
        "force": np.concatenate([one.inputs[0] for one in runs]),
        "x": np.concatenate([one.outputs[0] for one in runs]),
        "stiffness": np.repeat(np.linspace(1, 2, 6), [len(one) for one in runs]),
    }
    columns.pop("run") if not numbered else None
    path = tmp_path / "runs.csv"
    np.savetxt(path, np.stack(list(columns.values()), 1), delimiter=",", header=",".join(columns), comments="", fmt="%.17g")
    report = describe(path)
    assert report["parameters"] == ["stiffness"]
    assert any("input='force,stiffness'" in note for note in report["notes"])
    found = read_signals(path, input="force,stiffness", output="x")
    records = found.records if isinstance(found, Runs) else of_trajectories(found).records  # type: ignore[arg-type]
    assert [record.inputs[1, -1] for record in records] == pytest.approx(np.linspace(1, 2, 6))


@pytest.mark.parametrize("sheets", [1, 3])
def test_sheets_of_excel_are_runs(tmp_path: Path, sheets: int) -> None:
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    book.remove(book.active)
    book.create_sheet("remarks")["A1"] = "measured on a Monday"
    for k, one in enumerate(RUNS[:sheets]):
        sheet = book.create_sheet(f"run{k + 1}")
        sheet.append(["Bench 3"])
        sheet.append(["t [s]", "force [N]", "x [m]"])
        for row in zip(one.grid.axes[-1].points, one.inputs[0], one.outputs[0], strict=True):
            sheet.append([float(value) for value in row])
    book.save(tmp_path / "runs.xlsx")
    found = read_signals(tmp_path / "runs.xlsx")
    if sheets == 3:
        same(found)
    else:
        assert isinstance(found, Record)
        np.testing.assert_allclose(found.outputs, RUNS[0].outputs, rtol=1e-12)
    assert found.input_channels[0].unit == "N"
    book["run1"]["B5"] = "overflow"
    book.save(tmp_path / "bad.xlsx")
    with pytest.raises(LfnoError, match=r"row 5, column 'force' holds 'overflow'"):
        read_signals(tmp_path / "bad.xlsx")
    (tmp_path / "cut.xlsx").write_bytes((tmp_path / "runs.xlsx").read_bytes()[:600])
    with pytest.raises(LfnoError, match="not a readable Excel file"):
        read_signals(tmp_path / "cut.xlsx")
