"""The file of a data set is complete, is written atomically, and has the same bytes each time. Damage is detected."""

import h5py
import numpy as np
import pytest

from lfno.core.errors import LfnoError
from lfno.core.grid import Axis, Grid
from lfno.data import storage
from lfno.data.dataset import Dataset
from lfno.systems.base import Channel


def example() -> Dataset:
    grid = Grid((Axis("x", 6, 0.5, unit="m", periodic=True), Axis("t", 5, 0.1, origin=1.0, unit="s", time=True)))
    generator = np.random.default_rng(0)
    return Dataset(
        generator.standard_normal((4, 2, 6, 1)).astype(np.float32),
        generator.standard_normal((4, 1, 6, 5)).astype(np.float32),
        grid,
        {"A": np.arange(4.0), "space.coefficients": generator.standard_normal((4, 3)), "kind": np.arange(4)},
        (Channel("u", "m/s"), Channel("v")),
        (Channel("w", "1/s"),),
        {"name": "example", "seed": 0, "parameters": {"nu": 0.1, "ends": "supported"}},
    )


def assert_same(a: Dataset, b: Dataset) -> None:
    np.testing.assert_array_equal(a.inputs, b.inputs)
    np.testing.assert_array_equal(a.outputs, b.outputs)
    assert a.inputs.dtype == b.inputs.dtype
    assert a.metadata() == b.metadata()
    assert a.parameters.keys() == b.parameters.keys()
    for name, values in a.parameters.items():
        np.testing.assert_array_equal(values, b.parameters[name])


def test_file_gives_back_everything(tmp_path):
    assert_same(storage.load(storage.save(example(), tmp_path / "a.h5")), example())
    assert_same(storage.load(storage.save(example()[:0], tmp_path / "none.h5")), example()[:0])


def test_xarray_gives_back_everything():
    tree = example().to_xarray()
    assert tree["outputs"].dims == ("sample", "output_channel", "x", "t")
    np.testing.assert_allclose(tree["t"], [1.0, 1.1, 1.2, 1.3, 1.4])
    assert tree["x"].attrs["units"] == "m"
    assert_same(Dataset.from_xarray(tree), example())


def test_same_data_same_bytes(tmp_path):
    first, second = (storage.save(example(), tmp_path / name).read_bytes() for name in ("a.h5", "b.h5"))
    assert first == second


def test_same_bytes_if_handles_are_closed_late(tmp_path, monkeypatch):
    """In a thread of a cluster worker, an HDF5 dataset may be closed after the next one is written.

    The order of the chunks in the file must not depend on this.
    """
    first, held, create = storage.save(example(), tmp_path / "a.h5"), [], h5py.File.create_dataset
    monkeypatch.setattr(h5py.File, "create_dataset", lambda *a, **k: held.append(create(*a, **k)))
    assert storage.save(example(), tmp_path / "b.h5").read_bytes() == first.read_bytes()
    assert len(held) == 5


def test_repeated_inputs_take_no_memory(tmp_path):
    data = example()
    assert data.inputs.shape == (4, 2, 6, 5)
    assert data.inputs.strides[-1] == 0
    loaded = storage.load(storage.save(data, tmp_path / "a.h5"))
    assert loaded.inputs.strides[-1] == 0
    assert data[[1, 3]].inputs.strides[-1] == 0


def test_chosen_samples_keep_their_parameters_and_outputs():
    data = example()
    some = data[np.array([3, 1])]
    np.testing.assert_array_equal(some.parameters["A"], [3.0, 1.0])
    np.testing.assert_array_equal(some.outputs, data.outputs[[3, 1]])
    assert len(some) == 2


@pytest.mark.parametrize(
    ("inputs", "outputs", "parameters", "message"),
    [
        ((4, 10), (4, 1, 10), {}, "inputs have shape"),
        ((4, 1, 10), (4, 1, 9), {}, "outputs have shape"),
        ((4, 1, 10), (3, 1, 10), {}, "4 samples of the inputs and 3 of 'outputs'"),
        ((4, 1, 10), (4, 1, 10), {"A": np.zeros(5)}, "4 samples of the inputs and 5 of 'A'"),
    ],
)
def test_shapes_that_do_not_fit_are_refused(inputs, outputs, parameters, message):
    with pytest.raises(LfnoError, match=message):
        Dataset(np.zeros(inputs), np.zeros(outputs), Grid.line(10, 0.1), parameters)


@pytest.mark.parametrize("keep", [0.0, 0.1, 0.5, 0.9, 0.999])
def test_a_truncated_file_is_refused(tmp_path, keep):
    path = storage.save(example(), tmp_path / "a.h5")
    whole = path.read_bytes()
    path.write_bytes(whole[: int(keep * len(whole))])
    with pytest.raises(LfnoError, match=r"a\.h5"):
        storage.load(path)


def test_a_changed_byte_is_detected(tmp_path):
    """If one byte is changed, loading raises an error, or gives the same data because the byte is not used."""
    path = storage.save(example(), tmp_path / "a.h5")
    whole = path.read_bytes()
    refused = 0
    for where in np.random.default_rng(0).choice(len(whole), 150, replace=False):
        path.write_bytes(whole[:where] + bytes([whole[where] ^ 0xFF]) + whole[where + 1 :])
        try:
            assert_same(storage.load(path), example())
        except LfnoError:
            refused += 1
    assert refused > 10


def test_foreign_files_are_refused(tmp_path):
    import h5py

    text, other = tmp_path / "a.csv", tmp_path / "b.h5"
    text.write_text("t,x\n0,1\n")
    with h5py.File(other, "w") as file:
        file["x"] = np.zeros(3)
    with pytest.raises(LfnoError, match="it is not an HDF5 file"):
        storage.load(text)
    with pytest.raises(LfnoError, match="not a data set of lfno"):
        storage.load(other)
    with pytest.raises(LfnoError, match="there is no file"):
        storage.load(tmp_path / "c.h5")


@pytest.mark.parametrize("accident", [KeyboardInterrupt, RuntimeError])
def test_an_interrupted_write_leaves_the_old_file_and_nothing_else(tmp_path, accident):
    path = storage.save(example(), tmp_path / "a.h5")
    before = path.read_bytes()

    def fail() -> None:
        with storage.atomic(path) as temporary:
            temporary.write_bytes(b"half")
            raise accident

    with pytest.raises(accident):
        fail()
    assert path.read_bytes() == before
    assert [p.name for p in tmp_path.iterdir()] == ["a.h5"]


def test_a_folder_that_cannot_be_written_is_an_error_message(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(LfnoError, match="cannot write"):
        storage.save(example(), tmp_path / "file" / "a.h5")
