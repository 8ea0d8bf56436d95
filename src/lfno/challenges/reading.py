"""Read the files of a benchmark from a path or from the cache of the package `nonlinear_benchmarks`."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from fnmatch import fnmatch
from pathlib import Path

import numpy as np

from lfno.challenges.layout import Challenge, Part, Sampling
from lfno.challenges.protocol import Record
from lfno.challenges.table import SITE
from lfno.core.errors import LfnoError
from lfno.data.files import read
from lfno.data.files.variables import Variables

#: smallest number of samples that a record must have after its first `skip` samples, which are only for the initial state
SHORTEST = 8


def cache_folder() -> Path:
    """Return the folder in which the package `nonlinear_benchmarks` stores its downloads."""
    if sys.platform == "darwin":
        return Path.home() / "Library/Application Support/nonlinear_benchmarks"
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA", Path.home())) / "nonlinear_benchmarks"
    return Path.home() / ".nonlinear_benchmarks"


class Files:
    """The files of one benchmark. Each file is read once."""

    def __init__(self, challenge: Challenge, path: str | Path | None) -> None:
        self.challenge = challenge
        self.place = Path(path) if path is not None else self._cached()
        if not self.place.exists():
            raise LfnoError(f"{self.place}: there is no such file or folder")
        self.read: dict[Path, Variables] = {}

    def _cached(self) -> Path:
        folder = cache_folder() / self.challenge.folder
        if not self.challenge.folder or not folder.is_dir():
            names = ", ".join(self.challenge.files)
            raise LfnoError(
                f"{self.challenge.name} needs its data: download them from {SITE}, then give the folder with {names} "
                "(--data PATH). The program downloads nothing by itself."
            )
        return folder

    def find(self, pattern: str, without: str = "") -> list[Path]:
        """Return the files whose name matches `pattern`, in the folder and its subfolders.

        If the path is a file and the benchmark has only one file, this file is returned, whatever its name is.
        """
        if self.place.is_file():
            if len(self.challenge.files) > 1 or "*" in pattern:
                raise LfnoError(f"{self.place} is one file; {self.challenge.name} needs the folder of its files")
            return [self.place]
        found = [path for path in sorted(self.place.rglob("*")) if fnmatch(path.name.lower(), pattern.lower())]
        found = [path for path in found if path.is_file() and not (without and without in path.name)]
        if not found:
            raise LfnoError(f"{self.place}: {self.challenge.name} needs {pattern}, and no file in this folder has that name")
        if "*" not in pattern and len(found) > 1:
            raise LfnoError(f"{self.place} has {len(found)} files called {pattern}: {found[0]} and {found[1]}; "
                            "give the folder of one of them")
        return found

    def array(self, path: Path, name: str) -> np.ndarray:
        """Return one array of a file as float64; raise LfnoError if the array is missing, empty, complex or not finite."""
        if path not in self.read:
            self.read[path] = read(path)
        values = np.asarray(self.read[path][name].array([]), dtype=np.float64)
        if not values.size or not np.isfinite(values).all():
            raise LfnoError(f"{path.name}: {name!r} is empty or holds values that are not finite; download the file again")
        return values


def read_parts(files: Files, parts: tuple[Part, ...], skip: int) -> tuple[list[Record], list[float]]:
    """Return the records of the parts, and the sampling interval in seconds of each file."""
    records, steps = [], []
    for part in parts:
        for path in files.find(part.file, part.without):
            other = files.find(part.outputs_file)[0] if part.outputs_file else path
            inputs, outputs = files.array(path, part.inputs), files.array(other, part.outputs)
            records += list(_records(part, path, inputs, outputs, skip))
            steps.append(_step(files, path, files.challenge.sampling))
    return records, steps


def _records(part: Part, path: Path, inputs: np.ndarray, outputs: np.ndarray, skip: int) -> Iterator[Record]:
    """Yield the records in the arrays of one file. Raise LfnoError if the arrays do not have the expected shapes."""
    pair = [_ordered(values, part, path.name, name) for values, name in ((inputs, part.inputs), (outputs, part.outputs))]
    if part.channels is not None:
        found, needed = pair[1].shape[3], max(part.channels) + 1
        if found < needed:
            raise LfnoError(f"{path.name}: {part.outputs!r} has {found} channels; {needed} are needed")
        pair[1] = pair[1][:, :, :, list(part.channels)]
    shapes = [values.shape[:3] + values.shape[4:] for values in pair]
    if shapes[0] != shapes[1]:
        raise LfnoError(f"{path.name}: {part.inputs!r} {inputs.shape} and {part.outputs!r} {outputs.shape} do not fit together")
    names = part.figure if isinstance(part.figure, tuple) else (part.figure or path.stem,)
    if len(names) != len(pair[0]):
        raise LfnoError(f"{path.name}: {part.inputs!r} has {len(pair[0])} levels; this benchmark has {len(names)}")
    levels, realisations, _, _, samples = pair[0].shape
    if samples < (part.stop or 0) or samples - part.start < skip + SHORTEST:
        raise LfnoError(f"{path.name}: {part.inputs!r} has {samples} samples; the benchmark needs samples up to "
                        f"{part.stop or part.start + skip + SHORTEST}: the file is incomplete, or not a file of this "
                        "benchmark")  # fmt: skip
    pair = [values[..., part.start : part.stop] for values in pair]
    period = pair[0].shape[-1] if part.periodic else 0
    for level in range(levels):
        for r in range(realisations):
            signals = [values[level, r] for values in pair]  # (period, channel, time)
            if part.joined:
                signals = [np.concatenate(list(values), axis=-1)[None] for values in signals]
            for force, motion in zip(*signals, strict=True):
                yield Record(names[level], force, motion, period, part.rest)


def _ordered(values: np.ndarray, part: Part, file: str, name: str) -> np.ndarray:
    """Return the array with the axes (level, realisation, period, channel, time)."""
    if part.axes == "t":
        values = values.reshape(values.shape or (1,))
        if values.size != max(values.shape):
            raise LfnoError(f"{file}: {name!r} has shape {values.shape}; one signal (a row or a column) is needed")
        return values.reshape(1, 1, 1, 1, -1)
    if part.axes == "ct" and values.ndim == 1:
        values = values[None]
    if values.ndim == len(part.axes) - 1 and part.axes.endswith("l"):  # MATLAB removes a last axis of length one
        values = values[..., None]
    if values.ndim != len(part.axes):
        words = {"t": "time", "c": "channel", "r": "realisation", "p": "period", "l": "level"}
        axes = ", ".join(words[letter] for letter in part.axes)
        raise LfnoError(f"{file}: {name!r} has shape {values.shape}; the axes ({axes}) are needed")
    missing = [letter for letter in "lrpct" if letter not in part.axes]
    values = values.reshape(*(1 for _ in missing), *values.shape)
    axes = "".join(missing) + part.axes
    return values.transpose([axes.index(letter) for letter in "lrpct"])


def _step(files: Files, path: Path, sampling: Sampling) -> float:
    """Return the sampling interval in seconds."""
    if not sampling.array:
        return 1 / sampling.hertz
    values = files.array(path, sampling.array).ravel()
    if sampling.holds == "times":
        values = values[1:2] - values[:1]
    step = float(values[0]) if len(values) else 0.0
    if not step > 0:
        raise LfnoError(f"{path.name}: {sampling.array!r} does not give a sampling rate: it begins with {values[:2].tolist()}")
    return 1 / step if sampling.holds == "rate" else step
