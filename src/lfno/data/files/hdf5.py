"""Read HDF5 files. The values of a dataset are read only when they are needed."""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import h5py
import numpy as np

from lfno.core.errors import LfnoError
from lfno.core.memory import refuse_bomb
from lfno.data.files.variables import Variable, Variables, reason

OBJECTS = 10_000  # objects: at most this many are read; a file of measurements has fewer


def read_hdf5(path: Path) -> Variables:
    """Return the datasets of the file, named by their paths (`run1/force`).

    Units come from the attribute `units` or `unit`. Names of axes come from dimension labels or dimension scales.
    """
    notes: list[str] = []
    with opened(path) as file:
        entries = {
            name: Variable(
                name, shape_of(dataset), dtype_of(dataset), lazy(path, name), unit_of(dataset), axes_of(dataset)
            )
            for name, dataset in datasets(path, file, notes)
        }
    return Variables(path.name, entries, notes)


def opened(path: Path) -> h5py.File:
    """Open the file to read. Raises LfnoError if the file is not HDF5 or is damaged."""
    try:
        return h5py.File(path, "r")
    except (OSError, ValueError, RuntimeError) as error:
        raise LfnoError(
            f"{path.name}: this is not a readable HDF5 file ({reason(error)}); write it again"
        ) from error


def datasets(path: Path, file: h5py.File, notes: list[str]) -> list[tuple[str, h5py.Dataset]]:
    """Return (name, dataset) of all datasets with numbers. No other file is opened, because every link is checked first.

    notes: receives a sentence for each object that is left out, except objects that only describe the axes of others.
    Raises LfnoError if the file is damaged or refers to another file.
    """
    found: list[tuple[str, h5py.Dataset]] = []
    seen: set[Any] = set()

    def walk(group: h5py.Group, prefix: str) -> None:
        for key in group:
            name = f"{prefix}{key}"
            link = group.get(key, getlink=True)
            refuse_outside(path, name, link)
            if isinstance(link, h5py.SoftLink):
                # the path of a soft link may lead to another file; a target in this file is listed under its own path
                notes.append(f"{name!r} is a link to {link.path!r} and was left out")
                continue
            item = group[key]
            address = h5py.h5o.get_info(item.id).addr
            if address in seen or len(seen) > OBJECTS:
                listed = "another name of an object that is already listed"
                why = listed if address in seen else f"after the first {OBJECTS} objects"
                notes.append(f"{name!r} is {why} and was left out")
                continue
            seen.add(address)
            if isinstance(item, h5py.Group):
                walk(item, f"{name}/")
            elif isinstance(item, h5py.Dataset) and usable(path, name, item, notes):
                found.append((name, item))

    try:
        walk(file, "")
    except (OSError, RuntimeError, KeyError, ValueError, RecursionError) as error:
        if isinstance(error, LfnoError):
            raise
        raise LfnoError(f"{path.name}: the HDF5 file is damaged ({reason(error)}); write it again") from error
    return found


def refuse_outside(path: Path, name: str, link: Any) -> None:
    """Raise LfnoError if a link leads to another file."""
    if isinstance(link, h5py.ExternalLink):
        raise LfnoError(
            f"{path.name}: {name!r} is a link to another file ({link.filename}), which is not followed; "
            "copy the data into this file"
        )


def usable(path: Path, name: str, dataset: h5py.Dataset, notes: list[str]) -> bool:
    """Return whether a dataset holds numbers. If not, the reason is added to `notes`.

    Raises LfnoError if the values are in another file, or if the stated size of the dataset is implausible (`refuse_bomb`).
    """
    if dataset.external is not None or dataset.is_virtual:
        raise LfnoError(f"{path.name}: {name!r} keeps its values in another file, which is not opened; copy them here")
    if dataset.shape is None or math.prod(dataset.shape) == 0:
        scale = "DIMENSION_SCALE" in str(dataset.attrs.get("CLASS", ""))
        notes.extend([] if scale else [f"{name!r} is empty and was left out"])
        return False
    if text_of(dataset.attrs.get("NAME", "")).startswith("This is a netCDF dimension but not a netCDF variable"):
        return False
    refuse_bomb(f"{path.name}: {name!r}", dataset.id.get_storage_size(), dataset.nbytes)
    if dtype_of(dataset).kind not in "fiubc":
        notes.append(f"{name!r} does not hold numbers and was left out")
        return False
    return True


def shape_of(dataset: h5py.Dataset) -> tuple[int, ...]:
    """Return the shape; (1,) for a scalar."""
    return tuple(dataset.shape) or (1,)


def dtype_of(dataset: h5py.Dataset) -> np.dtype:
    """Return the type of the values. MATLAB stores a complex value as a pair (real, imag), h5py as a pair (r, i)."""
    names = dataset.dtype.names
    return np.dtype(complex) if names in (("real", "imag"), ("r", "i")) else dataset.dtype


def lazy(path: Path, name: str) -> Any:
    """Return a function that yields blocks of the dataset `name` along its first axis.

    Each call of the function opens and closes the file.
    """

    def blocks(rows: int) -> Iterator[np.ndarray]:
        with opened(path) as file:
            dataset = file[name]
            if dataset.shape == ():
                yield np.atleast_1d(dataset[()])
                return
            for start in range(0, dataset.shape[0], rows):
                yield take(path, name, dataset, np.s_[start : start + rows])

    return blocks


def take(path: Path, name: str, dataset: h5py.Dataset, where: Any) -> np.ndarray:
    """Return `dataset[where]`. Raises LfnoError if the values cannot be read."""
    try:
        return dataset[where]
    except (OSError, RuntimeError) as error:
        raise LfnoError(
            f"{path.name}: {name!r} cannot be read ({reason(error)}); the file is damaged or uses a "
            "compression that is not installed"
        ) from error


def text_of(value: Any) -> str:
    """Return an attribute of HDF5 (bytes, text or an array of one of them) as text."""
    if isinstance(value, np.ndarray):
        value = value.ravel()[0] if value.size == 1 else ""
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value)


def unit_of(dataset: h5py.Dataset) -> str:
    """Return the unit in the attributes; "" if there is none."""
    return next((text_of(dataset.attrs[key]) for key in ("units", "unit", "Units", "Unit") if key in dataset.attrs), "")


def axes_of(dataset: h5py.Dataset) -> tuple[str, ...]:
    """Return the names of the axes from their labels or dimension scales; () if an axis has no name."""
    names = []
    try:
        for dimension in dataset.dims:
            scale = dimension[0].name if len(dimension) else None
            names.append(dimension.label or (scale.rsplit("/", 1)[-1] if scale else ""))
        if dataset.is_scale and dataset.ndim == 1 and names == [""]:
            names = [dataset.name.rsplit("/", 1)[-1]]
    except (RuntimeError, KeyError, ValueError, OSError):
        return ()  # the dimension scales are damaged, but the values can still be read
    return tuple(names) if all(names) else ()
