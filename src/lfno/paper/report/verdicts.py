"""`Claim`, its findings (comparisons of our records), and its verdict, which follows from the findings."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from lfno.paper.report import paper
from lfno.paper.report.selection import Figure, Runs

HOLDS = "holds"  # every comparison supports the claim
SO_FAR = "holds so far"  # every comparison supports the claim, but some runs are missing
FAILS = "does not hold"  # at least one comparison contradicts the claim
OPEN = "not measured"  # there is no comparison


@dataclass(frozen=True)
class Finding:
    """A comparison that supports or contradicts a claim.

    Attributes:
        where: The data set or the quantity that was compared.
        words: The result with its numbers.
        supports: True if the result supports the claim.
        values: The numbers by name, for a figure.
        complete: True if every model of the comparison was run.
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
    """The verdict on a claim for the runs of one preset.

    published: the published numbers as text.
    command: the command that makes the missing runs, for the verdicts SO_FAR and OPEN; otherwise "".
    quantity: the name of the numbers in the findings.
    """

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
    """A claim, and a function that compares the records of one preset and returns findings.

    claim: the claim as a sentence.
    published: the published numbers as text.
    measure: the function that returns the findings.
    command: the command that makes the runs for the claim.
    expected: number of findings of a complete comparison.
    quantity: name of the numbers in the findings.
    """

    claim: str
    published: str
    measure: Measure
    command: str
    expected: int = 1
    quantity: str = "relative L2 error"

    def judge(self, runs: Runs) -> list[Verdict]:
        """Return a verdict for each preset that has findings. Without findings, return the verdict OPEN.

        The claim does not hold if a finding contradicts it. Otherwise it holds, or it holds “so far” if a finding is missing or
        incomplete.
        """
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
    """Return the mean error of a model on a data set and its standard deviation over seeds, or None if the model was not run.

    If all records have the paper preset, the error is the one after the number of epochs that the paper states. Otherwise it is
    the error at the end of training.
    """
    epochs = paper.epochs(metric, task) if runs.presets == ["paper"] else None
    return runs.main.where(task=task, label=label).error(metric, epochs)


def mean_error(runs: Runs, task: str, label: str, metric: str = "l2") -> float | None:
    """Return the mean error of a model on a data set: infinite if the model diverged, None if it was not run."""
    figure = figure_of(runs, task, label, metric)
    if figure is None:
        return None
    return figure.mean if math.isfinite(figure.mean) else math.inf


def factor(value: float) -> str:
    """Return a ratio as text, such as `2.4×`."""
    return f"{value:.3g}×" if math.isfinite(value) else "∞"


def ratio(above: float, below: float) -> float:
    """Return above / below; infinite if `below` is zero."""
    return above / below if below else math.inf
