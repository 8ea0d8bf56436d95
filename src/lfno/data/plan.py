"""The plan of a data set: everything that is needed to make a data set of the registry, with the changes of the user."""

from __future__ import annotations

import hashlib
import math
import shutil
import zipfile
import zlib
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

import numpy as np

from lfno.core.errors import LfnoError
from lfno.core.grid import Grid
from lfno.core.memory import available, human
from lfno.core.version import __version__
from lfno.data import storage
from lfno.data.cache import partial_directory
from lfno.data.dataset import Dataset
from lfno.systems.families import Draws, Family
from lfno.systems.registry import Entry
from lfno.systems.signals import Signal, as_signal, open_mesh
from lfno.systems.steady import TOLERANCE

MOST = 10_000_000  # samples: a larger number is probably a typing error
#: description of the input that is repeated to reach the steady state. The file stores this text. If a file has another text,
#: its steady states were computed with another input, and they are computed again
REPEATS = "samples of the input, joined by a periodic spline"

Progress = Callable[[int, int], None]  # (number of finished samples, number of all samples)
DType = Literal["float32", "float64"]


class Plan:
    """A registry entry with the changes of the user, the inputs, and a recipe that identifies the data set.

    entry: the entry of the registry.
    dtype: "float32" or "float64".
    seed: seed of the random inputs.
    count: number of samples; None takes the number of the entry. It has no effect if `inputs` is an array or a function: an
        array states the number of samples itself, and a function is the input of one sample.
    grid: None takes the grid of the entry.
    inputs: another `Family`, a function of the coordinates or an array on the grid; None takes the family of the entry.
    steady: whether to solve for the periodic steady state of each sample too.
    parameters: values of the parameters of the system.

    Raises LfnoError if an option is not valid, if the system has no steady state, or if the samples do not fit into memory.
    """

    def __init__(
        self,
        entry: Entry,
        dtype: DType = "float32",
        seed: int = 0,
        count: int | None = None,
        grid: Grid | None = None,
        inputs: Family | Signal | Callable[..., Any] | np.ndarray | None = None,
        steady: bool = False,
        **parameters: Any,
    ) -> None:
        if dtype not in ("float32", "float64"):
            raise LfnoError(f"dtype is {dtype!r}: float32 or float64 is needed")
        if count is not None and (isinstance(count, bool) or int(count) != count or not 1 <= count <= MOST):
            raise LfnoError(f"count is {count!r}: a whole number from 1 to {MOST:,} is needed")
        if not isinstance(seed, int) or seed < 0:
            raise LfnoError(f"seed is {seed!r}: a whole number of at least 0 is needed")
        self.entry = replace(entry, grid=grid or entry.grid, count=count or entry.count)
        self.dtype, self.steady = dtype, steady
        self.system = entry.system(**(entry.parameters | parameters))
        self.system.check_grid(self.entry.grid)
        if steady and self.system.unsettled:
            raise LfnoError(f"{entry.name} has no periodic steady state: {self.system.unsettled}")
        self._check_memory(inputs is None)
        self.signal, self.draws = self._draw(entry.family if inputs is None else inputs, seed)
        self.entry = replace(self.entry, count=self.signal.count)
        self.recipe = self._recipe(seed)
        changed = bool(parameters) or grid is not None or count is not None or inputs is not None or seed != 0
        self.path_name = f"{entry.name}-{self.key[:8]}" if changed or dtype != "float32" else entry.name

    def room(self) -> tuple[int, int]:
        """Return an estimate of (bytes in memory, bytes on the disk) that are needed while the data set is made."""
        kept, solved = self._sample()
        count, together = self.entry.count, min(self.system.chunk, self.entry.count)
        # the disk holds the file and, if the data set is made in parts, the parts
        return kept * count + solved * together, kept * count // (2 if together == count else 1)

    def _sample(self) -> tuple[int, int]:
        """Return the bytes of memory that one sample needs: (after it is solved, while it is solved).

        After: two copies in the final type, one in its part and one in the joined array. While: three copies in float64.
        """
        shapes = self.system.signal_grid(self.entry.grid).shape, self.entry.grid.shape
        channels = len(self.system.inputs), len(self.system.outputs)
        numbers = sum(math.prod(shape) * n for shape, n in zip(shapes, channels, strict=True))
        return 2 * np.dtype(self.dtype).itemsize * numbers, 3 * 8 * numbers

    def _check_memory(self, drawn: bool) -> None:
        """Raise LfnoError if the samples do not fit into memory.

        drawn: whether the inputs will be drawn. Inputs that the user gives are in memory already and are not checked.
        """
        needed, free = self.room()[0], available()
        if drawn and needed > free:
            kept, solved = self._sample()
            most = free // (kept + solved)
            if most > self.system.chunk:
                most = (free - solved * self.system.chunk) // kept
            raise LfnoError(
                f"{self.entry.count} samples take about {human(needed)} of memory and {human(free)} are free; "
                f"at most {most} samples would fit"
            )

    def _draw(self, given: Any, seed: int) -> tuple[Signal, Draws]:
        """Return (input signals, random parameters of the inputs). The parameters are {} if the user gives the signals.

        given: a family, from which the parameters are drawn, or signals in a form that `as_signal` accepts.
        """
        if isinstance(given, Family):
            draws = given.draw(self.entry.count, np.random.default_rng(seed))
            return given.signal(draws), draws
        return as_signal(given, self.system.signal_grid(self.entry.grid)), {}

    def _recipe(self, seed: int) -> dict[str, Any]:
        """Return everything that determines the data set. Two plans with equal recipes make equal data sets.

        The recipe contains a hash of input values, so that a changed family or function gives another recipe.
        """
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
            "version": __version__,
        }

    @property
    def key(self) -> str:
        """Return a hash of the recipe."""
        return hashlib.sha256(repr(sorted(self.recipe.items())).encode()).hexdigest()

    def provenance(self) -> dict[str, Any]:
        """Return the recipe and the facts about the system, such as its equation and its solver."""
        system = self.system
        facts: dict[str, Any] = {"equation": system.equation, "conditions": system.conditions, "solver": system.solver}
        facts["folds"] = system.folds
        return self.recipe | facts | {"title": system.title, "kind": system.kind, "accuracy": self.entry.accuracy}

    def build(self, progress: Progress | None = None) -> Dataset:
        """Solve all samples and return the data set.

        Many samples are solved in parts. After an interruption, finished parts are not solved again.
        """
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

    def settle(self, data: Dataset, progress: Progress | None = None) -> Dataset:
        """Return the data set with the periodic steady state of each sample.

        The repeated input is a periodic spline through the samples of the input, because a model knows the input only at the
        samples. The input function itself could jump between its last and its first sample, and a model could not see the jump.
        """
        count, chunk, parts = self.signal.count, self.system.chunk, []
        grid = self.entry.grid
        for first in range(0, count, chunk):
            if progress:
                progress(first, count)
            samples = self.signal[first : first + chunk](*open_mesh(grid))
            parts.append(self.system.steady_state(samples, grid).values)
        steady = np.concatenate(parts).astype(self.dtype)
        settled = int(np.isfinite(steady[:, 0]).reshape(count, -1).all(axis=1).sum())
        facts = {"tolerance": TOLERANCE, "settled": settled, "repeats": REPEATS}
        return replace(data, steady=steady, provenance=data.provenance | {"steady": facts})

    def _part(self, first: int, last: int, file: Path | None) -> tuple[np.ndarray, np.ndarray]:
        """Return (inputs, outputs) of the samples `first` … `last` − 1. They are stored in `file` unless it is None."""
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
        """Return (inputs, outputs) of a part from its file; None if the file is absent, damaged or of another recipe."""
        try:
            with file.open("rb") as stream, np.load(stream) as part:
                if str(part["key"]) == self.key and int(part["first"]) == first:
                    return part["inputs"], part["outputs"]
        except (OSError, ValueError, KeyError, TypeError, EOFError, zipfile.BadZipFile, zlib.error, NotImplementedError):
            pass  # damaged archives raise any of these errors
        return None

    def forget_parts(self) -> None:
        """Delete the files of the parts."""
        shutil.rmtree(partial_directory() / self.key[:16], ignore_errors=True)
