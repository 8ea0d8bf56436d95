"""Claims and verdicts: the measurements of a claim, and whether they support it."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from lfno.paper.report import paper
from lfno.paper.report.selection import Figure, Runs

HOLDS, SO_FAR, FAILS, OPEN = "holds", "holds so far", "does not hold", "not measured"


@dataclass(frozen=True)
class Finding:
    """One comparison that supports a claim or contradicts it.

    Attributes:
        where: The data set or quantity that was compared.
        words: The result with its numbers.
        supports: Whether the result supports the claim.
        values: The numbers by name, for a figure.
        complete: Whether every model of the comparison was run.
    """

    where: str
    words: str
    supports: bool
    values: Mapping[str, float] = field(default_factory=dict)
    complete: bool = True

    def __str__(self) -> str:
        return f"{'✓' if self.supports else '✗'} {self.where}{': ' if self.where else ''}{self.words}"


@dataclass(frozen=True)
class Verdict:
    """The verdict on a claim for the runs of one preset. `command` makes the runs that are missing."""

    claim: str
    published: str
    findings: tuple[Finding, ...]
    verdict: str
    preset: str = ""
    command: str = ""
    quantity: str = ""


Measure = Callable[[Runs], Sequence[Finding]]


@dataclass(frozen=True)
class Claim:
    """A claim, and the function that measures it on the runs of one preset.

    The claim holds if every finding supports it. It holds “so far” if there are fewer findings than `expected`, or if one of
    them is incomplete. `quantity` names the numbers of the findings.
    """

    claim: str
    published: str
    measure: Measure
    command: str
    expected: int = 1
    quantity: str = "relative L2 error"

    def judge(self, runs: Runs) -> list[Verdict]:
        """Return one verdict for each preset with findings, or one verdict that nothing was measured."""
        verdicts = []
        for preset in runs.presets:
            findings = tuple(self.measure(runs.where(preset=preset)))
            if findings:
                enough = len(findings) >= self.expected and all(finding.complete for finding in findings)
                verdict = HOLDS if enough else SO_FAR
                if not all(finding.supports for finding in findings):
                    verdict = FAILS
                other = f" --preset {preset}" if preset == "paper" and "--preset" not in self.command else ""
                command = self.command + other if verdict == SO_FAR else ""
                verdicts.append(Verdict(self.claim, self.published, findings, verdict, preset, command, self.quantity))
        return verdicts or [Verdict(self.claim, self.published, (), OPEN, command=self.command)]


def figure_of(runs: Runs, task: str, label: str, metric: str = "l2") -> Figure | None:
    """Return the mean error and its spread over seeds, or None if the model was not run.

    The paper preset is judged after the number of epochs that the paper states, other presets at the end of training.
    """
    epochs = paper.epochs(metric, task) if runs.presets == ["paper"] else None
    return runs.main.where(task=task, label=label).error(metric, epochs)


def mean_error(runs: Runs, task: str, label: str, metric: str = "l2") -> float | None:
    """Return the mean error as one number: infinite for a model that diverged, None if it was not run."""
    figure = figure_of(runs, task, label, metric)
    if figure is None:
        return None
    return figure.mean if math.isfinite(figure.mean) else math.inf


def factor(value: float) -> str:
    """Format a ratio: `2.4×`."""
    return f"{value:.3g}×" if math.isfinite(value) else "∞"


def ratio(above: float, below: float) -> float:
    """Return above / below; infinite if `below` is zero."""
    return above / below if below else math.inf
