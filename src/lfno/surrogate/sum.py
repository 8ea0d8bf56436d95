"""A linear model plus a network that was trained on the residual of the linear model."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from lfno.core.grid import Grid
from lfno.identification.field import FieldModel
from lfno.identification.modal import ModalModel
from lfno.models.operator import Operator


@dataclass(frozen=True, repr=False)
class Sum:
    """The model y = linear(u) + network(u). A sum predicts and decomposes like its parts.

    >>> from lfno.identification.identify import Modes
    >>> grid = Grid.line(64, dt=0.1)
    >>> decay = Modes(np.array([-1.0 + 0j]), np.ones((1, 1, 1)), np.zeros((1, 1)), np.ones(1), 0.0, "linear")
    >>> linear = ModalModel(decay, np.zeros(1), np.zeros(1), grid)
    >>> import lfno
    >>> both = Sum(linear, lfno.LFNO(grid, width=2, modes=4))
    >>> force = np.ones((1, 1, 64))
    >>> bool(np.allclose(both.predict(force) - both.network.predict(force), linear.predict(force)))
    True
    """

    linear: ModalModel | FieldModel
    network: Operator

    def __repr__(self) -> str:
        return f"Sum({type(self.linear).__name__} + {type(self.network).__name__})"

    @property
    def grid(self) -> Grid:
        """Return the grid of the training data."""
        return self.network.grid

    @property
    def channels(self) -> tuple[int, int]:
        """Return the numbers of input and output channels."""
        return self.network.channels

    @property
    def provenance(self) -> dict[str, Any]:
        """Return the provenance of the network: its data and its training."""
        return self.network.provenance

    def predict(self, inputs: np.ndarray, grid: Grid | None = None) -> np.ndarray:
        """Return the outputs (samples, outputs, *space, time) for inputs (samples, inputs, *space, time), from rest."""
        return self.linear.predict(inputs, grid) + self.network.predict(inputs, grid)

    def decompose(self, inputs: np.ndarray, grid: Grid | None = None) -> tuple[np.ndarray, np.ndarray]:
        """Return (transient, steady). Each part is the sum of the parts of the linear model and of the network."""
        one, two = self.linear.decompose(inputs, grid), self.network.decompose(inputs, grid)
        return one[0] + two[0], one[1] + two[1]


def parts_of(member: Any) -> list[Any]:
    """Return the linear model and the network if a member of an ensemble is a `Sum`, else a list with the member alone."""
    return [member.linear, member.network] if isinstance(member, Sum) else [member]


def network_of(member: Any) -> Operator | None:
    """Return the network of a member; None if the member has no network."""
    return next((part for part in parts_of(member) if isinstance(part, Operator)), None)
