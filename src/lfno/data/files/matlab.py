"""Read MATLAB files of versions 5 to 7, and of version 7.3. A file of version 7.3 is HDF5 with the axes in reverse order."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import h5py
import numpy as np

from lfno.core.errors import LfnoError
from lfno.data.files import hdf5
from lfno.data.files.matlab5 import MOST_ELEMENTS, matrices, too_many
from lfno.data.files.matlab_objects import decoded
from lfno.data.files.variables import Variable, Variables

#: names of MATLAB's numeric classes; a variable of another class (char, …) is left out, and a note says so
NUMERIC = {"double", "single", "logical", *(f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64))}


def read_matlab(path: Path) -> Variables:
    """Return the numeric arrays of a MATLAB file.

    Fields are called `structure.field`, elements of cells `cell{1}`, and elements of structure arrays `structure(1).field`.
    """
    if h5py.is_hdf5(path):
        return _read_hdf5(path)
    notes: list[str] = []
    objects: dict[str, str] = {}
    try:
        entries = {variable.name: variable for variable in matrices(path, notes, objects)}
    except LfnoError as error:
        said = str(error)
        if said.startswith(path.name):
            raise
        raise LfnoError(
            f"{path.name}: this is not a readable MATLAB file ({said}); save it again with `save file.mat -v7`"
        ) from error
    return Variables(path.name, _with_objects(path, entries, objects, notes), notes)


def _with_objects(
    path: Path, entries: dict[str, Variable], objects: dict[str, str], notes: list[str]
) -> dict[str, Variable]:
    """Return `entries` and the arrays inside `objects`. If two arrays have the same name, the array of `entries` is kept."""
    return {variable.name: variable for variable in decoded(path, objects, notes)} | entries if objects else entries


def _read_hdf5(path: Path) -> Variables:
    """Return the numeric arrays of a MATLAB file of version 7.3."""
    notes: list[str] = []
    entries: dict[str, Variable] = {}
    objects: dict[str, str] = {}
    with hdf5.opened(path) as file:
        for name, dataset in hdf5.datasets(path, file, notes):
            kind = hdf5.text_of(dataset.attrs.get("MATLAB_class", "double"))
            if name.startswith("#"):
                continue  # elements of cells are listed under the names of their cells
            if "MATLAB_object_decode" in dataset.attrs:
                objects[name.split("/")[0]] = kind
                continue
            if kind not in NUMERIC or "MATLAB_empty" in dataset.attrs:
                notes.append(f"{name!r} was left out: it is {kind if kind not in NUMERIC else 'empty'}")
                continue
            title = name.replace("/", ".")
            entries[title] = _variable(path, title, name, dataset)
        entries |= {variable.name: variable for variable in _elements(path, file, notes)}
    # `hdf5` adds a note that a cell or structure array (a dataset of references) was left out: remove it if elements were read
    for title in [note.split("'")[1] for note in notes if note.endswith("does not hold numbers and was left out")]:
        if any(name.startswith((f"{title}{{", f"{title.split('/')[0]}(")) for name in entries):
            notes[:] = [note for note in notes if f"{title!r}" not in note]
    # names that begin with # belong to MATLAB's internal storage of cells and objects: the user does not know them
    notes[:] = [note for note in notes if not note.startswith("'#")]
    return Variables(path.name, _with_objects(path, entries, objects, notes), notes)


def _variable(path: Path, title: str, name: str, dataset: h5py.Dataset) -> Variable:
    """Return the dataset `name` as the variable `title`, with the order of the axes in MATLAB."""
    return Variable(title, hdf5.shape_of(dataset)[::-1], hdf5.dtype_of(dataset), _reversed(path, name))


def _elements(path: Path, file: h5py.File, notes: list[str]) -> Iterator[Variable]:
    """Yield the numeric elements of cells, `name{1}`, and of structure arrays, `name(1).field`.

    MATLAB stores cells and structure arrays as datasets of references to their elements. If there are more than MOST_ELEMENTS
    elements, they are left out, and `notes` receives a sentence in place of the sentence of `hdf5`.
    """
    found: list[tuple[str, h5py.Dataset]] = []

    def collect(name: str, item: Any) -> None:
        if isinstance(item, h5py.Dataset) and not name.startswith("#") and h5py.check_ref_dtype(item.dtype) is h5py.Reference:
            found.append((name, item))

    file.visititems(collect)
    for name, dataset in found:
        title, cell = name.replace("/", "."), hdf5.text_of(dataset.attrs.get("MATLAB_class", "")) == "cell"
        parent, _, field = title.rpartition(".")
        if dataset.size > MOST_ELEMENTS:
            notes[:] = [note for note in notes if note != f"{name!r} does not hold numbers and was left out"]
            notes.append(too_many(title, dataset.size))
            continue
        for k, reference in enumerate(np.ravel(dataset[()].T), 1):
            target = file[reference] if reference else None
            if not isinstance(target, h5py.Dataset) or "MATLAB_empty" in target.attrs:
                continue
            kind = hdf5.text_of(target.attrs.get("MATLAB_class", "double"))
            if kind in NUMERIC and hdf5.usable(path, title, target, []):
                element = f"{title}{{{k}}}" if cell or not parent else f"{parent}({k}).{field}"
                yield _variable(path, element, target.name, target)


def _reversed(path: Path, name: str) -> Any:
    """Return a function that yields blocks of the dataset `name` with the axes in reverse order.

    MATLAB stores arrays in column-major order and HDF5 stores them in row-major order. A row of the MATLAB array is therefore a
    slice along the last axis of the dataset.
    """

    def blocks(rows: int) -> Iterator[np.ndarray]:
        with hdf5.opened(path) as file:
            dataset = file[name]
            for start in range(0, dataset.shape[-1], rows):
                yield hdf5.take(path, name, dataset, np.s_[..., start : start + rows]).T

    return blocks
