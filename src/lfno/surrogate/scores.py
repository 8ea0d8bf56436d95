"""Test errors of a model and of the baselines, as a model file stores them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from lfno.core.json_text import with_nan

#: names of rows in the files of older versions -> present names
OLD_NAMES = {"modal model": "linear", "best linear model": "linear baseline"}


@dataclass(frozen=True, repr=False)
class Scores:
    """Test errors of a model, of other candidates and of the baselines on the same data.

    rows: the errors of each model and of each baseline, by name. Each row has l2, linf, nrmse, rmse (one per output) and fit;
        see `lfno.evaluation.metrics.scores`. `spread` is the standard deviation of the error over trajectories, or over pieces
        of a record. `ratio` is a 95 % interval of the RMSE of the model, divided by the RMSE of the row; the row of the model
        itself, and a test with fewer than three samples or pieces, have no `ratio`.
    verdict: sentences that say which candidate to use and how its test error compares with the baselines.
    outputs: labels of the output channels.
    candidates: for every fitted model its validation error, the spread of this error, its number of parameters, and whether it
        was chosen.
    noise_floor: the RMS of the measurement noise of each output, in its unit, if the data have repeated periods. No model can
        have a smaller RMSE.
    """

    rows: dict[str, dict[str, Any]]
    verdict: str
    outputs: list[str]
    candidates: dict[str, dict[str, Any]] = field(default_factory=dict)
    noise_floor: list[float] | None = None

    def __repr__(self) -> str:
        errors = ", ".join(f"{name} {row['nrmse']:.3g}" for name, row in self.rows.items())
        return f"Scores(RMSE over standard deviation of the output: {errors})"

    @property
    def own(self) -> dict[str, Any]:
        """Return the test errors of the model itself: the row of the chosen candidate; empty if there is no such row."""
        chosen = [name for name, facts in self.candidates.items() if facts.get("chosen")]
        return next((self.rows[name] for name in chosen if name in self.rows), {})

    def to_dict(self) -> dict[str, Any]:
        """Return the scores as plain values. `from_dict` is the inverse."""
        told: dict[str, Any] = {"test": self.rows, "verdict": self.verdict, "outputs": self.outputs}
        told |= {"candidates": self.candidates} if self.candidates else {}
        return told | ({"noise_floor": self.noise_floor} if self.noise_floor else {})

    @classmethod
    def from_dict(cls, tree: dict[str, Any]) -> Scores:
        """Return the scores that `to_dict` described. Files of older versions have other names for the linear models."""
        rows = {OLD_NAMES.get(name, name): row for name, row in with_nan(tree.get("test", {})).items()}
        verdict = str(tree.get("verdict", ""))
        for old, name in OLD_NAMES.items():
            verdict = verdict.replace(old, name)
        return cls(rows, verdict, list(tree.get("outputs", [])),
                   with_nan(dict(tree.get("candidates", {}))), tree.get("noise_floor"))  # fmt: skip
