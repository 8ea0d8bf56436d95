"""Read NetCDF files: SciPy reads the classic format, and the module `hdf5` reads NetCDF-4. Packed values are unpacked."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import h5py
import numpy as np

from lfno.core.errors import LfnoError
from lfno.data.files import hdf5
from lfno.data.files.variables import Variable, Variables, labelled, reason

MOST_LABELS = 1000  # points: the labels of an axis are read only if it has at most this many points


def read_netcdf(path: Path) -> Variables:
    """Return the variables. Dimensions become names of axes.

    The attributes `scale_factor`, `add_offset`, `_FillValue` and `missing_value` are applied to the values.
    """
    return _read_hdf5(path) if h5py.is_hdf5(path) else _read_classic(path)


def _read_hdf5(path: Path) -> Variables:
    """Return the variables of a NetCDF-4 file."""
    variables = hdf5.read_hdf5(path)
    with hdf5.opened(path) as file:
        attributes = {name: dict(file[name].attrs) for name in variables}
        labels = {hdf5.axes_of(item)[0]: _texts(item[()]) for item in file.values() if _names_points(item)}
    for name, variable in variables.entries.items():
        variables.entries[name] = _unpacked(variable, attributes[name], variables.notes)
    return _with_labels(variables, labels)


def _names_points(item: Any) -> bool:
    """Return whether `item` is a dataset with the labels of an axis: strings (points,) or letters (points, letters)."""
    if not isinstance(item, h5py.Dataset) or not item.shape or item.shape[0] > MOST_LABELS or not hdf5.axes_of(item):
        return False
    return (item.ndim == 1 and h5py.check_string_dtype(item.dtype) is not None) or (item.ndim == 2 and item.dtype == "S1")


def _texts(values: np.ndarray) -> list[str]:
    """Return the labels of an axis from strings (points,) or letters (points, letters)."""
    rows = [row if values.ndim == 1 else b"".join(row.tolist()) for row in values]
    return [(row.decode("utf-8", "replace") if isinstance(row, bytes) else str(row)).strip("\0 ") for row in rows]


def _with_labels(variables: Variables, labels: dict[str, list[str]]) -> Variables:
    """Return the variables with labels, without the notes that say that these labels were left out."""
    told = {f"{axis!r} does not hold numbers and was left out" for axis in labels}
    notes = [note for note in variables.notes if note not in told]
    return Variables(variables.source, labelled(variables.entries, labels), notes)


def _read_classic(path: Path) -> Variables:
    """Return the variables of a file in the classic format."""
    from scipy import io

    notes: list[str] = []
    entries, labels = {}, {}
    try:
        with _quietly(io.netcdf_file, path) as file:
            for name, variable in file.variables.items():
                if variable.data.dtype == "S1" and variable.data.ndim == 2 and len(variable.data) <= MOST_LABELS:
                    labels[variable.dimensions[0]] = _texts(np.array(variable.data))
                if variable.data.dtype.kind not in "fiu" or 0 in variable.data.shape:
                    notes.append(f"{name!r} does not hold numbers and was left out")
                    continue
                axes = tuple(variable.dimensions) if variable.data.shape else ()
                # copy the array, because SciPy cannot close a file while arrays refer to it
                entry = Variable.of(name, np.array(variable.data), hdf5.text_of(getattr(variable, "units", "")), axes)
                entries[name] = _unpacked(entry, variable._attributes, notes)
    except LfnoError:
        raise
    except Exception as error:  # damaged bytes make SciPy's reader raise errors of many kinds
        raise LfnoError(f"{path.name}: this is not a readable NetCDF file ({reason(error)}); write it again") from error
    return _with_labels(Variables(path.name, entries, notes), labels)


def _quietly(open_file: Callable[..., Any], path: Path) -> Any:
    """Open a file without the warnings of SciPy."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return open_file(path, "r", mmap=False)


def _unpacked(variable: Variable, attributes: dict[str, Any], notes: list[str]) -> Variable:
    """Return the variable with unpacked values: stored value · scale_factor + add_offset, and NaN for missing values.

    A stored value is missing if it equals the attribute `_FillValue` or `missing_value`.
    """
    fills = [attributes[key] for key in ("_FillValue", "missing_value") if key in attributes]
    packing = "scale_factor" in attributes or "add_offset" in attributes
    if not (fills or packing):
        return variable
    scale, offset = (float(np.ravel(attributes.get(k, d))[0]) for k, d in (("scale_factor", 1), ("add_offset", 0)))
    if packing:
        notes.append(f"{variable.name!r} was unpacked with scale factor {scale:g} and offset {offset:g}")

    def blocks(rows: int) -> Iterator[np.ndarray]:
        for block in variable.blocks(rows):
            values = block.astype(float) * scale + offset
            for fill in fills:
                values[block == np.ravel(fill)[0]] = np.nan
            yield values

    return replace(variable, blocks=blocks, dtype=np.dtype(float), mapped=None)
