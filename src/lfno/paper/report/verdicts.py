"""A verdict on a sentence: what was measured, and whether that bears it out."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from lfno.paper.report import paper
from lfno.paper.report.selection import Figure, Runs

HOLDS, SO_FAR, FAILS, OPEN = "holds", "holds so far", "does not hold", "not measured"


@dataclass(frozen=True)
class Finding:
    """One comparison: what it was made on, in words with its numbers, whether it supports the claim, and is all there is."""

    where: str
    words: str
    supports: bool
    complete: bool = True

    def __str__(self) -> str:
        return f"{'✓' if self.supports else '✗'} {self.where}{': ' if self.where else ''}{self.words}"


@dataclass(frozen=True)
class Verdict:
    """claim and published number; what we found; the verdict; the preset it is about; what to run for what is not there."""

    claim: str
    published: str
    findings: tuple[Finding, ...]
    verdict: str
    preset: str = ""
    command: str = ""


Measure = Callable[[Runs], Sequence[Finding]]


@dataclass(frozen=True)
class Claim:
    """A sentence with a measure that gives findings for the runs of one preset.

    It holds if every finding supports it, and only so far if there are fewer findings than `expected` or one is incomplete.
    """

    claim: str
    published: str
    measure: Measure
    command: str
    expected: int = 1

    def judge(self, runs: Runs) -> list[Verdict]:
        """One verdict for each preset that has something to say, or one that nothing was measured."""
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
                verdicts.append(Verdict(self.claim, self.published, findings, verdict, preset, command))
        return verdicts or [Verdict(self.claim, self.published, (), OPEN, command=self.command)]


def figure_of(runs: Runs, task: str, label: str, metric: str = "l2") -> Figure | None:
    """Mean error and spread over seeds of a row of the tables; None where it was not run.

    The paper's preset is judged at the paper's epochs, like in the tables; any other at its end.
    """
    epochs = paper.epochs(metric, task) if runs.presets == ["paper"] else None
    return runs.main.where(task=task, label=label).error(metric, epochs)


def mean_error(runs: Runs, task: str, label: str, metric: str = "l2") -> float | None:
    """The same as one number, infinite for a model that diverged."""
    figure = figure_of(runs, task, label, metric)
    if figure is None:
        return None
    return figure.mean if math.isfinite(figure.mean) else math.inf


def factor(value: float) -> str:
    """A ratio in words: `2.4×`."""
    return f"{value:.3g}×" if math.isfinite(value) else "∞"


def ratio(above: float, below: float) -> float:
    return above / below if below else math.inf
