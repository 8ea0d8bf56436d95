"""Split samples into training, validation and test."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from lfno.core.errors import LfnoError
from lfno.data.dataset import Dataset

FOLDS = 5  # folds of the standard split: the samples are divided into this many parts, and one part is the test
VALIDATION = 30 / 380  # share of the samples for validation in the standard split, as in the published results
STANDARD_SEED = 2024  # seed of the standard split, so that every model is trained on the same samples


@dataclass(frozen=True, eq=False, repr=False)
class Split:
    """Indices of the samples in each part. No sample is in two parts; only the validation part may be empty."""

    train: np.ndarray
    validation: np.ndarray
    test: np.ndarray

    def __post_init__(self) -> None:
        parts = [np.asarray(part) for part in (self.train, self.validation, self.test)]
        if any(part.ndim != 1 or (part.size and part.dtype.kind not in "iu") for part in parts):
            raise LfnoError("each part of a split must be a list of sample indices")
        every = np.concatenate([part.astype(np.int64) for part in parts if part.size] or [np.zeros(0, np.int64)])
        if len(np.unique(every)) != len(every):
            raise LfnoError("a sample is in two parts of the split, or twice in one part")
        if not (len(self.train) and len(self.test)):
            found = f"{len(self.train)} training and {len(self.test)} test samples"
            raise LfnoError(f"the split has {found}; at least one of each is needed")

    def __repr__(self) -> str:
        return "Split({} train, {} validation, {} test)".format(*self.sizes)

    @property
    def sizes(self) -> tuple[int, int, int]:
        """The numbers of samples for training, validation and test."""
        return len(self.train), len(self.validation), len(self.test)

    def to_dict(self) -> dict[str, list[int]]:
        """Return the indices of each part as lists. `from_dict` is the inverse."""
        return {part: [int(k) for k in getattr(self, part)] for part in ("train", "validation", "test")}

    @classmethod
    def from_dict(cls, tree: dict[str, Any]) -> Split:
        """Return the split that `to_dict` described. Raises LfnoError for another dictionary."""
        try:
            parts = [np.asarray(tree.get(part, []), dtype=np.int64) for part in ("train", "validation", "test")]
        except (AttributeError, TypeError, ValueError, OverflowError) as error:
            raise LfnoError(f"this is not the description of a split: {error}") from error
        return cls(*parts)


def permutation(size: int, seed: int) -> np.ndarray:
    """Return a permutation of 0 … size − 1 that is the same on every machine and with every version of NumPy.

    NumPy's own `permutation` may change with a new version. The raw numbers of a bit generator never change, so we sort them.
    """
    return np.argsort(np.random.PCG64(seed).random_raw(size), kind="stable")


def standard(size: int = 380, fold: int = 0, folds: int = FOLDS) -> Split:
    """Return the split of the published results: 274 training, 30 validation and 76 test samples of 380.

    size: number of samples.
    fold: the fold that is the test, from 0.
    folds: number of folds.

    A fixed permutation of the samples is cut into folds. Of the samples outside the test fold, the first are for validation and
    all others for training.

    >>> standard(380).sizes
    (274, 30, 76)
    """
    if not 0 <= fold < folds:
        raise LfnoError(f"fold {fold} does not exist; the folds are 0 to {folds - 1}")
    if size < folds:
        raise LfnoError(f"{size} samples cannot be split into {folds} folds; at least {folds} are needed")
    parts = np.array_split(permutation(size, STANDARD_SEED), folds)
    rest = np.concatenate([*parts[fold + 1 :], *parts[:fold]])
    validation = round(VALIDATION * size)
    return Split(np.sort(rest[validation:]), np.sort(rest[:validation]), np.sort(parts[fold]))


def random(size: int, validation: float = 0.1, test: float = 0.2, seed: int = 0) -> Split:
    """Return a random split of `size` samples. `validation` and `test` are shares; `seed` chooses the permutation."""
    first, second = borders(size, validation, test)
    order = permutation(size, seed)
    return Split(*(np.sort(part) for part in (order[:first], order[first:second], order[second:])))


def in_time(size: int, validation: float = 0.1, test: float = 0.2) -> Split:
    """Return a split in time: the first samples are for training, the next for validation, the last for the test.

    Use it for one record, or for samples that are ordered in time.

    >>> in_time(10).test
    array([8, 9])
    """
    first, second = borders(size, validation, test)
    return Split(np.arange(first), np.arange(first, second), np.arange(second, size))


def of(dataset: Dataset, fold: int = 0) -> Split:
    """Return the split in the provenance of the data set; without one, the standard split with this test fold.

    The provenance may also state the number of folds; the default is FOLDS.
    """
    own = dataset.provenance.get("split")
    folds = dataset.provenance.get("folds", FOLDS)
    return standard(len(dataset), fold, folds) if own is None else Split.from_dict(own)


def borders(size: int, validation: float = 0.1, test: float = 0.2) -> tuple[int, int]:
    """Return the indices (first validation sample, first test sample) of a split in time.

    size: number of samples.
    validation, test: shares of the samples. Each part has at least one sample, unless the share for validation is 0.

    >>> borders(10)
    (7, 8)
    """
    if not (0 <= validation < 1 and 0 < test < 1 and validation + test < 1):
        raise LfnoError(f"shares of {validation:g} for validation and {test:g} for the test leave no samples for training")
    tested = max(1, math.floor(test * size + 0.5))
    chosen = max(int(validation > 0), math.floor(validation * size + 0.5))
    if size - tested - chosen < 1:
        raise LfnoError(f"{size} samples are too few to split; at least 3 are needed")
    return size - tested - chosen, size - tested
