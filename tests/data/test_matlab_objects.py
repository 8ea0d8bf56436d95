"""Objects in MATLAB files are read. If an object cannot be read, the message gives MATLAB code that saves its arrays."""

from __future__ import annotations

import sys
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.io import savemat
from scipy.io.matlab import MatlabObject

from lfno.core.errors import LfnoError
from lfno.data.signals import Record, read_signals

matio = pytest.importorskip("matio")
matlab_classes = pytest.importorskip("matio.utils.matclass")
pandas = pytest.importorskip("pandas")

STEP = 0.0025  # s; not a whole number of milliseconds
T = np.arange(400) * STEP
U, Y = np.sin(40 * T), 1 - np.cos(40 * T)
VERSIONS = pytest.mark.parametrize("version", ["v7", "v7.3"])


def written(path: Path, version: str, **variables: Any) -> Path:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # mat-io warns about the unit of time
        matio.save_to_mat(str(path), variables, version=version)
    return path


def timetable() -> Any:
    index = pandas.to_timedelta(np.round(T * 1e9).astype(int), unit="ns").rename("Time")
    return pandas.DataFrame({"force": U, "x": Y}, index=index)


def check(path: Path, names: tuple[str, str]) -> None:
    found = read_signals(path)
    assert isinstance(found, Record)
    assert (found.input_channels[0].name, found.output_channels[0].name) == names
    np.testing.assert_array_equal(found.inputs[0], U)
    np.testing.assert_array_equal(found.outputs[0], Y)
    assert found.grid.steps == (pytest.approx(STEP, rel=1e-9),)


@VERSIONS
def test_a_timetable_is_a_record(tmp_path: Path, version: str) -> None:
    check(written(tmp_path / "timetable.mat", version, tt=timetable()), ("tt.force", "tt.x"))


@VERSIONS
def test_a_table_is_a_record(tmp_path: Path, version: str) -> None:
    table = pandas.DataFrame({"time": T, "force": U, "x": Y})
    check(written(tmp_path / "rig.mat", version, rig=table), ("rig.force", "rig.x"))


@VERSIONS
def test_an_object_with_input_output_and_step_is_a_record(tmp_path: Path, version: str) -> None:
    kept = {"OutputData_": Y[:, None], "InputData_": U[:, None], "Ts_": np.array([[STEP]])}
    data = matlab_classes.MatlabOpaque(kept, "iddata")
    check(written(tmp_path / "id.mat", version, z=data), ("z.InputData", "z.OutputData"))


@VERSIONS
def test_plain_arrays_in_a_file_with_an_object_are_read(tmp_path: Path, version: str) -> None:
    path = written(tmp_path / "timetable.mat", version, tt=timetable(), u=U, y=Y, Ts=np.array([[STEP]]))
    found = read_signals(path, input="u", output="y", time="tt.Time")
    assert isinstance(found, Record)
    np.testing.assert_array_equal(found.outputs[0], Y)


def test_an_object_of_the_old_kind_is_a_structure(tmp_path: Path) -> None:
    fields = np.zeros((1, 1), dtype=[("u", object), ("y", object), ("Ts", object)])
    fields[0, 0] = (U[:, None], Y[:, None], np.array([[STEP]]))
    savemat(tmp_path / "old.mat", {"z": MatlabObject(fields, "iddata")})
    check(tmp_path / "old.mat", ("z.u", "z.y"))


@VERSIONS
def test_without_mat_io_the_message_gives_matlab_lines(
    tmp_path: Path, version: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = written(tmp_path / "timetable.mat", version, tt=timetable())
    monkeypatch.setitem(sys.modules, "matio", None)
    with pytest.raises(LfnoError, match=r"tt.*timetable.*pip install lfno\[files\].*table2struct\(timetable2table\(tt\)"):
        read_signals(path)


def test_a_damaged_object_is_an_error_message(tmp_path: Path) -> None:
    path = tmp_path / "object.mat"
    savemat(path, {"tt": np.zeros(3)}, do_compression=False)
    content = bytearray(path.read_bytes())
    content[128 + 16] = 17  # change the class of the first array to 17, an object; the properties of an object are missing
    path.write_bytes(content)
    with pytest.raises(LfnoError, match=r"object\.mat"):
        read_signals(path)
