"""Inputs and outputs are found among the variables of a file, by their names and axes."""

from __future__ import annotations

import pickle
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lfno.cli.wording import flag
from lfno.core.errors import LfnoError, Option
from lfno.core.grid import Grid
from lfno.data import split, storage
from lfno.data.dataset import Dataset
from lfno.data.signals import Record, read_signals
from lfno.data.variation import check_variation
from tests.data.measured import F, T, U, record

RNG = np.random.default_rng(1)


def dataset(arrays: dict[str, np.ndarray], **options: str) -> Dataset:
    loaded = read_signals(arrays, **options)  # type: ignore[arg-type]
    assert isinstance(loaded, Dataset)
    return loaded


def test_one_record() -> None:
    data = record()
    np.testing.assert_array_equal(data.inputs, F[None])
    np.testing.assert_array_equal(data.outputs, U[None])
    axis = data.grid["t"]
    assert (axis.size, axis.step, axis.origin, axis.time) == (400, 0.05, 2.0, True)
    part = data.part(100, 150)
    np.testing.assert_allclose(part.grid["t"].points, T[100:150])
    np.testing.assert_array_equal(part.outputs[0], U[100:150])


@pytest.mark.parametrize(
    ("names", "inputs", "outputs"),
    [
        (("f", "u"), ["f"], ["u"]),
        (("u", "y"), ["u"], ["y"]),
        (("x", "y"), ["x"], ["y"]),
        (("f", "x"), ["f"], ["x"]),
        (("Force", "Sensor 3"), ["Force"], ["Sensor 3"]),
        (("sensor", "response"), ["sensor"], ["response"]),
        (("input_1", "input_2", "output_1"), ["input_1", "input_2"], ["output_1"]),
        (("run1/f", "run1/u"), ["run1/f"], ["run1/u"]),
        (("Kraft", "Weg"), ["Kraft"], ["Weg"]),
    ],
)
def test_unambiguous_names(names: tuple[str, ...], inputs: list[str], outputs: list[str]) -> None:
    for time in ("t", "Time", "timestamp"):
        data = read_signals({time: T} | {name: RNG.normal(size=400) for name in names})
        assert [channel.name for channel in data.input_channels] == inputs
        assert [channel.name for channel in data.output_channels] == outputs


@pytest.mark.parametrize("names", [("x", "u"), ("a", "b"), ("f", "u", "b"), ("f", "y", "u")])
def test_ambiguous_names_are_refused(names: tuple[str, ...]) -> None:
    with pytest.raises(LfnoError, match="input=NAME and output=NAME"):
        read_signals({"t": T} | {name: RNG.normal(size=400) for name in names})


def test_a_constant_column_is_left_out_unless_the_user_names_it() -> None:
    arrays = {"t": T, "force": F, "status": np.ones(400), "disp": U}
    data = read_signals(arrays)
    assert [channel.name for channel in data.input_channels] == ["force"]
    assert any("'status' is constant" in note for note in data.provenance["notes"])
    named = read_signals(arrays, input="force,status", output="disp")
    assert [channel.name for channel in named.input_channels] == ["force", "status"]


def test_the_order_of_the_axes_does_not_matter() -> None:
    f, u = RNG.normal(size=(2, 30, 400))
    first = dataset({"t": T, "f": f, "u": u})
    last = dataset({"t": T, "f": f.T, "u": u.T})
    np.testing.assert_array_equal(first.outputs, u[:, None])
    np.testing.assert_array_equal(last.outputs, u[:, None])
    np.testing.assert_array_equal(last.inputs, f[:, None])
    assert "'u' of shape (400, 30) was read as (t,sample)" in last.provenance["notes"]


def test_a_square_array_is_refused_unless_the_axes_are_stated() -> None:
    square = RNG.normal(size=(400, 400))
    with pytest.raises(LfnoError, match="axes='sample,t'"):
        read_signals({"t": T, "f": square, "u": square})
    np.testing.assert_array_equal(dataset({"t": T, "f": square, "u": square}, axes="t,sample").outputs[:, 0], square.T)
    np.testing.assert_array_equal(dataset({"t": T, "f": square, "u": square}, axes="sample,t").outputs[:, 0], square)


@pytest.mark.parametrize("order", [(0, 1, 2, 3), (0, 3, 1, 2), (3, 2, 1, 0)])
def test_axes_of_a_field_are_found_by_the_lengths_of_the_coordinates(order: tuple[int, ...]) -> None:
    u = RNG.normal(size=(6, 5, 4, 7))  # sample, x, y, t
    arrays = {"x": np.arange(5.0), "y": np.arange(4.0) / 2, "t": np.arange(7) * 0.1}
    data = dataset(arrays | {"f": u.transpose(order) * 2, "u": u.transpose(order)})
    # the axes of space have the order of the file, and time is the last axis
    assert data.grid.names[-1] == "t"
    axes = ["sample", "x", "y", "t"]
    wanted = [0, *(axes.index(name) for name in data.grid.names)]
    np.testing.assert_array_equal(data.outputs[:, 0], u.transpose(wanted))
    np.testing.assert_array_equal(data.inputs, 2 * data.outputs)


def test_inputs_with_fewer_axes_are_repeated() -> None:
    u = RNG.normal(size=(6, 5, 7))
    arrays = {"x": np.arange(5.0), "t": np.arange(7) * 0.1, "u": u}
    initial, forcing, number = u[:, :, 0], RNG.normal(size=(6, 7)), RNG.normal(size=6)
    for f, full in ((initial, initial[:, :, None]), (forcing, forcing[:, None]), (number, number[:, None, None])):
        data = dataset(arrays | {"f": f}, input="f", output="u")
        np.testing.assert_array_equal(data.inputs[:, 0], np.broadcast_to(full, u.shape))


def test_channels_of_a_record_and_of_samples() -> None:
    data = read_signals({"t": T, "f": RNG.normal(size=(400, 2)), "u": RNG.normal(size=(3, 400))})
    assert isinstance(data, Record)
    assert data.inputs.shape == (2, 400)
    assert [channel.name for channel in data.output_channels] == ["u:0", "u:1", "u:2"]
    arrays = {"t": T, "f": RNG.normal(size=(9, 2, 400)), "u": RNG.normal(size=(9, 400))}
    many = dataset(arrays, axes="f=sample,channel,t")
    assert many.inputs.shape == (9, 2, 400)
    table = RNG.normal(size=(400, 4))
    columns = read_signals({"array": table}, input="array:1,array:2", output="array:3", dt=0.1)
    np.testing.assert_array_equal(columns.inputs, table[:, 1:3].T)


def test_the_split_of_the_file_is_kept_and_vectors_with_one_number_for_each_sample_are_parameters(tmp_path: Path) -> None:
    import scipy.io

    x, t = np.linspace(0, 1, 20), np.arange(30) * 0.1
    parts = {name: RNG.normal(size=(count, 20, 30)) for name, count in (("train", 12), ("vali", 3), ("test", 5))}
    arrays = {f"f_{name}": values for name, values in parts.items()} | {f"u_{k}": 2 * v for k, v in parts.items()}
    scipy.io.savemat(tmp_path / "pde.mat", arrays | {"x": x, "t": t, "A": np.arange(20.0)})
    # there are 20 samples and 20 points, but the names f_train, … show that the first axis is the sample axis
    data = read_signals(tmp_path / "pde.mat", input="f", output="u")
    assert isinstance(data, Dataset)
    assert split.of(data).sizes == (12, 3, 5)
    np.testing.assert_array_equal(data[split.of(data).test].inputs[:, 0], parts["test"])
    np.testing.assert_array_equal(data.outputs, 2 * data.inputs)
    assert data.grid.names == ("x", "t")
    np.testing.assert_array_equal(data.parameters["A"], np.arange(20.0))


def test_a_table_with_one_trajectory_below_the_other(tmp_path: Path) -> None:
    u = RNG.normal(size=(3, 40))
    rows = [f"{run},{k * 0.1:.1f},{run},{float(u[run, k])!r}" for run in range(3) for k in range(40)]
    path = tmp_path / "a.csv"
    path.write_text("number,t,f,u\n" + "\n".join(rows))
    for more in ({}, {"sample": "number"}):  # the option `sample` is not needed, because the time starts again
        data = read_signals(path, input="f", output="u", **more)
        assert isinstance(data, Dataset)
        np.testing.assert_array_equal(data.outputs[:, 0], u)
        np.testing.assert_array_equal(data.inputs[:, 0, 0], [0, 1, 2])


def test_a_column_called_run_separates_trajectories_if_the_time_starts_again() -> None:
    arrays = {"run": np.repeat([1, 2, 3], 400), "t": np.tile(T, 3), "f": np.concatenate([F, 2 * F, 3 * F]), "u": np.tile(U, 3)}
    data = dataset(arrays)
    np.testing.assert_array_equal(data.inputs[:, 0], [F, 2 * F, 3 * F])
    # if the time always increases, there is one record, and the column is an ordinary variable
    one = read_signals(arrays | {"t": 0.05 * np.arange(1200)}, input="f", output="u")
    assert isinstance(one, Record)


def test_a_column_of_row_numbers_is_not_a_signal() -> None:
    data = record(index=np.arange(400.0))
    assert ([c.name for c in data.input_channels], [c.name for c in data.output_channels]) == (["f"], ["u"])
    assert "'index' contains row numbers and was left out" in data.notes
    with pytest.raises(LfnoError, match="do not show which signal is the input"):
        record(index=F)


def test_a_constant_input_is_noted() -> None:
    two = read_signals({"t": T, "f": F, "g": np.full(400, 2.0), "u": U}, input="f,g", output="u")
    assert any("'g' is constant (2)" in note for note in check_variation(two))
    with pytest.raises(LfnoError, match="cannot learn the response"):
        check_variation(record(f=np.full(400, 2.0)))


def test_data_sets_of_lfno_need_no_names(tmp_path: Path) -> None:
    data = Dataset(RNG.normal(size=(5, 1, 9)), RNG.normal(size=(5, 1, 9)), Grid.line(9, 0.1))
    storage.save(data, tmp_path / "own.h5")
    np.testing.assert_array_equal(read_signals(tmp_path / "own.h5").outputs, data.outputs)


@settings(max_examples=80, deadline=None)
@given(data=st.data())
def test_any_shapes_give_right_values_or_an_error_message(data: st.DataObject) -> None:
    """For any number and order of axes, each value is at the right sample, point and time, or there is an LfnoError."""
    sizes = {name: data.draw(st.integers(3, 6)) for name in ("sample", "x", "t")}
    others = data.draw(st.sampled_from([[], ["x"], ["sample"], ["x", "sample"]]))
    axes = data.draw(st.permutations([*others, "t"]))
    coordinates = {name: np.arange(sizes[name]) * 0.5 for name in axes if name != "sample"}
    mesh = np.meshgrid(*(np.arange(sizes[name]) for name in axes), indexing="ij")
    value = sum(place * 100 ** ["sample", "x", "t"].index(name) for name, place in zip(axes, mesh, strict=True)) + 1.0
    try:
        loaded = read_signals(coordinates | {"f": value, "u": value}, input="f", output="u")
    except LfnoError:
        return
    outputs = loaded.outputs if isinstance(loaded, Dataset) else loaded.outputs[None]
    along = ["sample", *loaded.grid.names]
    for index in np.ndindex(outputs[:, 0].shape):
        wanted = sum(k * 100 ** ["sample", "x", "t"].index(name) for name, k in zip(along, index, strict=True)) + 1
        assert outputs[:, 0][index] == wanted


@pytest.mark.parametrize("clock", [{"t": 0.01 * np.arange(300)}, {}])
def test_columns_of_a_matlab_array_are_channels(clock: dict[str, np.ndarray]) -> None:
    """F has shape (300, 1) and acc (300, 2), as usual in MATLAB. The time is given as a vector, or only as a time step."""
    rng = np.random.default_rng(0)
    force, motion = rng.normal(size=(300, 1)), rng.normal(size=(300, 2))
    step = {} if clock else {"dt": 0.01, "input": "F", "output": ["acc"]}
    record = read_signals(clock | {"F": force, "acc": motion}, **step)
    assert record.grid.steps == pytest.approx((0.01,))
    np.testing.assert_array_equal(record.inputs, force.T)
    np.testing.assert_array_equal(record.outputs, motion.T)


def test_an_error_contains_the_option_that_avoids_it() -> None:
    t = np.arange(50) * 0.1
    with pytest.raises(LfnoError) as caught:
        read_signals({"f": np.sin(t), "u": np.cos(t)})
    assert caught.value.options == (Option("time", "NAME"), Option("dt", "SECONDS"))
    assert "give the step with dt=SECONDS" in str(caught.value)
    assert "give the step with --dt SECONDS" in caught.value.worded(flag)
    copied = pickle.loads(pickle.dumps(caught.value))  # a worker process sends an error as a pickle
    assert str(copied) == str(caught.value)
