"""The table of the Fine Steering Mirror benchmark in README and documentation: our recorded errors and the published errors.

To write the table into pages:

    python -m lfno.paper.report.mirror results/benchmarks README.md docs/reference/challenges.md
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import numpy as np

from lfno.challenges.table import CHALLENGES
from lfno.core.errors import LfnoError
from lfno.core.tensorfile import write_atomically

NAME = "fine-steering-mirror"
#: method of `lfno benchmark` -> its name in the table
LABELS = {
    "lfno": "**LFNO** plus a linear model",
    "level": "this linear model alone: a frequency response that depends on the input level",
}
#: the lines before and after the table
BEGIN, END = "<!-- mirror: python -m lfno.paper.report.mirror -->", "<!-- end of the mirror -->"


def mirror_table(folder: Path) -> str:
    """Return the table as Markdown, and a line about the run. `folder` holds the JSON records that `lfno benchmark` wrote."""
    challenge = CHALLENGES[NAME]
    names = challenge.figures
    rows = []
    for method in ("lfno", "level"):
        record = json.loads((folder / f"{NAME}-{method}.json").read_text(encoding="utf-8"))
        figures = " | ".join(_figure(record["figures"][name]) for name in names)
        rows.append(f"| {_label(record)} | {figures} | this library |")
    for row in challenge.published:
        cells = ("" if value is None else f"{value:.3g}" for value in row.figures)
        rows.append(f"| {row.method} | " + " | ".join(cells) + f" | {row.source} |")
    titles = (f"root mean square error, {challenge.unit}", *names, "source")
    head = ["| " + " | ".join(titles) + " |", "|---" * len(titles) + "|"]
    record = json.loads((folder / f"{NAME}-lfno.json").read_text(encoding="utf-8"))
    made = record["environment"]
    how = (
        f"Recorded with commit {made['commit']}: {record['configuration']['seeds']} seeds in one stack, "
        f"{record['seconds']:.0f} s in all on one {made['hardware']}. The published errors are copied from the named sources."
    )
    return "\n".join([*head, *rows, "", how])


def _label(record: dict[str, Any]) -> str:
    """Return the name of a method and the number of its seeds."""
    count = len(next(iter(record["figures"].values())))
    return LABELS[record["method"]] + (f", mean ± standard deviation of {count} seeds" if count > 1 else "")


def _figure(values: list[float]) -> str:
    """Return mean ± standard deviation of the errors as text; the error alone if there is only one."""
    mean = f"**{np.mean(values):.3g}**"
    return f"{mean} ± {np.std(values, ddof=1):.1g}" if len(values) > 1 else mean


def with_table(text: str, table: str, first: str = BEGIN, last: str = END) -> str:
    """Return the page `text` with the table between the lines `first` and `last`. Raises LfnoError if a line is missing."""
    before, begin, rest = text.partition(first)
    _, end, after = rest.partition(last)
    if not begin or not end:
        raise LfnoError(f"the page needs the lines {first} and {last} around the table")
    return f"{before}{first}\n{table}\n{last}{after}"


def main(folder: str, *pages: str) -> None:
    """Write the table into the pages."""
    for page in map(Path, pages):
        text = with_table(page.read_text(encoding="utf-8"), mirror_table(Path(folder)))
        write_atomically(page, text.encode())


if __name__ == "__main__":
    main(*sys.argv[1:])
