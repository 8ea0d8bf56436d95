"""Transient and steady part against the equations, in the docs: the recorded errors of the shipped models.

    python -m lfno.paper.report.split results/benchmarks docs/results/split.md docs/tutorials/what-is-transient.md
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from lfno.core.tensorfile import write_atomically
from lfno.paper.report.mirror import with_table

#: the lines between which the table stands
BEGIN, END = "<!-- split: python -m lfno.paper.report.split -->", "<!-- end of the split -->"
#: promised: the error of each part over that of the prediction
MOST = 1.5


def split_table(folder: Path) -> str:
    """Return the errors of prediction, steady and transient part as Markdown, and a line that says what they are."""
    titles = ("data set", "model", "prediction", "steady part", "transient part", "at most 1.5 times", "samples")
    lines = ["| " + " | ".join(titles) + " |", "|---" * len(titles) + "|"]
    for row in json.loads((folder / "split.json").read_text(encoding="utf-8")):
        errors = [f"{100 * row[part]:.2g} %" for part in ("prediction", "steady", "transient")]
        holds = f"yes, {row['ratio']:.2f}" if row["ratio"] <= MOST else f"no, {row['ratio']:.2g}"
        cells = (f"`{row['name']}`", row["kind"], *errors, holds, f"{row['settled']} of {row['samples']}")
        lines.append("| " + " | ".join(cells) + " |")
    how = (
        "Mean errors on test samples: of the prediction relative to the response, of the parts relative to the larger of "
        "steady part and response. The last column counts the samples that have a periodic steady state. Recorded by "
        "`benchmarks/split.py`."
    )
    return "\n".join([*lines, "", how])


def main(folder: str, *pages: str) -> None:
    """Write the table into pages."""
    for page in map(Path, pages):
        text = with_table(page.read_text(encoding="utf-8"), split_table(Path(folder)), BEGIN, END)
        write_atomically(page, text.encode())


if __name__ == "__main__":
    main(*sys.argv[1:])
