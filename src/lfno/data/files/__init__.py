"""Read files of many formats: `read(path)` returns named variables with units.

>>> from lfno.data.files import READERS
>>> ".csv" in READERS and ".mat" in READERS
True

Modules:
    variables: named arrays with units, the result of every reader
    text: CSV and other text tables
    text_dialect: delimiter, decimal mark and encoding of a text table
    text_header: names and units at the top of a text table
    excel: Excel workbooks
    numpy_files: NPY and NPZ
    hdf5: HDF5
    matlab: MATLAB files of all versions
    matlab5: MATLAB files of versions 5 to 7
    matlab_objects: MATLAB's tables and time series
    netcdf: NetCDF
    parquet: Parquet
    xarray_objects: xarray objects in memory
    write: write named arrays in any of these formats
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from lfno.core.errors import LfnoError
from lfno.data.files.excel import read_excel
from lfno.data.files.hdf5 import read_hdf5
from lfno.data.files.matlab import read_matlab
from lfno.data.files.netcdf import read_netcdf
from lfno.data.files.numpy_files import read_npy, read_npz
from lfno.data.files.parquet import read_parquet
from lfno.data.files.text import read_text
from lfno.data.files.variables import Variable, Variables

#: ending of the file name -> reader
READERS: dict[str, Callable[[Path], Variables]] = {
    ".npz": read_npz,
    ".npy": read_npy,
    ".mat": read_matlab,
    ".csv": read_text,
    ".tsv": read_text,
    ".txt": read_text,
    ".dat": read_text,
    ".parquet": read_parquet,
    ".pq": read_parquet,
    ".h5": read_hdf5,
    ".hdf5": read_hdf5,
    ".hdf": read_hdf5,
    ".nc": read_netcdf,
    ".nc4": read_netcdf,
    ".cdf": read_netcdf,
    ".xlsx": read_excel,
}

#: first bytes of a file -> its format in words, and its reader; None if there is no reader
MAGIC: dict[bytes, tuple[str, Callable[[Path], Variables] | None]] = {
    b"\x93NUMPY": ("a NumPy array (.npy)", read_npy),
    b"PK\x03\x04": ("a ZIP archive (.npz or .xlsx)", read_npz),
    b"PK\x05\x06": ("an empty ZIP archive", read_npz),
    b"\x89HDF\r\n\x1a\n": ("an HDF5 file (.h5)", read_hdf5),
    b"MATLAB 5.0": ("a MATLAB file (.mat)", read_matlab),
    b"MATLAB 7.3": ("a MATLAB 7.3 file (.mat)", read_matlab),
    b"PAR1": ("a Parquet file (.parquet)", read_parquet),
    b"CDF\x01": ("a NetCDF file (.nc)", read_netcdf),
    b"CDF\x02": ("a NetCDF file (.nc)", read_netcdf),
    b"CDF\x05": ("a NetCDF file of the 64-bit data variant; convert it with `nccopy -k nc4`", None),
    b"\x1f\x8b": ("a gzip file; unpack it first", None),
    b"\x80\x04": ("a Python pickle, which could run code; save the arrays with numpy.savez instead", None),
    b"\x80\x05": ("a Python pickle, which could run code; save the arrays with numpy.savez instead", None),
}
#: readers that also accept HDF5 files
HDF5_INSIDE = (read_netcdf, read_matlab)
#: readers whose files are ZIP archives
ZIP_INSIDE = (read_npz, read_excel)


def read(path: str | Path) -> Variables:
    """Read the variables of a file. The values are read lazily if the format allows it.

    The ending of the file name states the format. The first bytes of the file must agree with this format.
    Raises LfnoError if they do not agree, or if the file holds no arrays of numbers.
    """
    path = Path(path)
    if path.is_dir():
        raise LfnoError(f"{path}: this is a folder; name a file in it")
    reader = READERS.get(path.suffix.lower())
    if reader is None:
        ending = path.suffix or "no ending"
        raise LfnoError(f"{path.name}: files with {ending} are not read; convert to one of {', '.join(READERS)}")
    if not path.exists():
        raise LfnoError(f"{path}: there is no such file")
    if not path.is_file():
        raise LfnoError(f"{path}: this is not a file")
    with path.open("rb") as file:
        start = file.read(16)
    if not start:
        raise LfnoError(f"{path.name}: the file is empty (0 bytes)")
    _check_format(path.name, start, reader)
    variables = reader(path)
    if not variables.entries:
        raise LfnoError("; ".join([f"{path.name}: the file holds no arrays of numbers", *variables.notes[:2]]))
    return variables


def _check_format(name: str, start: bytes, reader: Callable[[Path], Variables]) -> None:
    """Raise LfnoError if the first bytes of a file, `start`, show another format than the ending of its name."""
    found = next((entry for magic, entry in MAGIC.items() if start.startswith(magic)), None)
    ending = Path(name).suffix
    if found is None:
        # these formats have no fixed first bytes: MATLAB and HDF5 files may begin with a text of the user
        if reader in (read_text, read_matlab, read_hdf5):
            return
        raise LfnoError(f"{name}: this is not a {ending} file (it begins with {start[:8]!r}); check how it was written")
    what, its_reader = found
    if its_reader is reader or (its_reader is read_hdf5 and reader in HDF5_INSIDE):
        return
    if its_reader is read_npz and reader in ZIP_INSIDE:
        return
    raise LfnoError(f"{name}: the name ends in {ending} but the content is {what}")


__all__ = ["READERS", "Variable", "Variables", "read"]
