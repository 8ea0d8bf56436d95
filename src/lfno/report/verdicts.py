"""A verdict on a sentence: what was measured, and whether that bears it out."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from lfno.report import paper
from lfno.report.selection import Runs

HOLDS, FAILS, OPEN = "holds", "does not hold", "not measured"


@dataclass(frozen=True)
class Verdict:
    """claim and published number; ours; the verdict; the preset it is about; what to run where nothing was measured."""

    claim: str
    published: str
    ours: str
    verdict: str
    preset: str = ""
    command: str = ""


@dataclass(frozen=True)
class Finding:
    """One comparison: what it was made on, in words with its numbers, and whether it supports the claim."""

    where: str
    words: str
    supports: bool


Measure = Callable[[Runs], Sequence[Finding]]


@dataclass(frozen=True)
class Claim:
    """A sentence with a measure that gives findings for the runs of one preset. It holds if every finding supports it."""

    claim: str
    published: str
    measure: Measure
    command: str

    def judge(self, runs: Runs) -> list[Verdict]:
        """One verdict for each preset that has something to say, or one that nothing was measured."""
        verdicts = []
        for preset in runs.presets:
            findings = self.measure(runs.where(preset=preset))
            if findings:
                support = sum(finding.supports for finding in findings)
                words = "; ".join(f"{f.where}: {f.words}" if f.where else f.words for f in findings)
                if len(findings) > 1:
                    words = f"{support} of {len(findings)}. {words}"
                verdict = HOLDS if support == len(findings) else FAILS
                verdicts.append(Verdict(self.claim, self.published, words, verdict, preset))
        return verdicts or [Verdict(self.claim, self.published, "", OPEN, command=self.command)]


def mean_error(runs: Runs, task: str, label: str, metric: str = "l2") -> float | None:
    """Mean error over seeds, infinite for a model that diverged; None where it was not run.

    The paper's preset is judged at the paper's epochs, like in the tables; any other at its end.
    """
    epochs = paper.epochs(metric, task) if runs.presets == ["paper"] else None
    figure = runs.main.where(task=task, label=label).error(metric, epochs)
    if figure is None:
        return None
    return figure.mean if math.isfinite(figure.mean) else math.inf


def factor(value: float) -> str:
    """A ratio in words: `2.4×`."""
    return f"{value:.3g}×" if math.isfinite(value) else "∞"


def ratio(above: float, below: float) -> float:
    return above / below if below else math.inf
