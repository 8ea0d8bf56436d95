"""Split trajectories (runs of one length) into training, validation and test."""

from __future__ import annotations

from typing import Any

import numpy as np

from lfno.core.errors import LfnoError, Option
from lfno.data import split as splits
from lfno.data.dataset import MOVING_RUNS, Dataset, joined
from lfno.data.gaps import after_gaps
from lfno.data.signals.runs import of_trajectories
from lfno.data.split import Split
from lfno.data.starts import moving

FEWEST_RUNS = 3  # runs: one for training, one for validation, one for the test


def run_numbers(bounds: tuple[float, float]) -> tuple[int, int]:
    """Return the range of runs for the test. Raises LfnoError if a bound is not a whole number."""
    if any(bound != int(bound) for bound in bounds):
        said = f"the test range {bounds[0]:g}:{bounds[1]:g} has a fraction, but it counts runs from 0: give two whole numbers: "
        raise LfnoError(said, Option("test", "START:STOP"))
    return int(bounds[0]), int(bounds[1])


def split_trajectories(
    data: Dataset, other: Dataset | None, bounds: tuple[float, float] | None, fold: int
) -> tuple[Dataset, Split, list[str]]:
    """Return (data set, split, notes for the user).

    data: trajectories for training and validation, and for the test if `other` is None.
    other: trajectories for the test only; the returned data set contains them after the trajectories of `data`.
    bounds: (start, stop): the trajectories `start` … `stop` − 1 of `data` are for the test.
    fold: the test fold of the standard split.

    Without `other` and `bounds`, the split in the provenance of `data` is used. If there is none, the standard split is used;
    of fewer than FOLDS trajectories, the last is for the test. If no trajectory is for validation yet, a random tenth of the
    training trajectories is for validation.
    Raises LfnoError if there are too few trajectories, or if `bounds` does not fit them.
    """
    notes: list[str] = []
    count = len(data)
    if other is None and bounds is None and "split" not in data.provenance and count < splits.FOLDS:
        if count < FEWEST_RUNS:
            raise LfnoError(
                f"{count} runs are too few: at least {FEWEST_RUNS} are needed, for training, validation and test"
            )
        bounds = count - 1, count
        notes.append(f"the last of {count} runs is for the test (choose other runs with the option “test”)")
    if other is not None:
        data = joined(data, after_gaps(other))
        own = splits.random(count, 0.1, 1 / max(count, 2))
        train = np.sort(np.concatenate([own.train, own.test]))
        return data, Split(train, own.validation, np.arange(count, len(data))), notes
    if bounds is not None:
        low, high = run_numbers(bounds)
        if not 0 <= low < high <= count or high - low > count - 2:
            raise LfnoError(
                f"the test range {low}:{high} does not fit {count} trajectories: it must be inside 0:{count}, and at least two "
                "trajectories must be left for training and validation"
            )
        rest = np.concatenate([np.arange(low), np.arange(high, count)])
        chosen = rest[splits.permutation(len(rest), 0)[: max(1, len(rest) // 10)]]
        return data, Split(np.setdiff1d(rest, chosen), np.sort(chosen), np.arange(low, high)), notes
    split = splits.of(data) if "split" in data.provenance else splits.standard(count, fold)
    if not len(split.validation):
        chosen = splits.permutation(len(split.train), 0)[: max(1, len(split.train) // 10)]
        split = Split(np.delete(split.train, chosen), split.train[np.sort(chosen)], split.test)
        verb = "is" if len(chosen) == 1 else "are"
        why = "because the split of the file has none"
        notes.append(f"{len(chosen)} of the training samples {verb} used for validation, {why}")
    return data, split, notes


def note_motion(data: Dataset) -> tuple[dict[str, Any], list[str]]:
    """Return (facts for the provenance, notes for the user) about trajectories that start in motion.

    Both are empty if no trajectory starts in motion, or if the data are fields with an axis of space.
    """
    if data.grid.ndim > 1:
        return {}, []
    found = moving(of_trajectories(data).records)
    if not found:
        return {}, []
    note = (
        f"{len(found)} of {len(data)} trajectories start in motion, but a network computes trajectories from rest: give the "
        "initial state of each run as an input, or for long runs give a warm-up (the option “warmup”)"
    )
    return {MOVING_RUNS: found}, [note]
