"""Recognise inputs that a model was trained on, by hashes of short pieces of the training inputs.

A piece u_0 … u_{L−1} has the hash Σ_j u_j p^j modulo 2⁶⁴. Here u_j is the bit pattern of sample j in single precision, read as
a whole number, and p is an odd number. For several channels, u_j is one number that depends on the bit patterns of all
channels. One cumulative sum gives the hashes of all pieces of a signal, so a training piece is found at any position in a new
record.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from lfno.core.short import Short

LENGTH = 128  # samples: length of a piece; a shorter signal is one piece
MOST = 2000  # pieces: at most this many are stored
CHANGES = 16  # changes of value (or length / 4, if smaller) in a piece: pieces with fewer, such as steps, can agree by chance
PRIME = 0x9E3779B97F4A7C15  # the number p of the hash: odd, with bits that look random


@dataclass(frozen=True, repr=False)
class SeenInputs(Short):
    """Hashes of pieces of `length` samples of the training inputs.

    >>> force = np.random.default_rng(0).normal(size=(5, 1, 400))
    >>> seen = SeenInputs.of(force)
    >>> seen.share(force[:1]), seen.share(-force)
    (1.0, 0.0)
    """

    length: int = LENGTH
    pieces: tuple[int, ...] = ()

    @classmethod
    def of(cls, inputs: np.ndarray) -> SeenInputs:
        """Return the hashes of training inputs (samples, channels, time): one piece of each sample, up to MOST."""
        length = min(LENGTH, inputs.shape[-1])
        chosen = inputs[:: max(1, len(inputs) // MOST)][:MOST]
        found = [_digests(sample, length) for sample in chosen]
        pieces = [int(values[known.argmax()]) for values, known in found if known.any()]
        return cls(length, tuple(pieces))

    def share(self, inputs: np.ndarray) -> float:
        """Return the share of the samples that contain a piece of the training inputs.

        inputs: (samples, channels, time). For fields, and for signals that are shorter than a piece, the share is 0.
        """
        if not self.pieces or inputs.ndim != 3 or inputs.shape[-1] < self.length:
            return 0.0
        known = np.array(self.pieces, dtype=np.uint64)
        found = [bool(np.isin(values[varied], known).any()) for values, varied in (_digests(x, self.length) for x in inputs)]
        return float(np.mean(found)) if found else 0.0

    def to_dict(self) -> dict[str, Any]:
        """Return the hashes as a dictionary of numbers and texts. `from_dict` is the inverse."""
        return {"length": self.length, "pieces": [f"{piece:x}" for piece in self.pieces]}

    @classmethod
    def from_dict(cls, tree: dict[str, Any]) -> SeenInputs:
        """Return the hashes that `to_dict` described."""
        return cls(int(tree["length"]), tuple(int(piece, 16) for piece in tree["pieces"]))


def _digests(sample: np.ndarray, length: int) -> tuple[np.ndarray, np.ndarray]:
    """Return (hash, whether there are enough changes) of the pieces at all positions of a sample, two arrays (pieces,).

    sample: (channels, time).
    length: samples of a piece.
    """
    size = sample.shape[-1]
    bits = np.ascontiguousarray(sample, dtype=np.float32).view(np.uint32).astype(np.uint64)
    mixed = np.zeros(size, dtype=np.uint64)
    for channel in bits:
        mixed = mixed * np.uint64(31) + channel
    power = np.ones(size, dtype=np.uint64)
    power[1:] = np.uint64(PRIME)
    power = np.cumprod(power)
    total = np.concatenate([np.zeros(1, np.uint64), np.cumsum(mixed * power, dtype=np.uint64)])
    inverse = np.ones(size, dtype=np.uint64)
    inverse[1:] = np.uint64(pow(PRIME, -1, 2**64))
    inverse = np.cumprod(inverse)
    count = size - length + 1
    values = (total[length:] - total[:count]) * inverse[:count]
    changes = np.concatenate([np.zeros(2, np.int64), np.cumsum(np.diff(mixed) != 0)])
    return values, changes[length:] - changes[1 : count + 1] >= min(CHANGES, length // 4)
