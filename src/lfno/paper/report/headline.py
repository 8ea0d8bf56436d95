"""The most important table: the errors of networks and of baselines without a network, with one row for each data set."""

from __future__ import annotations

import math
from collections.abc import Iterable

from lfno.paper.report import paper
from lfno.paper.report.baselines import Scores
from lfno.paper.report.selection import Runs
from lfno.paper.report.tables import DASH, Table, TableCell, number
from lfno.paper.report.verdicts import mean_error
from lfno.paper.studies import RICH_STARTS
from lfno.systems import titles

#: data sets with random initial states and without random forcing
STARTED = (*RICH_STARTS, "navier-stokes-nu1e-3")
LINEAR = ("beam-rich", "heat-rich")  # data sets with random forcing and a linear equation
#: heading of a block -> its data sets
BLOCKS = {
    "Random forcing": tuple(f"{task}-rich" for task in titles.ALL if f"{task}-rich" not in STARTED),
    "Random initial states": STARTED,
    "The paper's inputs: one parameter per sample": tuple(task for task in titles.ALL if task not in STARTED),
}
NETWORKS = ("FNO", "LNO", "LFNO")
#: baseline -> heading of its column
SIMPLE = {"linear": "linear model", "interpolation": "interpolation", "identified": "identified equations"}
COLUMNS = ("", "paper's LFNO, published", "paper's LFNO, ours", *SIMPLE.values(), *NETWORKS)


def headline_table(runs: Runs, baselines: dict[str, Scores]) -> Table:
    """Return the table of mean L2 errors on test samples. In each row, the lowest error of baselines and networks is bold."""
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
        "Mean over seeds. Bold: the lowest error of the last six columns. On the ODEs, the published network and our network "
        "of the paper have 3,417 parameters. Linear model: a transfer function or an impulse response, whichever is better. "
        "Interpolation: between training samples, in the parameter of their inputs; random inputs have no such parameter. "
        "Identified equations: the shipped model, if it consists of modes with feedback or of the equation of a field. "
        "Choose such a model if the equation of the system has few terms, the linear model if the system is linear, and LFNO "
        "in all other cases."
    )
    return table


def shown_tasks(runs: Runs) -> dict[str, list[str]]:
    """Return the heading of each block with the data sets that were run. Blocks without such data sets are left out."""
    default = runs.main.where(preset="default")
    blocks = {heading: [task for task in tasks if default.where(task=task).all] for heading, tasks in BLOCKS.items()}
    return {heading: tasks for heading, tasks in blocks.items() if tasks}


def compared(runs: Runs, baselines: dict[str, Scores], task: str) -> dict[str, float | None]:
    """Return the L2 error of each baseline and of each network on a data set; None for an unknown error."""
    simple = {name: baselines.get(task, {}).get(name, {}).get("l2") for name in SIMPLE}
    return simple | {label: mean_error(runs, task, label) for label in NETWORKS}


def reading(runs: Runs, baselines: dict[str, Scores]) -> list[str]:
    """Return sentences that explain the table, only those that hold for these records."""
    default = runs.main.where(preset="default")
    shown = [task for tasks in shown_tasks(runs).values() for task in tasks]
    rows = {task: compared(default, baselines, task) for task in shown}
    beaten = [task for task, row in rows.items() if _least(row, SIMPLE) < _least(row, NETWORKS)]
    random = [task for task in rows if task.endswith("-rich") and task not in STARTED]
    single = [task for task in rows if task not in (*random, *STARTED)]
    sentences = []
    if random:
        sentences.append(
            "Random forcing is the real test of a network, because interpolation between training samples is not possible."
            + _gains([rows[task] for task in random])
        )
    if beaten:
        sentences.append(
            f"On {len(beaten)} of {len(rows)} data sets, a baseline without a network has a lower error than every network."
        )
    if set(beaten) & set(single):
        sentences.append(
            "With the paper's inputs, one parameter describes each sample, and interpolation between training samples is very "
            "accurate. These rows show how exactly a network can fit, not how well the network generalises."
        )
    if linear := [titles.title(task.removesuffix("-rich")) for task in beaten if task in LINEAR]:
        equations = "The equations of" if len(linear) > 1 else "The equation of"
        verb = "are" if len(linear) > 1 else "is"
        sentences.append(f"{equations} {' and '.join(linear)} {verb} linear, so a linear model is enough.")
    return sentences


def _gains(rows: list[dict[str, float | None]]) -> str:
    """Return a sentence with the error of FNO divided by the error of LFNO; "" if no data set has finite errors of both."""
    pairs = [(_least(row, ("FNO",)), _least(row, ("LFNO",))) for row in rows]
    gains = [fno / lfno for fno, lfno in pairs if math.isfinite(fno) and 0 < lfno < math.inf]
    if not gains:
        return ""
    where = f"the {len(gains)} data sets" if len(gains) > 1 else "the data set"
    factors = f"{_times(min(gains))} to {_times(max(gains))}" if len(gains) > 1 else _times(gains[0])
    return f" On {where} with random forcing, the error of FNO is {factors} times the error of LFNO."


def _times(factor: float) -> str:
    """Return a factor as text: with two digits, or rounded to hundreds from 100 on."""
    return f"{factor:.2g}" if factor < 100 else f"{round(factor, -2):.0f}"


def _least(row: dict[str, float | None], names: Iterable[str]) -> float:
    """Return the lowest error of these columns; infinite if all are unknown."""
    return min((value for name in names if (value := row[name]) is not None), default=math.inf)
