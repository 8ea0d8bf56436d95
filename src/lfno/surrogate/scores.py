"""Test errors of a model beside those of the baselines, as a model file keeps them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, repr=False)
class Scores:
    """`rows` maps the model and every baseline to its errors on the same test data; `verdict` says what the model is worth.

    The errors of a row are l2, linf, nrmse, rmse (one per output) and fit; see `lfno.evaluation.metrics.scores`. `spread` is
    the standard deviation of l2 over trajectories, or over pieces of a record as long as a window.
    `candidates` maps every model that was fitted to its validation error, its spread, the number of its parameters, and
    whether it was chosen.
    """

    rows: dict[str, dict[str, Any]]
    verdict: str
    outputs: list[str]
    candidates: dict[str, dict[str, Any]] = field(default_factory=dict)

    def __repr__(self) -> str:
        errors = ", ".join(f"{name} {row['l2']:.3g}" for name, row in self.rows.items())
        return f"Scores(relative L2: {errors})"

    def to_dict(self) -> dict[str, Any]:
        """Return the scores as plain values, the inverse of `from_dict`."""
        told = {"test": self.rows, "verdict": self.verdict, "outputs": self.outputs}
        return told | ({"candidates": self.candidates} if self.candidates else {})

    @classmethod
    def from_dict(cls, tree: dict[str, Any]) -> Scores:
        """Read scores as `to_dict` wrote them."""
        return cls(tree.get("test", {}), str(tree.get("verdict", "")), list(tree.get("outputs", [])),
                   dict(tree.get("candidates", {})))  # fmt: skip
