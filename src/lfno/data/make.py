"""Making data sets: from a name in the registry to a file in the cache, once."""

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
    """The plan of the data set of that name in the registry; see `dataset` for what may be changed."""
    return Plan(find(name), **changes)


def make(what: Plan, out: str | Path | None = None, progress: Progress | None = None) -> tuple[Path, bool]:
    """The file of a planned data set and whether it had to be made; one that exists and matches is left alone."""
    path = place(what, out)
    if exists(what, out):
        what.forget_parts()  # left by a process that was killed after its last step but one
        return path, False
    needed, free = what.room()[1], free_disk(path)
    if needed > free:
        raise LfnoError(f"{path} takes about {human(needed)} on disk while it is made and {human(free)} are free")
    plain = _plain(path, what) if what.steady else None
    data = what.build(progress) if plain is None else plain
    storage.save(what.settle(data, progress) if what.steady else data, path)
    what.forget_parts()
    return path, True


def place(what: Plan, out: str | Path | None = None) -> Path:
    """Where the file of a planned data set is or will be."""
    return Path(out or data_directory()) / f"{what.path_name}{storage.SUFFIX}"


def exists(what: Plan, out: str | Path | None = None) -> bool:
    path = place(what, out)
    return path.exists() and _matches(path, what, mine=out is None)


def _plain(path: Path, what: Plan) -> Dataset | None:
    """The data set as it was made before, without its steady states; None where it must be made anew."""
    try:
        data = storage.load(path)
    except LfnoError:
        return None
    return data if all(data.provenance.get(key) == value for key, value in what.recipe.items()) else None


def _matches(path: Path, what: Plan, mine: bool) -> bool:
    try:
        provenance = storage.read_metadata(path)["provenance"]
    except LfnoError as error:
        if mine:
            return False  # a damaged file in the cache is simply made again
        raise LfnoError(f"{error}; it is in the way of a new data set: move it or choose another folder") from error
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
    """The data set of that name: made on first use, then read from the cache (or from the folder `out`).

    With `steady` it also has the periodic steady state of each sample (`Dataset.steady`), which takes about ten times
    as long to solve; a system without one (not damped, not forced) is an error. Everything can be changed: `count`,
    `grid`, `inputs` (a family, a function of the coordinates or an array on the grid) and every parameter of the
    system.

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
        path.unlink()  # damaged in its data: what was made once can be made again
        data = storage.load(make(what, out)[0])
    return data if steady else replace(data, steady=None)  # whoever asks for the plain set gets it, whatever the file has
