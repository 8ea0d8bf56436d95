"""Read xarray objects as variables, with names of axes, units, and labels of points."""

from __future__ import annotations

from typing import Any

import numpy as np

from lfno.core.errors import LfnoError
from lfno.data.files.netcdf import MOST_LABELS
from lfno.data.files.variables import Variable, Variables, first_stamp, labelled


def is_xarray(source: Any) -> bool:
    """Return whether `source` is a DataArray or a Dataset of xarray. This function does not import xarray."""
    return type(source).__module__.split(".")[0] == "xarray" and hasattr(source, "coords") and hasattr(source, "dims")


def from_xarray(source: Any) -> Variables:
    """Return the arrays and coordinates of a DataArray or Dataset as variables.

    Dates become seconds after the first date, and durations become seconds. A coordinate of text with at most MOST_LABELS
    points becomes the labels of its axis.

    Raises LfnoError if the object contains no numbers.
    """
    tree = source if hasattr(source, "data_vars") else source.to_dataset(name=source.name or "data")
    entries: dict[str, Variable] = {}
    labels: dict[str, list[str]] = {}
    for name, array in tree.variables.items():
        values, unit = np.asarray(array.values), str(array.attrs.get("units", ""))
        if values.dtype.kind in "mM":
            start = np.timedelta64(0, "ns") if values.dtype.kind == "m" else first_stamp(values)
            values, unit = (values - start) / np.timedelta64(1, "s"), "s"
        if values.dtype.kind in "fiubc":
            entries[str(name)] = Variable.of(str(name), values, unit, tuple(map(str, array.dims)))
        elif values.ndim == 1 and len(values) <= MOST_LABELS:
            labels[str(array.dims[0])] = [str(value) for value in values]
    if not entries:
        raise LfnoError("the xarray object holds no arrays of numbers")
    return Variables("the arrays", labelled(entries, labels))
