"""Load the records of a benchmark by its name."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from lfno.challenges import bouc_wen
from lfno.challenges.layout import Challenge
from lfno.challenges.protocol import Record, Training
from lfno.challenges.reading import Files, read_parts
from lfno.challenges.table import CHALLENGES
from lfno.core.errors import LfnoError


@dataclass(frozen=True)
class Data:
    """The records of a benchmark. A fit receives `training` only; `test` is used only for the figures of merit."""

    challenge: Challenge
    training: Training
    test: tuple[Record, ...]


def find(name: str) -> Challenge:
    """Return the description of a benchmark by its name."""
    if name not in CHALLENGES:
        raise LfnoError(f"there is no benchmark {name!r}; choose one of {', '.join(CHALLENGES)}")
    return CHALLENGES[name]


def load(name: str, path: str | Path | None = None) -> Data:
    """Return the training and test records of a benchmark, split by its official protocol.

    Args:
        name: the name of the benchmark, such as "silverbox"; `lfno benchmark` lists all.
        path: the folder of the files (subfolders are searched), or the file if the benchmark has only one file. Without a path,
            the cache of the package `nonlinear_benchmarks` is used. This function downloads nothing.

    Raises:
        LfnoError: a file or an array is missing, has the wrong shape, or is incomplete.

    >>> data = load("silverbox", "SilverboxFiles")  # doctest: +SKIP
    >>> len(data.training.records), [record.figure for record in data.test]  # doctest: +SKIP
    (1, ['multisine', 'arrow', 'arrow, no extrapolation'])
    """
    challenge = find(name)
    files = Files(challenge, path)
    test, steps = read_parts(files, challenge.test, challenge.skip)
    if challenge.training:
        training, more = read_parts(files, challenge.training, challenge.skip)
        steps += more
    else:
        pairs = zip(*bouc_wen.training_records(), strict=True)
        training = [Record("training", force, motion, rest=True) for force, motion in pairs]
    if max(steps) > 1.001 * min(steps):
        raise LfnoError(f"{name}: the files have different sampling steps, {min(steps):g} s and {max(steps):g} s")
    return Data(challenge, Training(tuple(training), steps[0], challenge.skip, challenge.scale), tuple(test))
