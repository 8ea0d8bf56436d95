"""Channels on a common scale: `(value − offset) / scale`, fitted on training data and undone in every output."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from lfno.core.checks import real_array
from lfno.core.errors import LfnoError
from lfno.core.memory import BLOCK

if TYPE_CHECKING:
    import torch

Array = TypeVar("Array", "np.ndarray", "torch.Tensor")


@dataclass(frozen=True)
class Normaliser:
    """One offset and one scale per channel; fields are `(sample, channel, *space, time)`.

    >>> n = Normaliser.fit(np.array([[[0.0, 2.0], [5.0, 5.0]]]))
    >>> n.offset, n.scale
    ((1.0, 5.0), (1.0, 1.0))
    """

    offset: tuple[float, ...]
    scale: tuple[float, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "offset", tuple(float(value) for value in self.offset))
        object.__setattr__(self, "scale", tuple(float(value) for value in self.scale))
        if len(self.offset) != len(self.scale) or not self.offset:
            raise LfnoError(f"a normaliser needs a scale for each offset, not {len(self.scale)} for {len(self.offset)}")
        if not (np.isfinite(self.offset).all() and np.isfinite(self.scale).all() and min(self.scale) > 0):
            raise LfnoError(f"offsets {self.offset} and scales {self.scale} must be finite, and scales positive")

    @classmethod
    def identity(cls, channels: int) -> Normaliser:
        return cls((0.0,) * channels, (1.0,) * channels)

    @classmethod
    def fit(cls, values: np.ndarray) -> Normaliser:
        """Mean and standard deviation of each channel over samples, space and time, in two passes of pieces.

        A constant channel has no scale of its own and gets 1.
        """
        if np.size(values) == 0:
            raise LfnoError("there are no samples to fit a normaliser on")
        values = real_array(values, "the values to fit a normaliser on", "(samples, channels, *grid)", 3)
        count = values.size // values.shape[1]
        mean = sum(piece.sum(axis=1) for piece in _pieces(values)) / count
        squares = sum(((piece - mean[:, None]) ** 2).sum(axis=1) for piece in _pieces(values))
        deviation = np.sqrt(squares / count)
        if not np.isfinite(deviation).all():
            raise LfnoError("the training data hold values that are not finite; clean them before fitting")
        # what is left of a constant after rounding is not a scale
        constant = deviation <= 4 * np.finfo(values.dtype if values.dtype.kind == "f" else float).eps * np.abs(mean)
        return cls(tuple(mean), tuple(np.where(constant, 1.0, deviation)))

    def encode(self, values: Array, axis: int = 1) -> Array:
        """From physical units; `axis` is where the channels are."""
        offset, scale = self._shaped(values, axis)
        return (values - offset) / scale

    def decode(self, values: Array, axis: int = 1) -> Array:
        """To physical units: the inverse of `encode`."""
        offset, scale = self._shaped(values, axis)
        return values * scale + offset

    def _shaped(self, values: Any, axis: int) -> tuple[Any, Any]:
        found = values.shape[axis] if axis < values.ndim else 0
        if found != len(self.offset):
            raise LfnoError(f"the data have {found} channels and the normaliser {len(self.offset)}")
        shape = [1] * values.ndim
        shape[axis] = len(self.offset)
        if isinstance(values, np.ndarray):
            dtype = values.dtype if values.dtype.kind in "fc" else np.dtype(float)
            return np.asarray(self.offset, dtype).reshape(shape), np.asarray(self.scale, dtype).reshape(shape)
        return values.new_tensor(self.offset).reshape(shape), values.new_tensor(self.scale).reshape(shape)

    def to_dict(self) -> dict[str, Any]:
        return {name: list(value) for name, value in asdict(self).items()}

    @classmethod
    def from_dict(cls, tree: dict[str, Any]) -> Normaliser:
        try:
            return cls(tuple(tree["offset"]), tuple(tree["scale"]))
        except (KeyError, TypeError, ValueError) as error:
            if isinstance(error, LfnoError):
                raise
            raise LfnoError(f"this is not the description of a normaliser: {error}") from error


def _pieces(values: np.ndarray) -> Any:
    """(channel, points) in float64, a few samples or moments at a time: the array may be larger than memory."""
    channels = values.shape[1]
    step = max(1, BLOCK // max(1, 8 * values[0, ..., 0].size))
    for sample in values:
        for start in range(0, values.shape[-1], step):
            yield sample[..., start : start + step].reshape(channels, -1).astype(np.float64)
