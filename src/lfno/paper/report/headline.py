"""The headline table: one row for each data set, networks beside baselines that need no network."""

from __future__ import annotations

import math
from collections.abc import Iterable

from lfno.paper.report import paper
from lfno.paper.report.baselines import Scores
from lfno.paper.report.selection import Runs
from lfno.paper.report.tables import DASH, Table, TableCell, number
from lfno.paper.report.verdicts import mean_error
from lfno.systems import titles

FLOW = "navier-stokes-nu1e-3"
#: heading of a block -> its data sets
BLOCKS = {
    "Random forcing": tuple(f"{task}-rich" for task in titles.ALL),
    "Random initial states": (FLOW,),
    "The paper's inputs: one parameter per sample": tuple(task for task in titles.ALL if task != FLOW),
}
NETWORKS = ("FNO", "LNO", "LFNO")
SIMPLE = {"linear": "linear model", "interpolation": "interpolation"}
COLUMNS = ("", "paper's LFNO, published", "paper's LFNO, ours", *SIMPLE.values(), *NETWORKS)


def headline_table(runs: Runs, baselines: dict[str, Scores]) -> Table:
    """Return mean L2 errors on the test samples. The lowest of networks (default preset) and baselines is bold."""
    main, default = runs.main.where(preset="paper"), runs.main.where(preset="default")
    table = Table("Relative L2 error on test samples", COLUMNS)
    for heading, tasks in shown_tasks(runs).items():
        table.heading(heading)
        for task in tasks:
            errors = compared(default, baselines, task)
            least = min((value for value in errors.values() if value is not None), default=math.nan)
            published, ours = paper.published("l2", task, "LFNO"), mean_error(main, task, "LFNO")
            cells = [DASH if value is None else number(value) for value in (published, ours)]
            best = [
                TableCell(DASH) if value is None else TableCell(number(value), bold=value == least) for value in errors.values()
            ]
            table.add(titles.title(task), *cells, *best)
    table.note = (
        "Mean over the seeds; bold: the lowest of the last five columns. The published network and ours have 3,417 "
        "parameters on the ODEs. Linear model: the best of a transfer function and an impulse response. Interpolation: "
        "between the training samples in their parameter; random inputs have no such parameter."
    )
    return table


def shown_tasks(runs: Runs) -> dict[str, list[str]]:
    """Return the blocks of the table with the data sets that were run; blocks without any are left out."""
    default = runs.main.where(preset="default")
    blocks = {heading: [task for task in tasks if default.where(task=task).all] for heading, tasks in BLOCKS.items()}
    return {heading: tasks for heading, tasks in blocks.items() if tasks}


def compared(runs: Runs, baselines: dict[str, Scores], task: str) -> dict[str, float | None]:
    """Return the L2 error of each baseline and network on a data set, None where it is unknown."""
    simple = {name: baselines.get(task, {}).get(name, {}).get("l2") for name in SIMPLE}
    return simple | {label: mean_error(runs, task, label) for label in NETWORKS}


def reading(runs: Runs, baselines: dict[str, Scores]) -> list[str]:
    """Return sentences that explain the headline table, with counts of its rows."""
    default = runs.main.where(preset="default")
    shown = [task for tasks in shown_tasks(runs).values() for task in tasks]
    rows = {task: compared(default, baselines, task) for task in shown}
    beaten = [task for task, row in rows.items() if _least(row, SIMPLE) < _least(row, NETWORKS)]
    random = [task for task in rows if task.endswith("-rich")]
    single = [task for task in rows if task not in (*random, FLOW)]
    sentences = []
    if random:
        gains = [_least(rows[task], ("FNO",)) / _least(rows[task], ("LFNO",)) for task in random]
        sentences.append(
            "Random forcing is the real test of an operator: it cannot be interpolated. On the "
            f"{len(random)} data sets of this kind the error of FNO is {_times(min(gains))} to {_times(max(gains))} times that "
            "of LFNO."
        )
    if beaten:
        sentences.append(f"On {len(beaten)} of {len(rows)} data sets a baseline without a network beats every network.")
    if set(beaten) & set(single):
        sentences.append(
            "With the paper's inputs one parameter describes each sample, and interpolation between the training samples "
            "solves the task: these rows show how exactly a network can fit, not how well it generalises."
        )
    if linear := [titles.title(task.removesuffix("-rich")) for task in beaten if task in random]:
        sentences.append(f"{' and '.join(linear)}: a linear equation, so a linear model is enough.")
    return sentences


def _times(factor: float) -> str:
    """A factor as text: two digits, and no power of ten."""
    return f"{factor:.2g}" if factor < 100 else f"{round(factor, -2):.0f}"


def _least(row: dict[str, float | None], names: Iterable[str]) -> float:
    return min((value for name in names if (value := row[name]) is not None), default=math.inf)
