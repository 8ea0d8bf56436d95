"""Any bytes in a file and any metadata are read correctly, or refused with an error message before much memory is used."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest
import scipy.io
import torch
from hypothesis import strategies as st

from lfno.core import tensorfile
from lfno.core.errors import LfnoError
from lfno.core.grid import Grid
from lfno.data import storage
from lfno.data.dataset import Dataset
from lfno.data.signals import read_signals
from lfno.models import LNO
from lfno.models import storage as models
from lfno.paper.record import load_records
from lfno.training import checkpoint
from tests.fuzz.strategies import JSON, arrays, attempt, counts, tried

T = np.arange(64) * 0.05
GOOD = {"t": T, "f": np.sin(T), "u": np.cos(2 * T)}
TINY = {"width": 2, "modes": 4, "n_poles": 2, "projection": 2}


def good_files(folder: Path) -> dict[str, bytes]:
    """Return ending → content of one readable file of every format."""
    np.savez(folder / "a.npz", **GOOD)
    np.save(folder / "a.npy", np.stack(list(GOOD.values()), 1))
    scipy.io.savemat(folder / "a.mat", GOOD)
    rows = [",".join(f"{value:.6f}" for value in row) for row in zip(*GOOD.values(), strict=True)]
    (folder / "a.csv").write_text("\n".join(["t,f,u", *rows]))
    with h5py.File(folder / "a.h5", "w") as file:
        for name, values in GOOD.items():
            file[name] = values
    with scipy.io.netcdf_file(folder / "a.nc", "w") as file:
        file.createDimension("t", 64)
        for name, values in GOOD.items():
            file.createVariable(name, "d", ("t",))[:] = values
    import pandas

    pandas.DataFrame(GOOD).to_parquet(folder / "a.parquet")
    return {path.suffix: path.read_bytes() for path in folder.glob("a.*")}


def damaged(data: Any, content: bytes) -> bytes:
    """Return the content with some bytes changed, removed or inserted, or truncated."""
    for _ in range(data.draw(st.integers(1, 3))):
        place = data.draw(st.integers(0, max(len(content) - 1, 0)))
        kind = data.draw(st.sampled_from(["change", "change", "cut", "insert", "remove"]))
        some = data.draw(st.binary(min_size=1, max_size=8))
        if kind == "change":
            content = content[:place] + some + content[place + len(some) :]
        elif kind == "cut":
            content = content[:place]
        elif kind == "insert":
            content = content[:place] + some + content[place:]
        else:
            content = content[:place] + content[place + len(some) :]
    return content


def signal_files(data: Any) -> None:
    suffix = data.draw(st.sampled_from(sorted(data.files)))
    path = data.folder / f"b{suffix}"
    content = data.files[suffix]
    other = content[:8] + data.draw(st.binary(max_size=200))
    path.write_bytes(damaged(data, content) if data.draw(st.booleans()) else other)
    options = {"dt": 0.1, "input": "array:0", "output": "array:1"} if suffix == ".npy" else {}
    found = attempt(lambda: read_signals(path, **options))
    if found is not None:
        assert np.isfinite(found.outputs).all()


def text_files(data: Any) -> None:
    path = data.folder / "b.csv"
    cells = st.one_of(st.floats().map(str), st.sampled_from(["", "NaN", "1,5", "1e999", "-", "0x10", "١"]), st.text(max_size=4))
    rows = data.draw(st.lists(st.lists(cells, min_size=2, max_size=3), max_size=6))
    header = data.draw(st.sampled_from(["t,f,u\n", "", "t [s];f;u\n", "\ufefft,f,u\n", "# c\nt\tf\tu\n"]))
    content = header + "\n".join(data.draw(st.sampled_from([",", ";", "\t", " "])).join(row) for row in rows)
    path.write_text(content, encoding=data.draw(st.sampled_from(["utf-8", "utf-16"])), errors="replace")
    attempt(lambda: read_signals(path, resample=data.draw(st.booleans())))


def model_trees(data: Any) -> None:
    """Write a model file with any metadata and a right checksum."""
    made = LNO(Grid.line(16, 0.1), **TINY)
    tree: dict[str, Any] = {"version": models.FILE_VERSION, **made.description(), "provenance": {}}
    for _ in range(data.draw(st.integers(1, 2))):
        place: Any = tree
        for _ in range(3):
            if isinstance(place, dict) and place:
                key = data.draw(st.sampled_from(sorted(place)))
                if not isinstance(place[key], dict) or data.draw(st.booleans()):
                    place[key] = data.draw(JSON)
                    break
                place = place[key]
    tensors = made.state_dict()
    if data.draw(st.booleans()):
        name = data.draw(st.sampled_from(sorted(tensors)))
        others = [torch.zeros(0), torch.zeros(2, 2), tensors[name].double(), tensors[name].int()]
        tensors[name] = data.draw(st.sampled_from(others))
    path = data.folder / "b.safetensors"
    attempt(lambda: tensorfile.write(path, tensors, tree, models.FILE_KEY))
    again = attempt(lambda: models.load_network(path))
    if again is not None:
        attempt(lambda: again.predict(np.zeros((1, 1, 16))))


def checkpoints(data: Any) -> None:
    path = data.folder / checkpoint.NAME
    path.write_bytes(damaged(data, data.checkpoint))
    attempt(lambda: tensorfile.read(path, checkpoint.KEY, "checkpoint"))


def data_sets(data: Any) -> None:
    """Write a data set file with any metadata and arrays, and a right checksum."""
    good = Dataset(np.zeros((2, 1, 8)), np.ones((2, 1, 8)), Grid.line(8, 0.1))
    tree = {"format": storage.FORMAT, **good.metadata()}
    for _ in range(data.draw(st.integers(0, 2))):
        tree[data.draw(st.sampled_from([*tree, "x"]))] = data.draw(JSON)
    values = {name: data.draw(st.one_of(st.just(np.zeros((2, 1, 8))), arrays())) for name in ("inputs", "outputs")}
    values = {name: array for name, array in values.items() if array.dtype.kind in "fiubc"}
    path, text = data.folder / "b.h5", json.dumps(tree, sort_keys=True)
    with h5py.File(path, "w") as file:
        file.attrs["lfno"], file.attrs["sha256"] = text, storage.checksum(values, text)
        for name, array in values.items():
            file[name] = array
    found = attempt(lambda: storage.load(path))
    if found is not None:
        attempt(lambda: storage.save(found, data.folder / "c.h5"))


def records(data: Any) -> None:
    folder = data.folder / "records"
    folder.mkdir(exist_ok=True)
    tree = data.draw(st.one_of(JSON, st.dictionaries(st.sampled_from(["study", "task", "seed", "what"]), JSON)))
    content = json.dumps(tree).encode() if data.draw(st.booleans()) else data.draw(st.binary(max_size=40))
    (folder / "a.json").write_bytes(content)
    attempt(lambda: load_records(folder))


CASES = [signal_files, text_files, model_trees, checkpoints, data_sets, records]


@pytest.fixture(scope="module")
def prepared(tmp_path_factory) -> tuple[dict[str, bytes], bytes]:
    folder = tmp_path_factory.mktemp("good")
    tensorfile.write(folder / "c.safetensors", {"a": torch.arange(6.0)}, {"epoch": 3}, checkpoint.KEY)
    return good_files(folder), (folder / "c.safetensors").read_bytes()


@pytest.fixture(autouse=True)
def given_to_cases(prepared, monkeypatch):
    for name, value in {"files": prepared[0], "checkpoint": prepared[1]}.items():
        monkeypatch.setattr(st.DataObject, name, value, raising=False)


@counts(CASES, dict.fromkeys(CASES, 60))
def test_read_rightly_or_refused(case, count):
    tried(case, count)


@pytest.mark.parametrize("width", [3, 10**5, 10**6])
@pytest.mark.parametrize("modes", [4, 10**6])
def test_metadata_that_asks_for_absurd_sizes_takes_no_memory(tmp_path, width, modes):
    import resource

    made = LNO(Grid.line(16, 0.1), **TINY)
    tree = {"version": models.FILE_VERSION, **made.description(), "provenance": {}}
    tree["config"] |= {"width": width, "modes": modes, "n_poles": 10**6 if width > 3 else 3}
    tree["grid"]["axes"][0]["size"] = 10**12
    tensorfile.write(tmp_path / "b.safetensors", made.state_dict(), tree, models.FILE_KEY)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with pytest.raises(LfnoError):
        models.load_network(tmp_path / "b.safetensors")
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 200_000, "kB"


def test_a_data_set_with_links_or_an_absurd_size_is_refused(tmp_path):
    good = Dataset(np.zeros((2, 1, 8)), np.ones((2, 1, 8)), Grid.line(8, 0.1))
    text = json.dumps({"format": storage.FORMAT, **good.metadata()}, sort_keys=True)

    def outside(file: h5py.File) -> None:
        file["inputs"] = h5py.ExternalLink("/etc/hostname", "/")

    def elsewhere(file: h5py.File) -> None:
        file.create_dataset("inputs", (2, 1, 8), "f8", external=[("/etc/hostname", 0, 128)])

    def mountain(file: h5py.File) -> None:
        file.create_dataset("inputs", (2**20, 2**10, 8), "f8", chunks=(2**10, 2**10, 8))

    for build in (outside, elsewhere, mountain):
        path = tmp_path / f"{build.__name__}.h5"
        with h5py.File(path, "w") as file:
            file.attrs["lfno"], file.attrs["sha256"] = text, ""
            build(file)
            file["outputs"] = np.ones((2, 1, 8))
        with pytest.raises(LfnoError, match="inputs"):
            storage.load(path)
