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
    whether it was chosen. `noise_floor` is the RMS of the measurement noise of each output, in its unit, where repeated
    periods tell it: no model has a smaller RMSE.
    """

    rows: dict[str, dict[str, Any]]
    verdict: str
    outputs: list[str]
    candidates: dict[str, dict[str, Any]] = field(default_factory=dict)
    noise_floor: list[float] | None = None

    def __repr__(self) -> str:
        errors = ", ".join(f"{name} {row['l2']:.3g}" for name, row in self.rows.items())
        return f"Scores(relative L2: {errors})"

    @property
    def own(self) -> dict[str, Any]:
        """The test errors of the model itself; empty if there are none.

        A file does not keep the order of the rows, so the row is that of the candidate that was chosen.
        """
        chosen = [name for name, facts in self.candidates.items() if facts.get("chosen")]
        labels = ["modal model" if name == "linear" else name for name in chosen]
        return next((self.rows[label] for label in labels if label in self.rows), {})

    def to_dict(self) -> dict[str, Any]:
        """Return the scores as plain values, the inverse of `from_dict`."""
        told: dict[str, Any] = {"test": self.rows, "verdict": self.verdict, "outputs": self.outputs}
        told |= {"candidates": self.candidates} if self.candidates else {}
        return told | ({"noise_floor": self.noise_floor} if self.noise_floor else {})

    @classmethod
    def from_dict(cls, tree: dict[str, Any]) -> Scores:
        """Read scores as `to_dict` wrote them."""
        return cls(tree.get("test", {}), str(tree.get("verdict", "")), list(tree.get("outputs", [])),
                   dict(tree.get("candidates", {})), tree.get("noise_floor"))  # fmt: skip
