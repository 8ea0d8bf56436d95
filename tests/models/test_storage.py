"""A model that was saved and loaded is the same model. Any other file gives one clear error message."""

import json
import pickle

import numpy as np
import pytest
import torch
from safetensors.torch import save as to_bytes

from lfno import FNO, LFNO, LNO, Grid, LfnoError
from lfno.core import tensorfile
from lfno.core.grid import Axis
from lfno.models import storage
from lfno.models.storage import load_network

GRID = Grid((Axis("x", 8, 0.1, unit="m", periodic=True), Axis("t", 10, 0.1, origin=2.0, unit="s", time=True)))


def small(**options):
    torch.manual_seed(0)
    return LFNO(GRID, width=2, modes=2, n_poles=2, transient_layers=2, **options)


@pytest.mark.parametrize(
    "model",
    [
        lambda: FNO(GRID, width=3, modes=(2, 4), out_channels=2),
        lambda: LNO(GRID, width=3, modes=2, poles="free", version="decoupled"),
        lambda: small(laplace_axes="time", share_poles=True, padding=0.25),
        lambda: small(laplace_axes=(0,), layout="branches", steady="shared", grid_channels=True),
        lambda: small().double(),
    ],
)
def test_round_trip(model, tmp_path):
    before = model()
    before.normalise(1.0, 2.0, 3.0, 4.0)
    before.save(tmp_path / "deep" / "model.safetensors", data="heat", seed=3)
    after = load_network(tmp_path / "deep" / "model.safetensors")
    assert type(after) is type(before)
    assert after.config == before.config
    assert after.grid == before.grid
    assert not after.training
    x = np.random.default_rng(0).standard_normal((2, 1, 8, 10))
    np.testing.assert_array_equal(after.predict(x), before.predict(x))
    tree, _ = storage.read(tmp_path / "deep" / "model.safetensors")
    assert tree["provenance"] == {"data": "heat", "seed": 3}
    after.save(tmp_path / "again.safetensors", seed=4)
    assert load_network(tmp_path / "again.safetensors").provenance == {"data": "heat", "seed": 4}, "an old entry was lost"
    assert [path.name for path in (tmp_path / "deep").iterdir()] == ["model.safetensors"], "a temporary file is left"


def test_saving_over_a_file_replaces_it(tmp_path):
    path = tmp_path / "model.safetensors"
    small().save(path)
    FNO(GRID, width=2, modes=2).save(path)
    assert isinstance(load_network(path), FNO)


def test_truncated_and_altered_files_are_refused(tmp_path):
    path = tmp_path / "model.safetensors"
    small().save(path)
    content = path.read_bytes()
    rng = np.random.default_rng(0)
    for cut in (0, 1, 7, 8, 100, len(content) // 2, len(content) - 1):
        path.write_bytes(content[:cut])
        with pytest.raises(LfnoError, match=r"not a readable model file|altered"):
            load_network(path)
    for place in rng.integers(0, len(content), 200):
        altered = bytearray(content)
        altered[place] ^= 1 << int(rng.integers(8))
        path.write_bytes(altered)
        with pytest.raises(LfnoError):
            load_network(path)


def test_foreign_files_are_refused(tmp_path):
    path = tmp_path / "file"
    with pytest.raises(LfnoError, match="no model file"):
        load_network(path)
    with pytest.raises(LfnoError, match="no model file"):
        load_network(tmp_path)
    path.write_bytes(to_bytes({"weight": torch.zeros(3)}))
    with pytest.raises(LfnoError, match="not a model file of lfno"):
        load_network(path)


class Explosive:
    """An object that makes the test fail if it is unpickled."""

    def __reduce__(self):
        return (pytest.fail, ("a file was unpickled",))


def test_nothing_is_unpickled(tmp_path):
    path = tmp_path / "model.safetensors"
    path.write_bytes(pickle.dumps(Explosive()))
    with pytest.raises(LfnoError, match="not a readable model file"):
        load_network(path)
    torch.save({"weights": torch.zeros(2)}, path)
    with pytest.raises(LfnoError, match="not a readable model file"):
        load_network(path)


def forge(path, change):
    """Write a file with wrong metadata and a correct checksum, as an attacker could."""
    model = small()
    tensors = dict(model.state_dict())
    tree = json.loads(json.dumps({"version": storage.FILE_VERSION, **model.description(), "provenance": {}}))
    change(tree)
    tree["sha256"] = tensorfile.checksum(tensors, tree)
    path.write_bytes(to_bytes(tensors, {storage.FILE_KEY: json.dumps(tree)}))


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (lambda tree: tree["config"].update(width=1_000_000), "use a smaller width"),
        (lambda tree: tree["config"].update(width=10**30), "width=.*whole number"),
        (lambda tree: tree["config"].update(n_poles=1_000_000, width=1000), "use a smaller width"),
        (lambda tree: tree["config"].update(transient_layers=100), "its model needs"),
        (lambda tree: tree["config"].update(width="many"), "width='many'"),
        (lambda tree: tree["config"].update(activation="__class__"), "activation"),
        (lambda tree: tree["config"].update(secret=1), "no field 'secret'"),
        (lambda tree: tree["config"].update(padding="all"), "padding"),
        (lambda tree: tree["config"].update(laplace_axes=[[1]]), "laplace_axes"),
        (lambda tree: tree.pop("config"), "no configuration"),
        (lambda tree: tree.pop("grid"), "no grid"),
        (lambda tree: tree["grid"].update(axes=3), "not the description of a grid"),
        (lambda tree: tree["grid"]["axes"][0].update(size="large"), "not the description of a grid"),
        (lambda tree: tree["grid"]["axes"][0].update(size=-1), "size"),
        (lambda tree: tree.update(model="os.system"), "not one of FNO, LNO, LFNO"),
        (lambda tree: tree.update(model=["LFNO"]), "not one of FNO, LNO, LFNO"),
        (lambda tree: tree.update(version=99), "format version 99"),
    ],
)
def test_wrong_metadata_give_one_error_message(change, sentence, tmp_path):
    path = tmp_path / "model.safetensors"
    forge(path, change)
    with pytest.raises(LfnoError, match=sentence):
        load_network(path)


def test_saving_to_a_place_that_cannot_be_written_gives_one_error_message(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(LfnoError, match="cannot write"):
        small().save(tmp_path / "file" / "model.safetensors")
