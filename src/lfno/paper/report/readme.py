"""The results in the README: sentences, the table of errors and the chart of errors, made from the records of runs.

    python -m lfno.paper.report.readme results README.md docs/figures/errors.svg
"""

from __future__ import annotations

import math
import sys
from functools import partial
from pathlib import Path

from lfno.core.errors import LfnoError
from lfno.core.tensorfile import write_atomically
from lfno.paper.record import load_records
from lfno.paper.report.baselines import Scores, gather
from lfno.paper.report.figures.overview import error_chart
from lfno.paper.report.headline import compared, reading, shown_tasks
from lfno.paper.report.selection import Runs
from lfno.paper.report.tables import DASH
from lfno.plots.style import as_svg
from lfno.systems import titles

#: the lines of the README before and after the results
BEGIN, END = "<!-- results: python -m lfno.paper.report.readme -->", "<!-- end of the results -->"
#: baseline or model -> heading of its column
COLUMNS = {
    "interpolation": "interpolation", "linear": "linear baseline", "identified": "identified equation", "FNO": "FNO",
    "LFNO": "LFNO",
}  # fmt: skip
RAISED = str.maketrans("0123456789-", "⁰¹²³⁴⁵⁶⁷⁸⁹⁻")  # for exponents


def readme_table(runs: Runs, baselines: dict[str, Scores]) -> str:
    """Return the table of errors as Markdown, with one row for each data set. The lowest error of a row is bold."""
    lines = ["| | " + " | ".join(COLUMNS.values()) + " |", "|---" * (1 + len(COLUMNS)) + "|"]
    default = runs.main.where(preset="default")
    for heading, tasks in shown_tasks(runs).items():
        lines.append(f"| **{heading}** |" + " |" * len(COLUMNS))
        for task in tasks:
            errors = compared(default, baselines, task)
            row = {name: errors.get(name) for name in COLUMNS}
            least = min((value for value in row.values() if value is not None), default=math.nan)
            cells = (DASH if v is None else f"**{short(v)}**" if v == least else short(v) for v in row.values())
            lines.append(f"| {titles.title(task.removesuffix('-rich'))} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def short(value: float) -> str:
    """Return an error as text with two digits. Errors below 10⁻⁴ have one digit and a power of ten.

    >>> short(0.0551), short(0.00035), short(3.1e-8)
    ('0.055', '0.00035', '3·10⁻⁸')
    """
    if not math.isfinite(value):
        return "diverged"
    if value >= 1e-4:
        return f"{value:.2g}"
    digit, _, power = f"{value:.0e}".partition("e")
    return f"{digit}·10{str(int(power)).translate(RAISED)}"


def with_results(text: str, results: str) -> str:
    """Return the README `text` with the results between the lines BEGIN and END. Raises LfnoError if a line is missing."""
    before, begin, rest = text.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not begin or not end:
        raise LfnoError(f"the README needs the lines {BEGIN} and {END} around its results")
    return f"{before}{BEGIN}\n{results}\n{END}{after}"


def main(results: str, readme: str, chart: str) -> None:
    """Write the results into the README, and write the chart. The arguments are paths of the records, README and chart."""
    runs = Runs(load_records(Path(results)))
    baselines = gather([task for tasks in shown_tasks(runs).values() for task in tasks], Path(results), seconds=0)
    path = Path(readme)
    block = "\n\n".join([" ".join(reading(runs, baselines)), readme_table(runs, baselines)])
    write_atomically(path, with_results(path.read_text(encoding="utf-8"), block).encode())
    picture = as_svg(partial(error_chart, runs, baselines))
    if picture is not None:
        write_atomically(Path(chart), picture)


if __name__ == "__main__":
    main(*sys.argv[1:])
