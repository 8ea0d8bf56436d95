"""Flipped bytes, truncated files and exchanged files are detected and reported, and the previous checkpoint is used."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest
import torch

from lfno.core import tensorfile
from lfno.core.errors import LfnoError
from lfno.core.grid import Grid
from lfno.data import storage
from lfno.data.dataset import Dataset
from lfno.data.split import Split, standard
from lfno.models import LNO
from lfno.models.storage import load_network
from lfno.surrogate import Surrogate
from lfno.training import checkpoint
from lfno.training.loop import Trainer
from lfno.training.networks import make_task, train_networks
from lfno.training.presets import Preset, default_preset
from tests.faults import victims

SHORT = 60  # damaged files of each kind in the short test
COUNTS = [SHORT, pytest.param(1000, marks=pytest.mark.long)]
FIELDS = {"width": 2, "modes": 4, "n_poles": 2, "projection": 4, "batch": 5, "epochs": 2, "validate_every": 1}


@pytest.fixture(scope="module")
def run(tmp_path_factory) -> Path:
    """Return the folder of a finished run of two epochs: the last checkpoint, the previous checkpoint, and a model."""
    folder = tmp_path_factory.mktemp("run")
    from lfno.training import run as guarded

    before, guarded.SAVE_EVERY = guarded.SAVE_EVERY, -1.0
    try:
        data, split, preset = problem()
        trained = train_networks(data, split, preset, folder=folder, device="cpu")
        Surrogate(trained.models).save(folder / "model.safetensors")
    finally:
        guarded.SAVE_EVERY = before
    return folder


@pytest.fixture(scope="module")
def files(run, tmp_path_factory) -> dict[str, tuple[Path, Callable[[Path], Any]]]:
    """Return kind of file → (a good file, the function that reads it)."""
    values = np.random.default_rng(0).normal(size=(6, 1, 1024)).astype(np.float32)
    data = Dataset(values, values[::-1].copy(), Grid.line(1024, 0.1), {"A": np.arange(6.0)})
    path = storage.save(data, tmp_path_factory.mktemp("data") / "set.h5")
    return {
        "model": (run / "model.safetensors", load_network),
        "checkpoint": (run / checkpoint.NAME, lambda path: tensorfile.read(path, checkpoint.KEY, "checkpoint")),
        "data set": (path, storage.load),
    }


def contents(value: Any) -> Any:
    """Return the contents of a file as comparable values."""
    if isinstance(value, Dataset):
        arrays = {"inputs": value.inputs, "outputs": value.outputs, **value.parameters}
        return value.metadata(), {name: array.tobytes() for name, array in arrays.items()}
    tree, tensors = value if isinstance(value, tuple) else (value.description(), value.state_dict())
    return tree, {name: tensor.numpy().tobytes() for name, tensor in tensors.items()}


def found_out(path: Path, reader: Callable[[Path], Any], good: Any) -> bool:
    """Return True if an error message reports the damage, and False if no value changed. Anything else fails."""
    try:
        value = reader(path)
    except LfnoError as error:
        return str(path) in str(error)
    assert contents(value) == good, "damaged content was accepted"
    return False


@pytest.mark.parametrize("count", COUNTS)
@pytest.mark.parametrize("kind", ["model", "checkpoint", "data set"])
def test_a_flipped_byte_is_detected(files, kind, count, tmp_path):
    path, reader = files[kind]
    whole, good = path.read_bytes(), contents(reader(path))
    generator = np.random.default_rng(count)
    places = generator.permutation(len(whole))[:count] if len(whole) > count else np.arange(len(whole))
    hurt = tmp_path / path.name
    found = 0
    for place in places.tolist():
        damaged = bytearray(whole)
        damaged[place] ^= int(generator.integers(1, 256))
        hurt.write_bytes(damaged)
        found += found_out(hurt, reader, good)
    # every byte of a safetensors file has a meaning; an HDF5 file has free space between its blocks
    assert found > (0.5 if kind == "data set" else 0.97) * len(places)


def test_a_value_changed_with_the_library_of_the_format_is_detected(files, tmp_path):
    path = Path(shutil.copy(files["data set"][0], tmp_path))
    with h5py.File(path, "r+") as file:
        file["outputs"][3, 0, 500] += 1e-6
    with pytest.raises(LfnoError, match="altered"):
        storage.load(path)


@pytest.mark.parametrize("count", COUNTS)
@pytest.mark.parametrize("kind", ["model", "checkpoint", "data set"])
def test_a_truncated_file_is_detected(files, kind, count, tmp_path):
    path, reader = files[kind]
    whole, good = path.read_bytes(), contents(reader(path))
    hurt = tmp_path / path.name
    lengths = np.random.default_rng(count + 1).integers(0, len(whole), count)
    for length in [0, 1, len(whole) - 1, *lengths.tolist()]:
        hurt.write_bytes(whole[:length])
        assert found_out(hurt, reader, good), f"cut to {length} of {len(whole)} bytes"


def test_exchanged_files_are_detected(files, run, tmp_path):
    for kind, (path, _) in files.items():
        for other, (_, reader) in files.items():
            if other != kind:
                swapped = tmp_path / path.name
                shutil.copy(path, swapped)
                with pytest.raises(LfnoError):
                    reader(swapped)


def problem(**changes: Any) -> tuple[Dataset, Split, Preset]:
    """Return the data, the split and the preset of the fixture `run`. `changes` replaces options of the preset."""
    inputs, outputs = victims.signals()
    data = Dataset(inputs[:, None], outputs[:, None], Grid.line(64, 0.1))
    return data, standard(len(data)), default_preset("lno", data.grid).change(**{**FIELDS, **changes})


def trainer(**changes: Any) -> Trainer:
    data, split, preset = problem(**changes)
    return Trainer([make_task(data, split, preset, 0)], preset.training)


def test_the_previous_checkpoint_replaces_a_damaged_one(run, tmp_path, caplog):
    folder = tmp_path / "run"
    shutil.copytree(run, folder)
    whole = (folder / checkpoint.NAME).read_bytes()
    (folder / checkpoint.NAME).write_bytes(whole[:-7])
    resumed = trainer()
    assert checkpoint.restore(resumed, folder)
    assert resumed.epoch >= 1
    assert "the previous checkpoint" in caplog.text
    assert (folder / checkpoint.DAMAGED).exists()
    # the next save must not replace the good checkpoint by the damaged one
    checkpoint.save(checkpoint.state(resumed), folder)
    tensorfile.read(folder / checkpoint.NAME, checkpoint.KEY, "checkpoint")
    tensorfile.read(folder / checkpoint.PREVIOUS, checkpoint.KEY, "checkpoint")


def test_two_damaged_checkpoints_give_one_error_message(run, tmp_path):
    folder = tmp_path / "run"
    shutil.copytree(run, folder)
    for name in (checkpoint.NAME, checkpoint.PREVIOUS):
        (folder / name).write_bytes(b"nothing")
    with pytest.raises(LfnoError, match=r"no checkpoint in .* start again without --resume"):
        checkpoint.restore(trainer(), folder)


def test_a_checkpoint_of_another_run_is_refused(run, tmp_path):
    for changes, what in (({"seed": 1}, "training"), ({"width": 3}, "another run"), ({"batch": 6}, "batch")):
        with pytest.raises(LfnoError, match=what):
            checkpoint.restore(trainer(**changes), run)
    other = trainer()
    other.tasks[0].train.y[0, 0, 5] += 1e-3  # other data of the same shape
    with pytest.raises(LfnoError, match="data"):
        checkpoint.restore(other, run)
    assert checkpoint.restore(trainer(batch=4), run), "a smaller batch is the way out of too little memory"


def test_a_valid_checksum_does_not_make_a_checkpoint(run, tmp_path):
    """A right checksum does not prove that the content is a checkpoint."""
    tree, tensors = tensorfile.read(run / checkpoint.NAME, checkpoint.KEY, "checkpoint")
    del tree["sha256"]
    strange: list[tuple[dict[str, Any], dict[str, Any]]] = [
        ({}, tensors),
        ({**tree, "fingerprint": []}, tensors),
        ({**tree, "epoch": "many"}, tensors),
        ({**tree, "history": {"epoch": [], "extra": 1}}, tensors),
        (tree, {**tensors, "theta": torch.zeros(1, 3)}),
        (tree, {name: value for name, value in tensors.items() if name != "mean"}),
    ]
    for described, values in strange:
        tensorfile.write(tmp_path / checkpoint.NAME, values, described, checkpoint.KEY)
        with pytest.raises(LfnoError):
            checkpoint.restore(trainer(), tmp_path)


def test_exchanged_parts_of_a_data_set_are_made_again(tmp_path):
    from lfno.data.make import make, plan

    def planned():
        what = plan("duffing-c05", count=6, grid=Grid.line(32, 0.01))
        what.system.chunk = 2
        return what

    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("LFNO_CACHE", str(tmp_path / "cache"))
        wanted = make(planned(), tmp_path / "good")[0].read_bytes()
        planned().build()  # leaves its parts in the folder, as a killed run does
        parts = sorted((tmp_path / "cache" / "partial").glob("*/*.npz"))
        assert len(parts) == 3
        first, second = parts[0].read_bytes(), parts[1].read_bytes()
        parts[0].write_bytes(second)
        parts[1].write_bytes(first)
        parts[2].write_bytes(parts[2].read_bytes()[:-30])
        assert make(planned(), tmp_path / "again")[0].read_bytes() == wanted


def test_a_model_with_the_weights_of_another_is_refused(tmp_path):
    """The file has the description of one model, the tensors of another model, and a right checksum."""
    from lfno.models import storage as models

    small, large = (LNO(Grid.line(32, 0.1), width=width, modes=4, n_poles=2) for width in (2, 3))
    tree = {"version": models.FILE_VERSION, **small.description(), "provenance": {}}
    tensorfile.write(tmp_path / "mixed.safetensors", large.state_dict(), tree, models.FILE_KEY)
    with pytest.raises(LfnoError, match=r"is float32 \(.*\), but its model needs float32 \("):
        load_network(tmp_path / "mixed.safetensors")
    for dtype, said in ((torch.int32, "weights of torch.int32"), (torch.float64, "its model needs float64")):
        tensors = {**small.state_dict(), "lift.weight": small.lift.weight.detach().to(dtype)}
        tensorfile.write(tmp_path / "mixed.safetensors", tensors, tree, models.FILE_KEY)
        with pytest.raises(LfnoError, match=said):
            load_network(tmp_path / "mixed.safetensors")
