"""The table with the errors of the transient and steady parts of the shipped models, in the documentation.

The errors are recorded in results/benchmarks. The true parts come from the equations. To write the table into pages:

    python -m lfno.paper.report.split results/benchmarks docs/results/split.md docs/tutorials/what-is-transient.md
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from lfno.core.tensorfile import write_atomically
from lfno.paper.report.mirror import with_table

#: the lines before and after the table
BEGIN, END = "<!-- split: python -m lfno.paper.report.split -->", "<!-- end of the split -->"
#: largest ratio that we promise: the error of a part divided by the error of the prediction
MOST = 1.5


def split_table(folder: Path) -> str:
    """Return the table as Markdown, and sentences that explain the errors.

    folder: holds the file split.json, which `benchmarks/split.py --out` writes. Its errors are fractions.
    """
    titles = ("data set", "model", "prediction", "steady part", "transient part", "ratio at most 1.5", "samples")
    lines = ["| " + " | ".join(titles) + " |", "|---" * len(titles) + "|"]
    for row in json.loads((folder / "split.json").read_text(encoding="utf-8")):
        errors = [f"{100 * row[part]:.2g} %" for part in ("prediction", "steady", "transient")]
        holds = f"yes, {row['ratio']:.2f}" if row["ratio"] <= MOST else f"no, {row['ratio']:.2g}"
        cells = (f"`{row['name']}`", row["kind"], *errors, holds, f"{row['settled']} of {row['samples']}")
        lines.append("| " + " | ".join(cells) + " |")
    how = (
        "The errors are means over test samples. The error of the prediction is relative to the response. The errors of the "
        "parts are relative to the steady part or to the response, whichever is larger. The ratio is the larger error of the "
        "two parts divided by the error of the prediction. The last column counts the samples with a periodic steady state. "
        "`benchmarks/split.py` recorded the errors."
    )
    return "\n".join([*lines, "", how])


def main(folder: str, *pages: str) -> None:
    """Write the table into the pages."""
    for page in map(Path, pages):
        text = with_table(page.read_text(encoding="utf-8"), split_table(Path(folder)), BEGIN, END)
        write_atomically(page, text.encode())


if __name__ == "__main__":
    main(*sys.argv[1:])
