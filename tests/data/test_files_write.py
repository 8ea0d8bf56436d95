"""Written files are read back unchanged. If a file cannot be written, there is an error message and no file."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from lfno.core.errors import LfnoError
from lfno.data.files import Variable, read
from lfno.data.files.write import WRITERS, write
from tests.faults.test_limits import crowded, said

T = np.arange(5000) * 0.1


def variables(name: str = "u", unit: str = "m/s") -> list[Variable]:
    return [Variable.of("t", T, "s", ("t",)), Variable.of(name, np.sin(T) / 3, unit, ("t",))]


@pytest.mark.parametrize("ending", WRITERS)
def test_written_files_are_read_back(ending: str, tmp_path: Path) -> None:
    write(tmp_path / f"a{ending}", variables())
    again = read(tmp_path / f"a{ending}")
    values = again["array"].array([])[:, 1] if ending == ".npy" else again["u"].array([])
    np.testing.assert_allclose(np.ravel(values), np.sin(T) / 3, rtol=1e-8)


@pytest.mark.parametrize(("delimiter", "decimal"), [(";", ","), (";", "."), ("\t", ","), (",", ".")])
def test_a_written_table_has_the_format_of_the_file_like(delimiter: str, decimal: str, tmp_path: Path) -> None:
    """The delimiter and the decimal mark are those of the file `like`."""
    question = [f"{time:.1f}{delimiter}{time / 7:.4f}".replace(".", decimal) for time in T[:50]]
    (tmp_path / "q.csv").write_text("\n".join([f"t [s]{delimiter}f [N]", *question]))
    write(tmp_path / "a.csv", variables(), like=tmp_path / "q.csv")
    first = (tmp_path / "a.csv").read_text().splitlines()[2]
    assert first == f"{T[1]:.9g}{delimiter}{np.sin(T[1]) / 3:.9g}".replace(".", decimal)
    np.testing.assert_allclose(np.ravel(read(tmp_path / "a.csv")["u"].array([])), np.sin(T) / 3, rtol=1e-8)


@pytest.mark.parametrize(
    ("name", "unit"), [("", ""), ("t", ""), ("a/b", ""), ("a\0", ""), ("a,b", ""), ("u", "\udc80"), ("u", "m\n")]
)
@pytest.mark.parametrize("ending", [".npz", ".csv", ".h5", ".nc", ".mat"])
def test_names_that_a_format_cannot_store_are_refused(name: str, unit: str, ending: str, tmp_path: Path) -> None:
    with pytest.raises(LfnoError, match="cannot be the name of a variable"):
        write(tmp_path / f"a{ending}", variables(name, unit))
    assert not list(tmp_path.iterdir())


def test_unusual_names_are_stored(tmp_path: Path) -> None:
    for name in ("file", "allow_pickle", "Kraft (λ)", "力"):
        write(tmp_path / "a.npz", variables(name))
        assert name in read(tmp_path / "a.npz")
    with pytest.raises(LfnoError, match="cannot be the name"):
        write(tmp_path / "a.mat", variables("力"))


def write_all(path: Path) -> None:
    write(path, variables())


@pytest.mark.parametrize("ending", [".npz", ".csv", ".h5", ".nc"])
def test_a_full_disk_is_an_error_message(ending: str, tmp_path: Path) -> None:
    """If the HDF5 library wrote to the disk itself, it would end the process when the disk is full."""
    assert "cannot write" in said(tmp_path, crowded, 3000, tmp_path / f"a{ending}", write_all)
    assert not list(tmp_path.glob("*a.*"))
