"""Bad inputs. The page docs/how-to/bad-input.md lists the error message of each.

`test_files_bad.py` compares the page with the messages. After an intended change of a message, run
`python tests/data/bad_inputs.py` to write the page again, and read the difference.
"""

from __future__ import annotations

import io
import pickle
import re
import struct
import zipfile
from collections.abc import Callable
from copy import copy
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import h5py
import numpy as np

from lfno.cli.wording import flag
from lfno.core.errors import LfnoError
from lfno.data.signals import read_signals
from lfno.data.variation import check_variation

T = np.arange(100) * 0.05
F, U = np.sin(T), np.cos(T)
PAGE = Path(__file__).parents[2] / "docs" / "how-to" / "bad-input.md"


@dataclass(frozen=True)
class Bad:
    """A bad input.

    what: the input in words.
    file: name of the file.
    write: `write(path)` writes the file.
    options: options of `read_signals`.
    """

    what: str
    file: str
    write: Callable[[Path], Any]
    options: dict[str, Any] = field(default_factory=dict)


def text(content: str | bytes) -> Callable[[Path], Any]:
    return lambda path: path.write_bytes(content.encode() if isinstance(content, str) else content)


def table(change: Callable[[list[list[str]]], Any], header: str = "t,f,u") -> Callable[[Path], Any]:
    """Return a function that writes a CSV file. Before that, `change` makes an error in the rows of cells."""

    def write(path: Path) -> None:
        rows = [[f"{a:.4f}", f"{b:.6f}", f"{c:.6f}"] for a, b, c in zip(T, F, U, strict=True)]
        change(rows)
        path.write_text("\n".join([header, *(",".join(row) for row in rows)]) + "\n")

    return write


def put(row: int, column: int, cell: str) -> Callable[[list[list[str]]], None]:
    def change(rows: list[list[str]]) -> None:
        rows[row][column] = cell

    return change


def drift(rows: list[list[str]]) -> None:
    for k, row in enumerate(rows):
        row[0] = f"{k * 0.05 * (1 + 1e-3 * k):.6f}"


def overlapping(path: Path) -> None:
    """Write an archive in which three names share the same bytes. Together, the three arrays are larger than the archive."""
    with zipfile.ZipFile(path, "w") as archive:
        content = io.BytesIO()
        np.save(content, F)
        archive.writestr("t.npy", content.getvalue())
        for name in ("f.npy", "u.npy"):
            twin = copy(archive.infolist()[0])
            twin.filename = name
            archive.filelist.append(twin)


def npz(**arrays: Any) -> Callable[[Path], Any]:
    def write(path: Path) -> None:
        with path.open("wb") as file:  # numpy.savez would add .npz to a path with another ending
            np.savez(file, **arrays)

    return write


def member(name: str, content: bytes = b"") -> Callable[[Path], Any]:
    def write(path: Path) -> None:
        with zipfile.ZipFile(path, "w") as archive:
            archive.writestr(name, content)

    return write


def bomb(path: Path) -> None:
    """Write a small archive that claims to hold 8 TB of zeros."""
    header = io.BytesIO()
    np.lib.format.write_array_header_1_0(header, {"descr": "<f8", "fortran_order": False, "shape": (2**40,)})
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("f.npy", header.getvalue() + bytes(1000))
        archive.filelist[0].file_size = 2**43


def hdf5(build: Callable[[h5py.File], Any]) -> Callable[[Path], Any]:
    def write(path: Path) -> None:
        with h5py.File(path, "w") as file:
            build(file)

    return write


def outside_values(file: h5py.File) -> None:
    file.create_dataset("f", (100,), "f8", external=[("/etc/hostname", 0, 800)])


def endless(file: h5py.File) -> None:
    file.create_dataset("f", (2**30, 2**10), "f8", chunks=(2**10, 2**10))


def cut_short(path: Path) -> None:
    np.save(path, F)
    path.write_bytes(path.read_bytes()[:-100])


MANY = np.random.default_rng(0).normal(size=(100, 100))
RESAMPLE = {"input": "f", "output": "u", "time": "tf,tu"}

#: inputs whose message quotes another library; the quoted words change with the version of that library
LIBRARY = {
    "a file whose end is missing",
    "a damaged HDF5 file",
    "a damaged Parquet file",
    "a damaged NetCDF file",
}

CASES = (
    Bad("a file that does not exist", "gone.csv", lambda path: None),
    Bad("an unknown ending", "data.ods", text("x")),
    Bad("an empty file", "data.csv", text("")),
    Bad("only blanks and comments", "data.csv", text("# nothing\n\n")),
    Bad("a header and no rows", "data.csv", text("t,f,u\n")),
    Bad("prose instead of a table", "data.txt", text("Dear all,\nthe data will follow.\n")),
    Bad("a file whose content is not the format of its ending", "data.csv", npz(t=T, f=F, u=U)),
    Bad("binary content in a text file", "data.csv", text(b"t,f\n\0\0\0\1\n")),
    Bad("text in a binary file", "data.npz", text("t,f,u\n1,2,3\n")),
    Bad("a Python pickle", "data.npy", lambda path: path.write_bytes(pickle.dumps({"a": 1}, 4))),
    Bad("an array of Python objects", "data.npz", npz(f=np.array([{}, []], dtype=object))),
    Bad("a file whose end is missing", "data.npy", cut_short),
    Bad("a damaged MATLAB file", "data.mat", text(b"MATLAB 5.0 MAT-file" + bytes(200))),
    Bad("a damaged HDF5 file", "data.h5", text(b"\x89HDF\r\n\x1a\n" + bytes(100))),
    Bad("a damaged Parquet file", "data.parquet", text(b"PAR1" + bytes(100))),
    Bad("a damaged NetCDF file", "data.nc", text(b"CDF\x01" + struct.pack(">i", 3) + bytes(4) + b"\xff" * 40)),
    Bad("an archive whose members claim absurd sizes", "data.npz", bomb),
    Bad("an archive with paths that lead outside", "data.npz", member("../../f.npy")),
    Bad("an archive whose members overlap", "data.npz", overlapping),
    Bad(
        "an HDF5 link to another file", "data.h5", hdf5(lambda f: f.__setitem__("f", h5py.ExternalLink("/etc/x", "/")))
    ),
    Bad("an HDF5 dataset that keeps its values elsewhere", "data.h5", hdf5(outside_values)),
    Bad("an HDF5 dataset of absurd size", "data.h5", hdf5(endless)),
    Bad("a row with too few values", "data.csv", table(lambda rows: rows[11].pop())),
    Bad("a cell that is not a number", "data.csv", table(put(80, 1, "overflow"))),
    Bad("a signal without any value", "data.npz", npz(t=T, f=F, u=np.full(100, np.nan))),
    Bad("an output that is constant", "data.csv", table(lambda rows: [row.__setitem__(2, "3.5") for row in rows])),
    Bad("an input that is zero", "data.csv", table(lambda rows: [row.__setitem__(1, "0") for row in rows])),
    Bad("complex values", "data.npz", npz(t=T, f=F, u=U + 1j)),
    Bad(
        "text where numbers are needed",
        "data.csv",
        table(lambda rows: [row.append("ok") for row in rows], "t,f,u,state"),
        {"input": "f", "output": "state"},
    ),
    Bad("a clock that drifts", "data.csv", table(drift)),
    Bad("two recordings hours apart", "data.npz", npz(t=np.where(T < 2.5, T, T + 7200), f=F, u=U)),
    Bad("a time stamp twice", "data.csv", table(put(50, 0, "2.4500"))),
    Bad("a time that goes back", "data.csv", table(put(50, 0, "0.1000"))),
    Bad("two time vectors", "data.npz", npz(t_f=T, f=F, t_u=T, u=U)),
    Bad("input and output at different rates", "data.npz", npz(tf=T, f=F, tu=T[::2], u=U[::2]), RESAMPLE),
    Bad("time vectors that do not overlap", "data.npz", npz(tf=T, f=F, tu=T + 9, u=U), {**RESAMPLE, "resample": True}),
    Bad("no time vector and no time step", "data.npz", npz(f=F, u=U)),
    Bad("a sampling rate and a time step that disagree", "data.npz", npz(Fs=20.0, Ts=0.1, f=F, u=U)),
    Bad("a time vector and a time step", "data.npz", npz(t=T, f=F, u=U), {"dt": 0.1, "time": "t"}),
    Bad("a step that is not positive", "data.npz", npz(f=F, u=U), {"dt": -1.0}),
    Bad("too few samples", "data.csv", text("t,f,u\n0,1,2\n1,2,3\n")),
    Bad("a time without any value", "data.csv", text("t,f,u\n" + ",1,2\n" * 30)),
    Bad("a variable that does not exist", "data.npz", npz(t=T, f=F, u=U), {"input": "force"}),
    Bad("one variable as input and output", "data.npz", npz(t=T, f=F, u=U), {"input": "f", "output": "f"}),
    Bad("names that do not show which signal is the input", "data.npz", npz(t=T, a=F, b=U)),
    Bad("several possible outputs", "data.npz", npz(t=T, f=F, a=U, b=U), {"input": "f"}),
    Bad("no second signal", "data.npz", npz(t=T, f=F)),
    Bad("a column that does not exist", "data.npy", lambda path: np.save(path, MANY), {"input": "array:200"}),
    Bad("as many samples as time steps", "data.npz", npz(t=T, f=MANY, u=MANY)),
    Bad("as many points in space as time steps", "data.npz", npz(x=T, t=T, f=MANY, u=MANY)),
    Bad("arrays that do not fit the time", "data.npz", npz(t=T, f=F, u=U[:90])),
    Bad("axes that do not fit the array", "data.npz", npz(t=T, f=MANY, u=MANY), {"axes": "sample,x,t"}),
    Bad("axes that are named in the wrong order", "data.npz", npz(t=T, f=MANY[:7], u=MANY[:7]), {"axes": "t,sample"}),
    Bad("different numbers of samples", "data.npz", npz(t=T, f=MANY[:70], u=MANY[:69])),
    Bad("a coordinate that is not uniform", "data.npz", npz(x=np.arange(20.0) ** 2, t=T, f=MANY[:20], u=MANY[:20])),
    Bad(
        "parts with different numbers of samples",
        "data.npz",
        npz(t=T, f_train=MANY[:9], f_test=MANY[:4], u_train=MANY[:8], u_test=MANY[:4]),
    ),
    Bad(
        "a run of two rows in a table",
        "data.csv",
        table(lambda rows: [row.append("1" if k < 98 else "2") for k, row in enumerate(rows)], "t,f,u,run"),
        {"sample": "run"},
    ),
    Bad("a signal that is named as the column of trajectory numbers", "data.npz", npz(t=T, f=F, u=U), {"sample": "f"}),
    Bad("a column of trajectory numbers without rows", "data.npz", npz(t=T[:0], f=F[:0], u=U[:0]), {"sample": "f"}),
)


#: the first case of each section of the page
SECTIONS = {
    "a file that does not exist": "The format of the file",
    "a row with too few values": "Values",
    "a clock that drifts": "Time",
    "a variable that does not exist": "Inputs and outputs",
    "a column that does not exist": "Shapes of arrays",
    "parts with different numbers of samples": "Several runs",
}

INTRODUCTION = """# Error messages for files

If a file cannot be used, `lfno` prints one error message. The message says what was found, where, and what to do. This page
lists the messages by the kind of problem. [Another page](bad-commands.md) lists the messages for commands.

`lfno` never drops or changes data silently: `lfno inspect` and `lfno fit` print a note for each change.

The column "options" has the options that were given. They are written as in Python; on the command line `resample=True` is
`--resample`. A signal is called `f` if it is the input, and `u` if it is the output. The sign (…) stands for the words of the
library that reads the format. A test makes each of these files and compares the message.
"""


def sentence(case: Bad, directory: Path) -> str:
    """Return the error message of a case, without the directory and the words of other libraries."""
    path = directory / case.file
    case.write(path)
    try:
        check_variation(read_signals(path, **case.options))
    except LfnoError as error:
        said = error.worded(flag).replace(f"{directory}/", "")
        return re.sub(r" \(.*\);", " (…);", said) if case.what in LIBRARY else said
    raise AssertionError(f"{case.what}: no error was raised")


def row(case: Bad, said: str) -> str:
    """Return the row of the table in the docs."""
    options = ", ".join(f"{name}={value!r}" for name, value in case.options.items())
    return f"| {case.what} | {options and f'`{options}`'} | {said} |"


if __name__ == "__main__":
    lines = [INTRODUCTION]
    for each in CASES:
        if each.what in SECTIONS:
            lines.append(f"\n## {SECTIONS[each.what]}\n\n| input | options | error message |\n|---|---|---|\n")
        with TemporaryDirectory() as folder:
            lines.append(row(each, sentence(each, Path(folder))) + "\n")
    PAGE.write_text("".join(lines))
