"""Data sets on disk: one HDF5 file per data set. A file is written completely or not at all. A checksum detects damage."""

from __future__ import annotations

import contextlib
import hashlib
import io
import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import h5py
import numpy as np

from lfno.core.errors import LfnoError
from lfno.core.json_text import to_json
from lfno.core.memory import refuse_bomb
from lfno.data.dataset import Dataset, compact

FORMAT = 1  # version of the layout of the file; a file of another version is not read
SUFFIX = ".h5"  # ending of the file name
#: options of h5py: the fastest level of gzip
COMPRESSION: dict[str, Any] = {"compression": "gzip", "compression_opts": 1, "shuffle": True}


@contextlib.contextmanager
def atomic(path: Path) -> Iterator[Path]:
    """Yield a temporary path in the folder of `path`.

    If the block ends without an error, the temporary file replaces `path`. If not, it is deleted and `path` is unchanged.
    An OSError, for example because the disk is full, becomes an LfnoError.
    """
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        yield temporary
        with open(temporary, "rb") as file:
            os.fsync(file.fileno())
        os.replace(temporary, path)
    except OSError as error:
        raise LfnoError(f"cannot write {path}: {error.strerror or error}") from error
    finally:
        with contextlib.suppress(OSError):  # there is no temporary file if it has replaced `path` or was never written
            temporary.unlink()


def checksum(arrays: dict[str, np.ndarray], metadata: str) -> str:
    """Return the SHA-256 of the metadata and of the names, types, shapes and values of the arrays."""
    total = hashlib.sha256(metadata.encode())
    for name in sorted(arrays):
        values = np.ascontiguousarray(arrays[name])
        total.update(f"{name} {values.dtype.str} {values.shape}".encode())
        total.update(values.data if values.size else b"")
    return total.hexdigest()


def save(dataset: Dataset, path: str | Path) -> Path:
    """Write `dataset` to one HDF5 file and return its path. The same data give the same bytes.

    Content of the file:
        inputs, outputs: (sample, channel, *space, time)
        mask: shape of the outputs, if values are missing
        steady: shape of the outputs, if steady states are known
        parameters/<name>: (sample, …)
        attribute `lfno`: the metadata in JSON
        attribute `sha256`: the checksum

    The array of an input that is constant along an axis is stored with size 1 on that axis.
    """
    path = Path(path)
    arrays = {"inputs": compact(dataset.inputs), "outputs": dataset.outputs}
    arrays |= {} if dataset.steady is None else {"steady": dataset.steady}
    arrays |= {} if dataset.mask is None else {"mask": dataset.mask.astype(np.uint8)}
    arrays |= {f"parameters/{name}": values for name, values in dataset.parameters.items()}
    metadata = to_json({"format": FORMAT, **dataset.metadata()}, sort_keys=True)
    with atomic(path) as temporary, created(temporary) as file:
        file.attrs["lfno"] = metadata
        file.attrs["sha256"] = checksum(arrays, metadata)
        for name, values in arrays.items():
            # one chunk for each sample; HDF5 allows no chunks for an empty array
            packed = {"chunks": (1, *values.shape[1:]), **COMPRESSION} if values.size else {}
            file.create_dataset(name, data=values, track_times=False, **packed)  # a time of writing would change the bytes
            file.flush()  # write the chunks now; otherwise their order in the file could differ from call to call
    return path


@contextlib.contextmanager
def created(path: Path) -> Iterator[h5py.File]:
    """Yield a new HDF5 file to write to. A full disk raises OSError at the end of the block."""
    with _Disk(path, "w+") as disk:
        with h5py.File(disk, "w") as file:
            yield file
        if disk.error is not None:
            raise disk.error


class _Disk(io.FileIO):
    """A file that keeps the first write error in `error` and does not raise it.

    If a write to a full disk raised an error, the HDF5 library would end the whole process.
    """

    error: OSError | None = None

    def write(self, content: Any) -> int:
        size = memoryview(content).nbytes
        try:
            done = 0
            while self.error is None and done < size:  # the system may write only a part of the bytes
                done += super().write(memoryview(content)[done:]) or 0
        except OSError as error:
            self.error = error
        return size

    def truncate(self, size: int | None = None) -> int:
        try:
            return super().truncate(size)
        except OSError as error:
            self.error = self.error or error
            return size or 0


def read_metadata(path: str | Path) -> dict[str, Any]:
    """Read the metadata of a stored data set, without its arrays."""
    with _opened(Path(path)) as file:
        return _metadata(file, Path(path))


def load(path: str | Path) -> Dataset:
    """Read a data set. Raises LfnoError if the file is missing, truncated, altered or not a data set of lfno."""
    path = Path(path)
    with _opened(path) as file:
        metadata = _metadata(file, path)
        names = ["inputs", "outputs", *(name for name in ("mask", "steady") if name in file)]
        arrays = {name: _array(path, file, name) for name in names}
        if isinstance(file.get("parameters", getlink=True), h5py.HardLink):
            group = file["parameters"]
            arrays |= {f"parameters/{name}": _array(path, group, name) for name in group}
        if checksum(arrays, file.attrs["lfno"]) != file.attrs.get("sha256"):
            raise LfnoError(f"{path} was altered after it was written: its checksum does not match; make the file again")
    parameters = {k.removeprefix("parameters/"): v for k, v in arrays.items() if k.startswith("parameters/")}
    optional = arrays.get("mask"), arrays.get("steady")
    return Dataset.from_parts(arrays["inputs"], arrays["outputs"], parameters, metadata, *optional)


def _array(path: Path, group: h5py.Group, name: str) -> np.ndarray:
    """Read one array.

    Raises LfnoError if the array is not stored in this file, does not hold numbers, or claims far more values than the bytes
    on disk can hold.
    """
    if not isinstance(group.get(name, getlink=True), h5py.HardLink):
        raise LfnoError(f"{path}: {name!r} is missing, or it is a link, which is not followed; make the file again")
    stored = group[name]
    if stored.external is not None or stored.is_virtual or stored.dtype.kind not in "fiub":
        raise LfnoError(f"{path}: the values of {name!r} are in another file or are not numbers; make the file again")
    refuse_bomb(f"{path}: {name!r}", stored.id.get_storage_size(), stored.nbytes)
    return stored[()]


@contextlib.contextmanager
def _opened(path: Path) -> Iterator[h5py.File]:
    """Yield the open file. Every error in the block becomes an LfnoError with the path of the file."""
    if not path.is_file():
        raise LfnoError(f"there is no file {path}")
    try:
        file = h5py.File(path, "r")
    except OSError as error:
        raise LfnoError(f"{path} cannot be opened: it is not an HDF5 file, or its end is missing ({error})") from error
    with file:
        try:
            yield file
        except LfnoError:
            raise
        except Exception as error:  # damaged files make h5py raise errors of many kinds
            raise LfnoError(f"{path} is damaged and cannot be read ({error}); make the file again") from error


def _metadata(file: h5py.File, path: Path) -> dict[str, Any]:
    """Return the metadata. Raises LfnoError if the file is not a data set of lfno, or has another format."""
    if "lfno" not in file.attrs:
        raise LfnoError(f"{path} is an HDF5 file but not a data set of lfno: it has no attribute 'lfno'")
    metadata = json.loads(file.attrs["lfno"])
    if metadata.get("format") != FORMAT:
        raise LfnoError(
            f"{path} has format {metadata.get('format')!r}, and this version of lfno reads format {FORMAT}: make the file again"
        )
    return metadata
