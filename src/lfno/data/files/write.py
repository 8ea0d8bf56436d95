"""Write named arrays to a file. The ending of its name states the format."""

from __future__ import annotations

import io
import re
import zipfile
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

import numpy as np

from lfno.core.errors import LfnoError
from lfno.core.grid import with_unit
from lfno.data.files.text_dialect import sniff
from lfno.data.files.variables import Variable
from lfno.data.storage import atomic, created

ROWS = 100_000  # rows: at most this many rows of a table are turned into text at once, so that the text fits into memory


def write(path: str | Path, variables: Sequence[Variable], like: Path | None = None) -> None:
    """Write variables to a file. The file is written completely or not at all.

    path: the file to write.
    variables: arrays with names of axes (`t`, `sample`, `channel`, `x`, …).
    like: a text file. If it has the same ending as `path`, its delimiter and decimal mark are used, unless its columns are
        separated by blanks.

    A table (text, Parquet, NPY) has one row per time step. If there are many trajectories, the table also has a column `sample`
    with the number of the trajectory, from 0. An NPY file contains only the numbers, without the names of the columns.
    Raises LfnoError for an ending without a writer, for a name that the format cannot store, for a field with an axis of space
    in a table, or if a package for the format is not installed.

    >>> t = np.arange(3) * 0.5
    >>> write("answer.csv", [Variable.of("t", t, "s", ("t",)), Variable.of("u", t**2, "m", ("t",))])
    >>> Path("answer.csv").read_text().splitlines()
    ['t [s],u [m]', '0,0', '0.5,0.25', '1,1']
    """
    path = Path(path)
    writer = WRITERS.get(path.suffix.lower())
    if writer is None:
        raise LfnoError(f"{path.name}: files with {path.suffix or 'no ending'} are not written; use {', '.join(WRITERS)}")
    _check_words(path.name, variables, writer is _write_matlab)
    if writer is _write_text:
        writer = partial(_write_text, marks=_marks(path.suffix.lower(), like))
    with atomic(path) as temporary:
        writer(temporary, variables)


def _check_words(file: str, variables: Sequence[Variable], matlab: bool) -> None:
    """Raise LfnoError for a name that is empty or used twice, or a name or unit with signs that the format cannot store."""
    names = [variable.name for variable in variables]
    for variable in variables:
        name, words = variable.name, variable.name + variable.unit
        plain = words.isprintable() and name.strip() == name != "" and not set(words) & set(",;\"#") | set(name) & set("/\\")
        if not plain or names.count(name) > 1 or (matlab and not re.fullmatch(r"[A-Za-z][A-Za-z0-9_]{0,30}", name)):
            unit = f" with the unit {variable.unit!r}" if variable.unit else ""
            raise LfnoError(
                f"{file}: {name!r}{unit} cannot be the name of a variable in this format: the name is empty, given twice, or "
                "has signs that the format cannot store; rename the variable, or choose another ending"
            )


def _values(variable: Variable) -> np.ndarray:
    return variable.array([], keep_double=True)


def _table(variables: Sequence[Variable]) -> dict[str, np.ndarray]:
    """Return columns of equal length: heading with unit -> values. The rows of all trajectories follow each other."""
    axes = {axis for variable in variables for axis in variable.axes}
    if extra := sorted(axes - {"t", "sample", "channel"}):
        raise LfnoError(f"a field with the axis {extra[0]!r} does not fit a table; write an .npz, .mat, .h5 or .nc file")
    samples = next((v.shape[v.axes.index("sample")] for v in variables if "sample" in v.axes), None)
    moments = next(v.shape[v.axes.index("t")] for v in variables if "t" in v.axes)
    columns: dict[str, np.ndarray] = {}
    if samples is not None:
        columns["sample"] = np.repeat(np.arange(samples), moments)
    for variable in variables:
        values = _values(variable)
        if samples is not None and "sample" not in variable.axes:
            values = np.broadcast_to(values, (samples, *values.shape))
        if "channel" in variable.axes:
            place = variable.axes.index("channel") + (0 if "sample" in variable.axes or samples is None else 1)
            for k in range(values.shape[place]):
                columns[with_unit(f"{variable.name}{k}", variable.unit)] = values.take(k, place).ravel()
        else:
            columns[with_unit(variable.name, variable.unit)] = values.ravel()
    return columns


def _marks(ending: str, like: Path | None) -> tuple[str, str]:
    """Return (delimiter, decimal mark) of the file `like`.

    The usual marks of the ending are returned if there is no such file, if it has another ending, or if blanks separate its
    columns.
    """
    usual = "," if ending == ".csv" else "\t", "."
    if like is None or like.suffix.lower() != ending:
        return usual
    found = sniff(like)
    return usual if found.delimiter is None else (found.delimiter, found.decimal)


def _write_text(path: Path, variables: Sequence[Variable], marks: tuple[str, str] = (",", ".")) -> None:
    columns, (delimiter, decimal) = _table(variables), marks
    formats = ["%d" if values.dtype.kind == "i" else "%.9g" for values in columns.values()]
    with path.open("w", encoding="utf-8") as file:
        file.write(delimiter.join(columns) + "\n")
        for start in range(0, len(next(iter(columns.values()))), ROWS):
            lines = io.StringIO()
            np.savetxt(lines, np.stack([values[start : start + ROWS] for values in columns.values()], 1), formats, delimiter)
            file.write(lines.getvalue() if decimal == "." else lines.getvalue().replace(".", decimal))


def _write_npz(path: Path, variables: Sequence[Variable]) -> None:
    with zipfile.ZipFile(path, "w") as archive:
        for variable in variables:
            with archive.open(f"{variable.name}.npy", "w", force_zip64=True) as member:
                np.lib.format.write_array(member, _values(variable), allow_pickle=False)


def _write_npy(path: Path, variables: Sequence[Variable]) -> None:
    with path.open("wb") as file:
        np.save(file, np.stack(list(_table(variables).values()), 1))


def _write_matlab(path: Path, variables: Sequence[Variable]) -> None:
    from scipy.io import savemat

    with path.open("wb") as file:
        savemat(file, {variable.name: _values(variable) for variable in variables}, oned_as="column")


def _write_parquet(path: Path, variables: Sequence[Variable]) -> None:
    try:
        import pyarrow as arrow
        import pyarrow.parquet as parquet
    except ImportError as error:
        raise LfnoError("writing Parquet needs the package pyarrow; install lfno[files]") from error
    parquet.write_table(arrow.table(_table(variables)), path)


def _write_hdf5(path: Path, variables: Sequence[Variable]) -> None:
    with created(path) as file:
        for variable in variables:
            file[variable.name] = _values(variable)
            file[variable.name].attrs["units"] = variable.unit


def _write_netcdf(path: Path, variables: Sequence[Variable]) -> None:
    try:
        import h5netcdf  # noqa: F401
        import xarray
    except ImportError as error:
        raise LfnoError(f"writing NetCDF needs the package {error.name}; install lfno[files]") from error
    tree = {v.name: (v.axes, _values(v), {"units": v.unit} if v.unit else {}) for v in variables}
    # write the bytes with Python, because the HDF5 library would end the process if the disk is full
    path.write_bytes(xarray.Dataset(tree).to_netcdf(engine="h5netcdf"))


#: ending of the file name -> writer
WRITERS: dict[str, Callable[[Path, Sequence[Variable]], None]] = {
    ".npz": _write_npz,
    ".npy": _write_npy,
    ".mat": _write_matlab,
    ".csv": _write_text,
    ".tsv": _write_text,
    ".txt": _write_text,
    ".dat": _write_text,
    ".parquet": _write_parquet,
    ".pq": _write_parquet,
    ".h5": _write_hdf5,
    ".hdf5": _write_hdf5,
    ".hdf": _write_hdf5,
    ".nc": _write_netcdf,
    ".nc4": _write_netcdf,
    ".cdf": _write_netcdf,
}
#: endings of tables, which cannot hold a field with an axis of space
TABLES = tuple(ending for ending, one in WRITERS.items() if one in (_write_text, _write_npy, _write_parquet))
