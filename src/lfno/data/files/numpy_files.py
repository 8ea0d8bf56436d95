"""Read NPY files as memory maps and NPZ archives as streams. Pickled objects are never loaded."""

from __future__ import annotations

import math
import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import IO, Any

import numpy as np
from numpy.lib import format as npy

from lfno.core.errors import LfnoError
from lfno.core.memory import refuse_bomb
from lfno.data.files.variables import Variable, Variables, reason


def read_npy(path: Path) -> Variables:
    """Return the array of the file, called `array`, as a memory map. A structured array gives one variable per field."""
    with path.open("rb") as file:
        _header(file, path.name)
    try:
        array = np.load(path, mmap_mode="r", allow_pickle=False)
    except (ValueError, OSError, EOFError) as error:
        raise LfnoError(
            f"{path.name}: the array cannot be read ({reason(error)}); write it again with numpy.save"
        ) from error
    names = array.dtype.names
    if names is None:
        return Variables(path.name, {"array": Variable.of("array", array)})
    return Variables(path.name, {name: Variable.of(name, array[name]) for name in names})


def read_npz(path: Path) -> Variables:
    """Return the arrays of the archive. The values of an array are read only when they are needed."""
    try:
        with zipfile.ZipFile(path) as archive:
            members = archive.infolist()
            _check_archive(path, members)
            entries, notes = {}, []
            for member in members:
                if not member.filename.endswith(".npy"):
                    notes.append(f"the member {member.filename!r} is not an array and was left out")
                    continue
                with archive.open(member) as file:
                    variable = _member(path, member, file)
                entries[variable.name] = variable
    except LfnoError:
        raise
    except (zipfile.BadZipFile, NotImplementedError, RuntimeError, OSError, EOFError, ValueError) as error:
        raise LfnoError(
            f"{path.name}: the archive is damaged ({reason(error)}); write it again with numpy.savez"
        ) from error
    return Variables(path.name, entries, notes)


def _check_archive(path: Path, members: list[zipfile.ZipInfo]) -> None:
    """Raise LfnoError for a damaged or hostile archive: members with bad paths, implausible sizes, overlaps or equal names."""
    for member in members:
        name = PurePosixPath(member.filename.replace("\\", "/"))
        if name.is_absolute() or ".." in name.parts or ":" in (name.parts or ("",))[0]:
            raise LfnoError(
                f"{path.name}: the member {member.filename!r} points outside the archive, which no array does; "
                "write the file again with numpy.savez"
            )
        refuse_bomb(f"{path.name}: the member {member.filename!r}", member.compress_size, member.file_size)
    stored = path.stat().st_size
    if sum(member.compress_size for member in members) > stored:
        raise LfnoError(f"{path.name}: the members of the archive overlap; write it again with numpy.savez")
    if len({member.filename for member in members}) != len(members):
        raise LfnoError(f"{path.name}: two members of the archive have the same name; write it again with numpy.savez")
    refuse_bomb(path.name, stored, sum(member.file_size for member in members))


def _member(path: Path, member: zipfile.ZipInfo, file: IO[bytes]) -> Variable:
    """Return the array of one member of the archive. Only the header is read now."""
    name = member.filename.removesuffix(".npy")
    shape, fortran, dtype = _header(file, f"{path.name}: {name!r}")
    needed = math.prod(shape) * dtype.itemsize
    if needed > member.file_size:
        raise LfnoError(f"{path.name}: {name!r} was cut short: it should hold {needed} bytes, not {member.file_size}")

    def blocks(rows: int) -> Iterator[np.ndarray]:
        row_shape = shape[1:]
        with zipfile.ZipFile(path) as archive, archive.open(member) as data:
            _header(data, name)
            if fortran:  # the values of a row are not contiguous, so the whole array must be read
                yield from Variable.of(name, _take(data, dtype, shape, order="F")).blocks(rows)
                return
            for start in range(0, shape[0], rows):
                yield _take(data, dtype, (min(rows, shape[0] - start), *row_shape))

    return Variable(name, shape, dtype, blocks)


def _take(file: IO[bytes], dtype: np.dtype, shape: tuple[int, ...], order: Any = "C") -> np.ndarray:
    """Return the next values of a file as an array of this shape."""
    size = math.prod(shape) * dtype.itemsize
    try:
        data = file.read(size)
    except (zipfile.BadZipFile, zlib.error, EOFError, OSError, ValueError) as error:
        raise LfnoError(f"an array in the archive is damaged ({reason(error)}); write the file again") from error
    if len(data) < size:
        raise LfnoError("an array in the archive was cut short; write the file again")
    return np.frombuffer(data, dtype).reshape(shape, order=order)


def _header(file: IO[bytes], where: str) -> tuple[tuple[int, ...], bool, np.dtype]:
    """Return (shape, whether the order is Fortran's, dtype) from the header of an NPY file.

    where: the file and array, for error messages.
    """
    try:
        version = npy.read_magic(file)
        reader = npy.read_array_header_1_0 if version == (1, 0) else npy.read_array_header_2_0
        shape, fortran, dtype = reader(file)
    except Exception as error:  # NumPy's parser of the header raises errors of many kinds
        raise LfnoError(f"{where} has a damaged header ({reason(error)}); write it again") from error
    if dtype.hasobject:
        raise LfnoError(
            f"{where} holds Python objects, which are never loaded because they can run code; save arrays of numbers"
        )
    return tuple(shape) or (1,), fortran, dtype
