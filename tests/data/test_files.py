"""All formats give the same variables, and units and axes are read. A damaged file gives values or an LfnoError."""

from __future__ import annotations

import contextlib
import zipfile
from collections.abc import Callable
from pathlib import Path

import h5py
import numpy as np
import pytest
import scipy.io
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from lfno.core import memory
from lfno.core.errors import LfnoError
from lfno.data import files
from lfno.data.files import read
from lfno.data.files.xarray_objects import from_xarray

T = np.arange(300) * 0.02
F = np.sin(3 * T)
U = np.exp(-T)
FIELD = np.arange(24.0).reshape(2, 3, 4)


def _csv(path: Path) -> None:
    rows = [f"{a!r},{b!r},{c!r}" for a, b, c in zip(T.tolist(), F.tolist(), U.tolist(), strict=True)]
    path.write_text("t,f,u\n" + "\n".join(rows))


def _parquet(path: Path) -> None:
    import pyarrow as arrow
    from pyarrow import parquet

    parquet.write_table(arrow.table({"t": T, "f": F, "u": U}), path, row_group_size=70)


def _netcdf3(path: Path) -> None:
    with scipy.io.netcdf_file(path, "w") as file:
        file.createDimension("t", T.size)
        for name, values in (("t", T), ("f", F), ("u", U)):
            file.createVariable(name, "f8", ("t",))[:] = values


def _netcdf4(path: Path) -> None:
    xarray = pytest.importorskip("xarray")
    pytest.importorskip("h5netcdf")
    xarray.Dataset({"f": ("t", F), "u": ("t", U)}, {"t": T}).to_netcdf(path, engine="h5netcdf")


def _hdf5(path: Path) -> None:
    with h5py.File(path, "w") as file:
        for name, values in (("t", T), ("f", F), ("u", U)):
            file[name] = values


def _matlab73(path: Path) -> None:
    with h5py.File(path, "w", userblock_size=512) as file:
        for name, values in (("t", T), ("f", F), ("u", U)):
            file[name] = values[:, None]  # MATLAB's row vector 1 x N
            file[name].attrs["MATLAB_class"] = np.bytes_("double")
    with path.open("r+b") as raw:
        raw.write(b"MATLAB 7.3 MAT-file, Platform: GLNXA64")


WRITERS: dict[str, Callable[[Path], None]] = {
    "a.csv": _csv,
    "a.npz": lambda path: np.savez(path, t=T, f=F, u=U),
    "b.npz": lambda path: np.savez_compressed(path, t=T, f=F, u=U),
    "a.mat": lambda path: scipy.io.savemat(path, {"t": T, "f": F, "u": U}),
    "b.mat": lambda path: scipy.io.savemat(path, {"t": T, "f": F, "u": U}, do_compression=True),
    "d.mat": _matlab73,
    "a.parquet": _parquet,
    "a.h5": _hdf5,
    "a.nc": _netcdf3,
    "b.nc": _netcdf4,
}


@pytest.mark.parametrize("name", WRITERS)
def test_every_format_gives_the_same_variables(name: str, tmp_path: Path) -> None:
    path = tmp_path / name
    WRITERS[name](path)
    variables = read(path)
    assert set(variables) == {"t", "f", "u"}
    for key, values in (("t", T), ("f", F), ("u", U)):
        np.testing.assert_array_equal(variables[key].array([]).ravel(), values)
        pieces = np.concatenate(list(variables[key].blocks(37)))
        np.testing.assert_array_equal(pieces.ravel(), values)


def test_axes_have_the_order_of_matlab_in_both_versions(tmp_path: Path) -> None:
    scipy.io.savemat(
        tmp_path / "old.mat", {"u": FIELD, "s": {"note": "text", "inner": FIELD[0], "deep": {"er": FIELD}}}
    )
    with h5py.File(tmp_path / "new.mat", "w") as file:
        file["u"] = FIELD.T  # MATLAB 7.3 writes an array of shape (2, 3, 4) with shape (4, 3, 2)
        file["s/inner"] = FIELD[0].T
    for name in ("old.mat", "new.mat"):
        variables = read(tmp_path / name)
        np.testing.assert_array_equal(variables["u"].array([]), FIELD)
        np.testing.assert_array_equal(variables["s.inner"].array([]), FIELD[0])
        np.testing.assert_array_equal(np.concatenate(list(variables["u"].blocks(1))), FIELD)


@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("dtype", ["f8", "f4", "i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8", "?", "c16"])
def test_matlab_classes_agree_with_scipy(dtype: str, packed: bool, tmp_path: Path) -> None:
    path = tmp_path / "a.mat"
    values = (FIELD * (1 + 2j if dtype == "c16" else 1)).astype(dtype)
    scipy.io.savemat(path, {"a": values, "cells": np.array(["x", 1], dtype=object)}, do_compression=packed)
    variables = read(path)
    assert list(variables) == ["a", "cells{2}"]
    assert variables["a"].dtype.kind == ("b" if dtype == "?" else np.dtype(dtype).kind)
    np.testing.assert_array_equal(np.concatenate(list(variables["a"].stream())), scipy.io.loadmat(path)["a"])
    assert variables.notes == ["'cells{1}' was left out: it is text"]


def test_fortran_order_and_big_endian_and_integers(tmp_path: Path) -> None:
    np.savez(tmp_path / "a.npz", a=np.asfortranarray(FIELD), b=FIELD.astype(">f4"), c=FIELD.astype(np.int16))
    variables = read(tmp_path / "a.npz")
    notes: list[str] = []
    for name in "abc":
        values = variables[name].array(notes)
        np.testing.assert_array_equal(values, FIELD)
        assert values.dtype.isnative
        assert values.dtype.kind == "f"
    assert notes == [
        "'b' was converted from big-endian float32 to floating point",
        "'c' was converted from int16 to floating point",
    ]


def test_npy_is_mapped_not_loaded(tmp_path: Path) -> None:
    np.save(tmp_path / "a.npy", FIELD)
    assert isinstance(read(tmp_path / "a.npy")["array"].array([]), np.memmap)
    table = np.zeros(5, dtype=[("t", "f8"), ("f", "f4")])
    np.save(tmp_path / "b.npy", table)
    assert list(read(tmp_path / "b.npy")) == ["t", "f"]


def test_netcdf_packing_fill_values_units_and_axes(tmp_path: Path) -> None:
    path = tmp_path / "a.nc"
    with scipy.io.netcdf_file(path, "w") as file:
        file.createDimension("x", 4)
        packed = file.createVariable("u", "i2", ("x",))
        packed[:] = [0, 10, -99, 30]
        packed.scale_factor, packed.add_offset, packed._FillValue, packed.units = 0.5, 1.0, np.int16(-99), b"m"
    variable = read(path)["u"]
    np.testing.assert_array_equal(variable.array([]), [1.0, 6.0, np.nan, 16.0])
    assert (variable.unit, variable.axes) == ("m", ("x",))


def test_netcdf4_and_hdf5_carry_axes_and_units(tmp_path: Path) -> None:
    xarray = pytest.importorskip("xarray")
    pytest.importorskip("h5netcdf")
    data = xarray.Dataset({"u": (("x", "time"), FIELD[0], {"units": "K"})}, {"time": np.arange(4.0)})
    data.to_netcdf(tmp_path / "a.nc", engine="h5netcdf")
    variables = read(tmp_path / "a.nc")
    assert variables["u"].axes == ("x", "time")
    assert variables["u"].unit == "K"
    assert set(variables) == {"u", "time"}


def test_parquet_stamps_nulls_and_integers(tmp_path: Path) -> None:
    arrow = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    stamps = np.datetime64("2024-05-01T00:00:00") + np.arange(3) * np.timedelta64(250, "ms")
    columns = {"time": stamps, "force [N]": [1, None, 3], "ok": [True, False, True], "label": ["a", "b", "c"]}
    table = arrow.table(columns)
    parquet.write_table(table, tmp_path / "a.parquet")
    variables = read(tmp_path / "a.parquet")
    np.testing.assert_allclose(variables["time"].array([]), [0, 0.25, 0.5])
    np.testing.assert_array_equal(variables["force"].array([]), [1, np.nan, 3])
    np.testing.assert_array_equal(variables["ok"].array([]), [1, 0, 1])
    assert variables["force"].unit == "N"
    with pytest.raises(LfnoError, match="not numbers"):
        variables["label"].array([])


def test_a_missing_first_date_leaves_the_other_times(tmp_path: Path) -> None:
    """Seconds are counted from the first date that is not missing."""
    arrow, xarray = pytest.importorskip("pyarrow"), pytest.importorskip("xarray")
    from pyarrow import parquet

    stamps = np.datetime64("2024-05-01T00:00:00", "ns") + np.arange(4) * np.timedelta64(250, "ms")
    stamps[0] = np.datetime64("NaT")
    parquet.write_table(arrow.table({"time": stamps, "force": np.arange(4.0)}), tmp_path / "a.parquet")
    tree = xarray.Dataset({"force": ("time", np.arange(4.0))}, {"time": stamps})
    for variables in (read(tmp_path / "a.parquet"), from_xarray(tree)):
        np.testing.assert_allclose(variables["time"].array([]), [np.nan, 0, 0.25, 0.5])


def test_soft_links_are_not_followed_out_of_the_file(tmp_path: Path) -> None:
    with h5py.File(tmp_path / "secret.h5", "w") as file:
        file["x"] = [1.0]
    with h5py.File(tmp_path / "a.h5", "w") as file:
        file["data"] = F
        file["a"] = h5py.SoftLink("/data")
    assert list(read(tmp_path / "a.h5")) == ["data"]
    with h5py.File(tmp_path / "a.h5", "a") as file:
        file["zz"] = h5py.ExternalLink("secret.h5", "/")
        file["b"] = h5py.SoftLink("/zz/x")
    with pytest.raises(LfnoError, match="link to another file"):
        read(tmp_path / "a.h5")


def test_an_array_larger_than_memory_is_read_in_single_precision_or_to_disk(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """If the array does not fit into memory in double precision, it is read in single precision.

    If single precision does not fit either, the array is stored in a file on disk.
    """
    np.savez(tmp_path / "a.npz", f=FIELD.astype(np.int32))
    for free, dtype, word in ((8 * 24 * 4 - 1, np.float32, "float32"), (24, np.float32, "disk")):
        monkeypatch.setattr(memory, "available", lambda free=free: free)
        notes: list[str] = []
        values = read(tmp_path / "a.npz")["f"].array(notes)
        assert values.dtype == dtype
        assert isinstance(values, np.memmap) == (word == "disk")
        assert any(word in note for note in notes)
        np.testing.assert_array_equal(values, FIELD)


def test_a_damaged_array_in_an_archive_is_detected_when_it_is_read(tmp_path: Path) -> None:
    path = tmp_path / "a.npz"
    np.savez(path, f=F)
    raw = bytearray(path.read_bytes())
    raw[400] ^= 255
    path.write_bytes(raw)
    with pytest.raises(LfnoError, match=r"damaged|header"):
        read(path)["f"].array([])


def test_overlapping_members_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.npz"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("a.npy", b"x" * 500)
        twin = zipfile.ZipInfo("b.npy")
        first = archive.filelist[0]
        twin.header_offset, twin.file_size, twin.compress_size, twin.CRC = 0, 500, 500, first.CRC
        archive.filelist.append(twin)
    with pytest.raises(LfnoError, match="overlap"):
        read(path)


@pytest.fixture(scope="module")
def good(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("good")
    for name, write in WRITERS.items():
        write(folder / name)
    return folder


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
@pytest.mark.parametrize("name", WRITERS)
def test_damaged_bytes_give_values_or_an_error_message(
    name: str, data: st.DataObject, good: Path, tmp_path: Path
) -> None:
    raw = bytearray((good / name).read_bytes())
    for _ in range(data.draw(st.integers(1, 6))):
        # the headers are at both ends of a file; most other bytes are values
        end = data.draw(st.integers(0, min(len(raw) - 1, 400)))
        raw[end if data.draw(st.booleans()) else -1 - end] = data.draw(st.integers(0, 255))
    if data.draw(st.booleans()):
        raw = raw[: data.draw(st.integers(0, len(raw)))]
    path = tmp_path / name
    path.write_bytes(raw)
    with contextlib.suppress(LfnoError):
        for variable in files.read(path).values():
            variable.array([])
