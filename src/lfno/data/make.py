"""Make the data sets of the registry. A data set is computed once and then read from the cache."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

from lfno.core.errors import LfnoError
from lfno.core.memory import free_disk, human
from lfno.data import storage
from lfno.data.cache import data_directory
from lfno.data.dataset import Dataset
from lfno.data.plan import REPEATS, DType, Plan, Progress
from lfno.systems.registry import find


def plan(name: str, **changes: Any) -> Plan:
    """Return the plan of the data set `name` of the registry. The docstring of `dataset` lists the possible changes."""
    return Plan(find(name), **changes)


def make(what: Plan, out: str | Path | None = None, progress: Progress | None = None) -> tuple[Path, bool]:
    """Make a planned data set, unless its file exists. Return (path of the file, whether the file was made now).

    out: folder of the file; by default the cache.
    progress: called with (number of solved samples, number of all samples).
    Raises LfnoError if the disk has too little free space, or for the reasons that `exists` states.
    """
    path = place(what, out)
    if exists(what, out):
        what.forget_parts()  # delete the parts of an earlier process that was killed after it had saved the file
        return path, False
    needed, free = what.room()[1], free_disk(path)
    if needed > free:
        raise LfnoError(f"making {path} needs about {human(needed)} on the disk, and {human(free)} are free")
    plain = _plain(path, what) if what.steady else None
    data = what.build(progress) if plain is None else plain
    storage.save(what.settle(data, progress) if what.steady else data, path)
    what.forget_parts()
    return path, True


def place(what: Plan, out: str | Path | None = None) -> Path:
    """Return the path of the file of a planned data set, whether the file exists or not."""
    return Path(out or data_directory()) / f"{what.path_name}{storage.SUFFIX}"


def exists(what: Plan, out: str | Path | None = None) -> bool:
    """Return whether the file of a planned data set exists, has the same recipe, and has the steady states if they are planned.

    Raises LfnoError if the folder `out` has a file of the same name that is damaged or not a data set of lfno.
    """
    path = place(what, out)
    return path.exists() and _matches(path, what, mine=out is None)


def _plain(path: Path, what: Plan) -> Dataset | None:
    """Return the data set in the file, with or without steady states; None if the file is damaged or has another recipe."""
    try:
        data = storage.load(path)
    except LfnoError:
        return None
    return data if all(data.provenance.get(key) == value for key, value in what.recipe.items()) else None


def _matches(path: Path, what: Plan, mine: bool) -> bool:
    """Return whether an existing file has the recipe of the plan, and steady states if they are planned.

    mine: whether the file is in our cache. A damaged file in the cache does not match; elsewhere it raises LfnoError.
    """
    try:
        provenance = storage.read_metadata(path)["provenance"]
    except LfnoError as error:
        if mine:
            return False
        raise LfnoError(f"{error}; a new data set cannot replace this file: move it or choose another folder") from error
    complete = not what.steady or provenance.get("steady", {}).get("repeats") == REPEATS
    return complete and all(provenance.get(key) == value for key, value in what.recipe.items())


def dataset(
    name: str,
    out: str | Path | None = None,
    dtype: DType = "float32",
    seed: int = 0,
    steady: bool = False,
    **changes: Any,
) -> Dataset:
    """Return the data set `name` of the registry. The data set is computed on first use and then read from the cache.

    out: folder of the file; by default the cache.
    dtype: "float32" or "float64".
    seed: seed of the random inputs.
    steady: whether to compute the periodic steady state of each sample too (`Dataset.steady`). This takes about ten times
        as long. Raises LfnoError for a system without a steady state (not damped or not forced).
    changes: `count` (number of samples), `grid`, `inputs` (a family, a function of the coordinates or an array on the grid),
        and every parameter of the system. A function is the input of one sample. An array states the number of samples itself.

    >>> data = dataset("heat", count=10)
    >>> data.inputs.shape, data.outputs.shape
    ((10, 1, 50, 50), (10, 1, 50, 50))
    >>> soft = dataset("duffing-c05", beta=0.1, inputs=np.sin, grid=lfno.Grid.line(128, dt=0.01))
    >>> soft.outputs.shape
    (1, 1, 128)
    """
    what = plan(name, dtype=dtype, seed=seed, steady=steady, **changes)
    path, made = make(what, out)
    try:
        data = storage.load(path)
    except LfnoError:
        if made:
            raise
        path.unlink()  # the arrays in the file are damaged: make the data set again
        data = storage.load(make(what, out)[0])
    return data if steady else replace(data, steady=None)  # the file may contain steady states from an earlier call
