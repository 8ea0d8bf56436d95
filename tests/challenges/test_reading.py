"""A missing file, a damaged file and a file of another benchmark raise an error."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from scipy.io import savemat

from lfno.challenges import load
from lfno.challenges.reading import cache_folder
from lfno.core.errors import LfnoError
from tests.challenges.layouts import WRITERS, write


def refused(name: str, path: Path | None, message: str) -> None:
    """Assert that loading the benchmark raises an error with this message."""
    with pytest.raises(LfnoError, match=message):
        load(name, path)


def test_the_error_for_an_unknown_name_lists_the_known_names(tmp_path: Path):
    refused("mirror", tmp_path, "there is no benchmark 'mirror'; choose one of fine-steering-mirror, silverbox")


@pytest.mark.parametrize("name", WRITERS)
def test_a_missing_path_an_empty_folder_and_a_truncated_file_raise_an_error(name: str, tmp_path: Path):
    refused(name, tmp_path / "nowhere", "there is no such file or folder")
    (tmp_path / "empty").mkdir()
    refused(name, tmp_path / "empty", "no file in this folder has that name")
    if name == "bouc-wen":
        return  # the simulation of its training records is slow, and its files have the same format as other benchmarks
    write(name, tmp_path / "full")
    for path in (tmp_path / "full").rglob("*.*"):
        if path.is_file():
            path.write_bytes(path.read_bytes()[:200])
    with pytest.raises(LfnoError):
        load(name, tmp_path / "full")


def test_the_path_of_a_benchmark_with_one_file_may_be_the_file(tmp_path: Path):
    write("cascaded-tanks", tmp_path)
    path = (tmp_path / "dataBenchmark.mat").rename(tmp_path / "tanks.mat")
    assert len(load("cascaded-tanks", path).test) == 1
    refused("emps", path, "needs the folder of its files")


def test_wrong_arrays_raise_an_error(tmp_path: Path):
    good = {name: np.ones((200, 1)) for name in ("uEst", "yEst", "uVal", "yVal")} | {"Ts": 4.0}
    for changed, message in (
        ({"uVal": np.ones((200, 2))}, "'uVal' has shape \\(200, 2\\)"),
        ({"yVal": np.ones((199, 1))}, "do not fit together"),
        ({"uEst": np.ones((40, 1)), "yEst": np.ones((40, 1))}, "'uEst' has 40 samples"),
        ({"yEst": np.full((200, 1), np.nan)}, "not finite"),
        ({"Ts": -1.0}, "does not give a sampling rate"),
    ):
        savemat(tmp_path / "dataBenchmark.mat", good | changed)
        refused("cascaded-tanks", tmp_path, message)
    del good["yVal"]
    savemat(tmp_path / "dataBenchmark.mat", good)
    refused("cascaded-tanks", tmp_path, "there is no variable 'yVal'")


def test_two_files_with_the_same_name_raise_an_error(tmp_path: Path):
    write("cascaded-tanks", tmp_path / "a")
    write("cascaded-tanks", tmp_path / "b")
    refused("cascaded-tanks", tmp_path, "has 2 files called dataBenchmark.mat")


def test_the_cache_of_the_package_is_used_and_nothing_is_downloaded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(Path, "home", lambda: tmp_path)
    refused("cascaded-tanks", None, "The program downloads nothing by itself")
    refused("fine-steering-mirror", None, "combined_data.npz")
    write("cascaded-tanks", cache_folder() / "Cascaded_Tanks" / "CascadedTanksFiles")
    assert load("cascaded-tanks").challenge.name == "cascaded-tanks"
