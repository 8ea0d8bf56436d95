"""The labelled points of an axis are channels: each can be chosen as an input or an output by its label."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import lfno
from lfno.core.errors import LfnoError
from lfno.data.signals import Record, read_signals

xarray = pytest.importorskip("xarray")
pytest.importorskip("h5netcdf")

T = np.arange(300) * 0.02
SIGNALS = {"force [N]": np.sin(3 * T), "left": np.cos(3 * T), "right": np.sin(2 * T)}
WAYS = {
    "NetCDF-4": {"engine": "h5netcdf"},
    "classic NetCDF": {"engine": "scipy", "format": "NETCDF3_64BIT"},
    "an object": None,
}


def sensors(transposed: bool = False) -> Any:
    """Return SIGNALS as a DataArray with the axes (time, sensor), or (sensor, time) if `transposed`."""
    values = np.stack(list(SIGNALS.values()), 1)
    array = xarray.DataArray(values, {"time": T, "sensor": list(SIGNALS)}, ("time", "sensor"), name="data")
    return array.transpose() if transposed else array


def source(data: Any, way: str, folder: Path) -> Any:
    """Return the data as an object of xarray, or the path of a file with the data."""
    if WAYS[way] is None:
        return data
    data.to_netcdf(folder / "rig.nc", **WAYS[way])
    return folder / "rig.nc"


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("transposed", [False, True])
def test_labels_are_channels_with_units(way: str, transposed: bool, tmp_path: Path) -> None:
    found = read_signals(source(sensors(transposed), way, tmp_path), input="force", output="right,left")
    assert isinstance(found, Record)
    assert [(c.name, c.unit) for c in found.input_channels] == [("force", "N")]
    assert [c.name for c in found.output_channels] == ["right", "left"]
    np.testing.assert_array_equal(found.inputs, [SIGNALS["force [N]"]])
    np.testing.assert_array_equal(found.outputs, [SIGNALS["right"], SIGNALS["left"]])
    assert found.grid.steps == (pytest.approx(0.02),)


@pytest.mark.parametrize("way", WAYS)
def test_labelled_outputs_and_an_input_without_labels(way: str, tmp_path: Path) -> None:
    data = xarray.Dataset(
        {"force": ("time", SIGNALS["force [N]"]), "motion": (("time", "sensor"), sensors().values[:, 1:], {"units": "m"})},
        {"time": T, "sensor": ["left", "right"]},
    )
    found = read_signals(source(data, way, tmp_path))
    assert [(c.name, c.unit) for c in found.output_channels] == [("left", "m"), ("right", "m")]
    one = read_signals(source(data, way, tmp_path), input="force", output="right")
    np.testing.assert_array_equal(one.outputs, [SIGNALS["right"]])


def test_equal_labels_of_two_arrays_get_the_name_of_the_array() -> None:
    values = sensors().values[:, 1:]
    both = ("time", "sensor")
    arrays = {"speed": (both, values), "motion": (both, 2 * values), "force": ("time", values[:, 0])}
    data = xarray.Dataset(arrays, {"time": T, "sensor": ["left", "right"]})
    found = read_signals(data, input="force", output="speed.left,motion.left")
    assert [c.name for c in found.output_channels] == ["speed.left", "motion.left"]
    np.testing.assert_array_equal(found.outputs[1], 2 * found.outputs[0])


def test_labels_of_runs_are_not_channels() -> None:
    values = np.stack([np.sin(k * T) for k in range(1, 7)])
    arrays = {"force": (("run", "time"), values), "x": (("run", "time"), 2 * values)}
    found = read_signals(xarray.Dataset(arrays, {"time": T, "run": list("abcdef")}))
    assert found.inputs.shape == (6, 1, 300)


def test_the_error_message_for_an_unknown_label_lists_the_labels() -> None:
    with pytest.raises(LfnoError, match=r"there is no variable 'middle'.*'left' and 'right'"):
        read_signals(sensors(), input="force", output="middle")


def test_a_model_of_an_xarray_object_stores_the_labels() -> None:
    time = np.arange(600) * 0.05
    force = np.random.default_rng(0).normal(size=600)
    response = np.convolve(force, 0.05 * np.exp(-0.5 * time) * np.sin(3 * time))[:600]
    data = xarray.DataArray(np.stack([force, response]), {"channel": ["force", "x"], "t": time}, ("channel", "t"))
    model = lfno.fit(data, "linear", input="force", output="x")
    assert [channel[0] for channel in model.provenance["data"]["signals"]["outputs"]] == ["x"]
