"""MATLAB files: versions 4 to 7 through SciPy, version 7.3 (HDF5 inside, axes stored in reverse) through h5py."""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import h5py
import numpy as np

from lfno.data.files import hdf5
from lfno.data.files.memory import available, human, refuse_bomb
from lfno.data.files.variables import Variable, Variables
from lfno.errors import LfnoError

#: MATLAB's numeric classes and how many bytes a value has; the rest (cell, char, …) is listed in the notes
SIZES = {"double": 8, "single": 4, "logical": 1} | {f"{s}int{b}": b // 8 for s in ("", "u") for b in (8, 16, 32, 64)}
ADVICE = "save it again in MATLAB with `save file.mat -v7`"


def read_matlab(path: Path) -> Variables:
    """Numeric arrays by name, fields of structures as `structure.field`."""
    return _read_hdf5(path) if h5py.is_hdf5(path) else _read_classic(path)


def _read_classic(path: Path) -> Variables:
    from scipy import io

    notes: list[str] = []
    entries: dict[str, Variable] = {}
    try:
        listed = io.whosmat(path)
        total = sum(math.prod(shape) * SIZES.get(kind, 0) for _, shape, kind in listed)
        refuse_bomb(path.name, path.stat().st_size, total)
        if total > available():
            raise LfnoError(
                f"{path.name}: the file needs {human(total)} of memory; `save -v7.3` makes one that is streamed"
            )
        for name, shape, kind in listed:
            if kind == "struct" and math.prod(shape) == 1:
                structure = io.loadmat(path, variable_names=[name], struct_as_record=False, squeeze_me=True)[name]
                entries |= {v.name: v for v in _fields(name, structure, notes)}
            elif kind not in SIZES:
                notes.append(f"{name!r} is a {kind}, not an array of numbers, and was left out")
            elif math.prod(shape) == 0:
                notes.append(f"{name!r} is empty and was left out")
            else:
                entries[name] = _classic(path, name)
    except LfnoError:
        raise
    except Exception as error:  # SciPy's reader meets damaged bytes with whatever breaks first
        raise LfnoError(f"{path.name}: this is not a readable MATLAB file ({error}); {ADVICE}") from error
    return Variables(path.name, entries, notes)


def _classic(path: Path, name: str) -> Variable:
    # SciPy reads a variable as a whole; versions up to 7 hold at most 2 GB in each
    from scipy import io

    array = io.loadmat(path, variable_names=[name])[name]
    if not isinstance(array, np.ndarray):
        raise LfnoError(f"{path.name}: {name!r} is a sparse matrix; save it with `full({name})`")
    return Variable.of(name, array)


def _fields(prefix: str, structure: Any, notes: list[str]) -> Iterator[Variable]:
    for field in getattr(structure, "_fieldnames", []):
        value, name = getattr(structure, field), f"{prefix}.{field}"
        if hasattr(value, "_fieldnames"):
            yield from _fields(name, value, notes)
        elif isinstance(value, (np.ndarray, float, int, complex)) and np.asarray(value).dtype.kind in "fiubc":
            yield Variable.of(name, np.asarray(value))
        else:
            notes.append(f"{name!r} is not an array of numbers and was left out")


def _read_hdf5(path: Path) -> Variables:
    notes: list[str] = []
    entries = {}
    with hdf5.opened(path) as file:
        for name, dataset in hdf5.datasets(path, file, notes):
            kind = hdf5.text_of(dataset.attrs.get("MATLAB_class", "double"))
            if name.startswith("#") or kind not in SIZES or "MATLAB_empty" in dataset.attrs:
                notes.append(f"{name!r} is not an array of numbers and was left out")
                continue
            title = name.replace("/", ".")
            shape = hdf5.shape_of(dataset)[::-1]
            entries[title] = Variable(title, shape, hdf5.dtype_of(dataset), _reversed(path, name))
    return Variables(path.name, entries, notes)


def _reversed(path: Path, name: str) -> Any:
    """MATLAB counts its first axis fastest, HDF5 its last: a row here is a slice of the last axis there."""

    def blocks(rows: int) -> Iterator[np.ndarray]:
        with hdf5.opened(path) as file:
            dataset = file[name]
            for start in range(0, dataset.shape[-1], rows):
                yield hdf5.take(path, name, dataset, np.s_[..., start : start + rows]).T

    return blocks
