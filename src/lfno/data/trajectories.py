"""The split of trajectories: runs of one length that a model answers as a whole, from rest."""

from __future__ import annotations

from typing import Any

import numpy as np

from lfno.core.errors import LfnoError
from lfno.data import split as splits
from lfno.data.dataset import Dataset, joined
from lfno.data.gaps import after_gaps
from lfno.data.signals.runs import of_trajectories
from lfno.data.split import Split
from lfno.data.starts import moving
from lfno.data.stretches import MOVING_RUNS

FEWEST_RUNS = 3  # one to train, one to validate, one to test


def split_trajectories(
    data: Dataset, other: Dataset | None, bounds: tuple[float, float] | None, fold: int
) -> tuple[Dataset, Split, list[str]]:
    """Return the samples (with those of `other`, if given), their split, and notes on it.

    other: trajectories for the test. bounds: first and last (not included) sample number of the test. fold: the test fold of
    the standard split. A split that the file came with is kept.
    Raises LfnoError if the trajectories are too few, or the range is not a part of them.
    """
    notes: list[str] = []
    count = len(data)
    if other is None and bounds is None and "split" not in data.provenance and count < splits.FOLDS:
        if count < FEWEST_RUNS:
            raise LfnoError(
                f"the data are {count} runs, too few to train, choose and test: at least {FEWEST_RUNS} are needed"
            )
        bounds = count - 1, count
        notes.append(f"of {count} runs the last one is for the test (the option “test” chooses others)")
    if other is not None:
        data = joined(data, after_gaps(other))
        own = splits.random(count, 0.1, 1 / max(count, 2))
        train = np.sort(np.concatenate([own.train, own.test]))
        return data, Split(train, own.validation, np.arange(count, len(data))), notes
    if bounds is not None:
        low, high = (int(value) for value in bounds)
        if not 0 <= low < high <= count or high - low > count - 2:
            raise LfnoError(f"the test range {low}:{high} is not a part of {count} trajectories that leaves two to train")
        rest = np.concatenate([np.arange(low), np.arange(high, count)])
        chosen = rest[splits.permutation(len(rest), 0)[: max(1, len(rest) // 10)]]
        return data, Split(np.setdiff1d(rest, chosen), np.sort(chosen), np.arange(low, high)), notes
    split = splits.of(data) if "split" in data.provenance else splits.standard(count, fold)
    if not len(split.validation):
        chosen = splits.permutation(len(split.train), 0)[: max(1, len(split.train) // 10)]
        split = Split(np.delete(split.train, chosen), split.train[np.sort(chosen)], split.test)
        notes.append(f"{len(chosen)} of the training samples were set aside to choose the best epoch")
    return data, split, notes


def note_motion(data: Dataset) -> tuple[dict[str, Any], list[str]]:
    """Return provenance and a note on trajectories that start in motion: a network answers them as if from rest."""
    if data.grid.ndim > 1:
        return {}, []
    found = moving(of_trajectories(data).records)
    if not found:
        return {}, []
    note = (
        f"{len(found)} of {len(data)} trajectories start in motion, and a network answers from rest: give the initial state "
        "of each run as an input, or long runs a warm-up (the option “warmup”)"
    )
    return {MOVING_RUNS: found}, [note]
