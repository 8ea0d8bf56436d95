"""Read Parquet files: one variable per column, read batch by batch."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from lfno.core.errors import LfnoError
from lfno.core.memory import refuse_bomb
from lfno.data.files.text_header import split_unit
from lfno.data.files.variables import Variable, Variables, first_stamp, reason


def read_parquet(path: Path) -> Variables:
    """Return the columns of the table. Time stamps become seconds after the first stamp; empty cells become NaN.

    Columns of text are listed but not read.
    """
    try:
        import pyarrow as arrow
        from pyarrow import parquet
    except ImportError as error:
        raise LfnoError(f"{path.name}: Parquet needs pyarrow; install it with `pip install lfno[files]`") from error
    try:
        file = parquet.ParquetFile(path, memory_map=True)
        rows, schema = file.metadata.num_rows, file.schema_arrow
    except (arrow.ArrowException, OSError, ValueError) as error:
        raise LfnoError(
            f"{path.name}: this is not a readable Parquet file ({reason(error)}); write it again"
        ) from error
    refuse_bomb(path.name, path.stat().st_size, rows * 8 * len(schema))
    notes: list[str] = []
    entries = {}
    for column in schema:
        stamps = arrow.types.is_timestamp(column.type)
        if stamps:
            notes.append(f"the time stamps of {column.name!r} were turned into seconds from the first")
        dtype = _dtype(arrow, column.type)
        name, unit = split_unit(column.name)
        entries[name] = Variable(
            name, (rows,), dtype, _blocks(parquet, path, column.name, stamps), "s" if stamps else unit
        )
    return Variables(path.name, entries, notes)


def _dtype(arrow: Any, kind: Any) -> np.dtype:
    """Return the dtype of the values that are read from a column. kind: the Arrow type of the column."""
    if arrow.types.is_timestamp(kind):
        return np.dtype(float)
    if arrow.types.is_integer(kind) or arrow.types.is_floating(kind) or arrow.types.is_boolean(kind):
        # empty cells become NaN, which integers cannot hold, so all columns are read as floats
        return np.dtype(np.float32) if str(kind) in ("float", "halffloat") else np.dtype(float)
    return np.dtype(object)


def _blocks(parquet: Any, path: Path, column: str, stamps: bool) -> Any:
    """Return a function that yields blocks of a column. stamps: whether the column holds time stamps."""

    def blocks(rows: int) -> Iterator[np.ndarray]:
        first: np.datetime64[Any] = np.datetime64("NaT")
        for values in _batches(parquet, path, column, rows):
            if stamps:
                first = first_stamp(values) if np.isnat(first) else first
                yield (values - first) / np.timedelta64(1, "s")
            else:
                # pyarrow returns booleans with empty cells as objects
                yield values.astype(float) if values.dtype.kind == "O" else values

    return blocks


def _batches(parquet: Any, path: Path, column: str, rows: int) -> Iterator[np.ndarray]:
    """Yield the values of a column in pieces of at most `rows`, as pyarrow returns them."""
    try:
        with parquet.ParquetFile(path, memory_map=True) as file:
            for batch in file.iter_batches(batch_size=min(rows, 2**20), columns=[column]):
                yield batch.column(0).to_numpy(zero_copy_only=False)
    except (OSError, ValueError, RuntimeError, NotImplementedError) as error:  # Arrow's own errors are subclasses of these
        raise LfnoError(f"{path.name}: {column!r} cannot be read ({reason(error)}); write the file again") from error
