"""Making data sets: from a name in the registry to a file in the cache, once."""

from __future__ import annotations

import hashlib
import shutil
import zipfile
import zlib
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

import numpy as np

import lfno
from lfno.data import storage
from lfno.data.cache import data_directory, partial_directory
from lfno.data.dataset import Dataset
from lfno.errors import LfnoError
from lfno.grid import Grid
from lfno.systems.families import Draws, Family
from lfno.systems.registry import Entry, find
from lfno.systems.signals import Signal, as_signal, open_mesh

Progress = Callable[[int, int], None]  # (samples done, samples in all)
DType = Literal["float32", "float64"]


class Plan:
    """What a data set will be: the entry with the user's changes, its inputs drawn, and a recipe that identifies it.

    `inputs` replaces the family of the entry: another `Family`, a function of the coordinates or an array on the grid.
    All other changes are values of the system's parameters.
    """

    def __init__(
        self,
        entry: Entry,
        dtype: DType = "float32",
        seed: int = 0,
        count: int | None = None,
        grid: Grid | None = None,
        inputs: Family | Signal | Callable[..., Any] | np.ndarray | None = None,
        **parameters: Any,
    ) -> None:
        if dtype not in ("float32", "float64"):
            raise LfnoError(f"dtype is {dtype!r}: float32 or float64 is needed")
        if count is not None and (isinstance(count, bool) or int(count) != count or count < 1):
            raise LfnoError(f"count is {count!r}: a whole number of at least 1 is needed")
        if not isinstance(seed, int) or seed < 0:
            raise LfnoError(f"seed is {seed!r}: a whole number of at least 0 is needed")
        self.entry = replace(entry, grid=grid or entry.grid, count=count or entry.count)
        self.dtype = dtype
        self.system = entry.system(**(entry.parameters | parameters))
        self.system.check_grid(self.entry.grid)
        self.signal, self.draws = self._draw(entry.family if inputs is None else inputs, seed)
        self.recipe = self._recipe(seed)
        changed = bool(parameters) or grid is not None or count is not None or inputs is not None or seed != 0
        self.path_name = f"{entry.name}-{self.key[:8]}" if changed or dtype != "float32" else entry.name

    def _draw(self, given: Any, seed: int) -> tuple[Signal, Draws]:
        if isinstance(given, Family):
            draws = given.draw(self.entry.count, np.random.default_rng(seed))
            return given.signal(draws), draws
        return as_signal(given, self.system.signal_grid(self.entry.grid)), {}

    def _recipe(self, seed: int) -> dict[str, Any]:
        # the inputs are named by what they are, so that a changed family or function is another recipe
        fingerprint = hashlib.sha256()
        ends = [self.signal[:1], self.signal[self.signal.count - 1 :]]
        where = open_mesh(self.system.signal_grid(self.entry.grid))
        for values in [*self.draws.values(), *(one(*where) for one in ends)] if self.draws else [self.signal(*where)]:
            fingerprint.update(np.ascontiguousarray(values).tobytes())
        return {
            "name": self.entry.name,
            "system": self.entry.system.__name__,
            "parameters": self.system.values,
            "grid": self.entry.grid.to_dict(),
            "count": self.signal.count,
            "inputs": fingerprint.hexdigest(),
            "seed": seed,
            "dtype": self.dtype,
            "version": lfno.__version__,
        }

    @property
    def key(self) -> str:
        return hashlib.sha256(repr(sorted(self.recipe.items())).encode()).hexdigest()

    def provenance(self) -> dict[str, Any]:
        system = self.system
        facts = {"equation": system.equation, "conditions": system.conditions, "solver": system.solver}
        return self.recipe | facts | {"title": system.title, "kind": system.kind, "accuracy": self.entry.accuracy}

    def build(self, progress: Progress | None = None) -> Dataset:
        """Solve all samples, in parts where there are many; finished parts survive an interruption."""
        count, chunk = self.signal.count, self.system.chunk
        folder = partial_directory() / self.key[:16]
        parts = []
        for first in range(0, count, chunk):
            last = min(first + chunk, count)
            if progress:
                progress(first, count)
            parts.append(self._part(first, last, folder / f"{first:06d}.npz" if chunk < count else None))
        if progress:
            progress(count, count)
        inputs, outputs = (np.concatenate(arrays) for arrays in zip(*parts, strict=True))
        channels = self.system.inputs, self.system.outputs
        return Dataset(inputs, outputs, self.entry.grid, self.draws, *channels, self.provenance())

    def _part(self, first: int, last: int, file: Path | None) -> tuple[np.ndarray, np.ndarray]:
        stored = None if file is None else self._stored(file, first)
        if stored is not None:
            return stored
        fields = self.system.record(self.signal[first:last], self.entry.grid)
        inputs, outputs = (values.astype(self.dtype) for values in fields)
        if file is not None:
            with storage.atomic(file) as temporary, open(temporary, "wb") as stream:
                np.savez(stream, inputs=inputs, outputs=outputs, key=self.key, first=first)
        return inputs, outputs

    def _stored(self, file: Path, first: int) -> tuple[np.ndarray, np.ndarray] | None:
        """A part that was finished before; None if there is none, or it is damaged or another: it is solved again."""
        try:
            with file.open("rb") as stream, np.load(stream) as part:
                if str(part["key"]) == self.key and int(part["first"]) == first:
                    return part["inputs"], part["outputs"]
        except (OSError, ValueError, KeyError, TypeError, EOFError, zipfile.BadZipFile, zlib.error, NotImplementedError):
            pass  # what damaged archives raise
        return None

    def forget_parts(self) -> None:
        shutil.rmtree(partial_directory() / self.key[:16], ignore_errors=True)


def plan(name: str, **changes: Any) -> Plan:
    """The plan of the data set of that name in the registry; see `dataset` for what may be changed."""
    return Plan(find(name), **changes)


def make(what: Plan, out: str | Path | None = None, progress: Progress | None = None) -> tuple[Path, bool]:
    """The file of a planned data set and whether it had to be made; one that exists and matches is left alone."""
    path = place(what, out)
    if exists(what, out):
        return path, False
    storage.save(what.build(progress), path)
    what.forget_parts()
    return path, True


def place(what: Plan, out: str | Path | None = None) -> Path:
    """Where the file of a planned data set is or will be."""
    return Path(out or data_directory()) / f"{what.path_name}{storage.SUFFIX}"


def exists(what: Plan, out: str | Path | None = None) -> bool:
    path = place(what, out)
    return path.exists() and _matches(path, what.recipe, mine=out is None)


def _matches(path: Path, recipe: dict[str, Any], mine: bool) -> bool:
    try:
        provenance = storage.read_metadata(path)["provenance"]
    except LfnoError as error:
        if mine:
            return False  # a damaged file in the cache is simply made again
        raise LfnoError(f"{error}; it is in the way of a new data set: move it or choose another folder") from error
    return all(provenance.get(key) == value for key, value in recipe.items())


def dataset(
    name: str, out: str | Path | None = None, dtype: DType = "float32", seed: int = 0, **changes: Any
) -> Dataset:
    """The data set of that name: made on first use, then read from the cache (or from the folder `out`).

    Everything can be changed: `count`, `grid`, `inputs` (a family, a function of the coordinates or an array on the
    grid) and every parameter of the system.

    >>> data = dataset("duffing-c05")                                          # doctest: +SKIP
    >>> soft = dataset("duffing-c05", beta=0.1, inputs=lambda t: np.sin(t))    # doctest: +SKIP
    """
    what = plan(name, dtype=dtype, seed=seed, **changes)
    path, made = make(what, out)
    try:
        return storage.load(path)
    except LfnoError:
        if made:
            raise
        path.unlink()  # damaged in its data: what was made once can be made again
        return storage.load(make(what, out)[0])
