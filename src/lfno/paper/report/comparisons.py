"""Comparisons of errors, for claims and goals. Each function here returns a measure: a function from runs to findings."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from lfno.paper.report.selection import Figure, Runs
from lfno.paper.report.tables import number, show
from lfno.paper.report.verdicts import Finding, factor, figure_of, mean_error, ratio
from lfno.systems import titles

Measure = Callable[[Runs], list[Finding]]


def said(figure: Figure | None) -> str:
    """Return an error as text: mean ± standard deviation."""
    return show(figure).text


def every(*measures: Callable[[Runs], Sequence[Finding]]) -> Measure:
    """Return a measure with the findings of all `measures`."""
    return lambda runs: [finding for measure in measures for finding in measure(runs)]


def lower(task: str, model: str, other: str, metric: str = "l2", by: float = 1.0) -> Measure:
    """Return a measure with one finding: is `by` times the error of `model` below the error of `other`?"""

    def measure(runs: Runs) -> list[Finding]:
        mine, theirs = mean_error(runs, task, model, metric), mean_error(runs, task, other, metric)
        if mine is None or theirs is None:
            return []
        ours, others = (said(figure_of(runs, task, label, metric)) for label in (model, other))
        words = f"{model} {ours}, {other} {others} ({factor(ratio(theirs, mine))})"
        return [Finding(titles.title(task), words, mine * by < theirs, {model: mine, other: theirs})]

    return measure


def lower_in_both(task: str, model: str, other: str) -> Measure:
    """Return a measure with one finding: are the L2 and the L∞ error of `model` both below the errors of `other`?"""

    def measure(runs: Runs) -> list[Finding]:
        findings = every(lower(task, model, other), lower(task, model, other, "linf"))(runs)
        if len(findings) < 2:
            return []
        words = "L2 " + findings[0].words + ", L∞ " + findings[1].words
        return [Finding(titles.title(task), words, all(finding.supports for finding in findings))]

    return measure


def below(task: str, limit: float, inclusive: bool = False) -> Measure:
    """Return a measure with one finding: is the L2 error of LFNO below `limit`? `inclusive`: or equal to it."""

    def measure(runs: Runs) -> list[Finding]:
        mine = mean_error(runs, task, "LFNO")
        if mine is None:
            return []
        words = f"{said(figure_of(runs, task, 'LFNO'))}, limit {number(limit)}"
        return [Finding(titles.title(task), words, mine <= limit if inclusive else mine < limit)]

    return measure


def most(measure: Measure, count: int, total: int) -> Measure:
    """Return a measure with one finding: do at least `count` of the `total` findings of `measure` support the claim?

    As long as runs are missing and the answer depends on them, there is no finding.
    """

    def counted(runs: Runs) -> list[Finding]:
        findings = measure(runs)
        support = sum(finding.supports for finding in findings)
        if support < count and len(findings) - support <= total - count:
            return []
        words = f"on {support} of {len(findings)}:\n" + ";\n".join(f"{f.where}: {f.words}" for f in findings)
        return [Finding("", words, support >= count)]

    return counted
