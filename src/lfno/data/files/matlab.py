"""MATLAB files: versions 5 to 7, and version 7.3, which is HDF5 inside with the axes stored in reverse."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import h5py
import numpy as np

from lfno.core.errors import LfnoError
from lfno.data.files import hdf5
from lfno.data.files.matlab5 import matrices
from lfno.data.files.variables import Variable, Variables

#: MATLAB's names of its numeric classes; the rest (cell, char, …) is listed in the notes
NUMERIC = {"double", "single", "logical", *(f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64))}


def read_matlab(path: Path) -> Variables:
    """Numeric arrays by name, fields of structures as `structure.field`."""
    if h5py.is_hdf5(path):
        return _read_hdf5(path)
    notes: list[str] = []
    try:
        entries = {variable.name: variable for variable in matrices(path, notes)}
    except LfnoError as error:
        said = str(error)
        if said.startswith(path.name):
            raise
        raise LfnoError(
            f"{path.name}: this is not a readable MATLAB file ({said}); save it again with `save file.mat -v7`"
        ) from error
    return Variables(path.name, entries, notes)


def _read_hdf5(path: Path) -> Variables:
    notes: list[str] = []
    entries = {}
    with hdf5.opened(path) as file:
        for name, dataset in hdf5.datasets(path, file, notes):
            kind = hdf5.text_of(dataset.attrs.get("MATLAB_class", "double"))
            if name.startswith("#") or kind not in NUMERIC or "MATLAB_empty" in dataset.attrs:
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
