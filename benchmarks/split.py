"""Errors of the split into transient and steady, and the error of the prediction.

    python benchmarks/split.py [NAME=MODEL …] [--out results/benchmarks/split.json]

NAME is a rich data set. MODEL is a model file or the name of a shipped model (by default the one of the same name). Errors are
means over the test samples, in per cent. The error of the prediction is relative to the response, and the errors of the parts
are relative to the larger of steady part and response. `settled` is the number of test samples with a periodic steady state.
The docs show the record of the shipped models: `python -m lfno.paper.report.split` writes the table after a new run.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

import lfno
from lfno.core.tensorfile import write_atomically
from lfno.data.split import standard
from lfno.evaluation.splitting import score_split

RICH = ("duffing-c05-rich", "pendulum-c05-rich", "lorenz-rho5-rich", "heat-rich", "reaction-diffusion-rich")
MOST = 1.5  # largest promised ratio of the error of a part to the error of the prediction


def row(name: str, model: str) -> dict[str, float | str]:
    """The errors of one model on the test samples of its data set."""
    whole = lfno.dataset(name, steady=True)
    data = whole[standard(len(whole)).test]
    asked = lfno.load(model)
    errors = score_split(asked, data).means()
    worst = max(errors["steady"], errors["transient"]) / errors["prediction"]
    facts = {"name": name, "model": model, "kind": asked.kind, **errors, "ratio": worst}
    return {**facts, "settled": int(data.settled.sum()), "samples": len(data)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("pairs", nargs="*", metavar="NAME=MODEL")
    parser.add_argument("--out", type=Path, help="write the figures here as JSON")
    given = parser.parse_args()
    pairs = dict(pair.split("=", 1) for pair in given.pairs) or {name: name for name in RICH}
    heading = ("data set", "prediction %", "steady %", "transient %", "ratio", "settled")
    print(f"{heading[0]:26s}" + "".join(f"{word:>14s}" for word in heading[1:]))
    rows = []
    for name, model in pairs.items():
        rows.append(found := row(name, model))
        figures = "".join(f"{100 * float(found[key]):14.2f}" for key in ("prediction", "steady", "transient"))
        print(f"{name:26s}{figures}{found['ratio']:14.2f}{found['settled']:>10}/{found['samples']}", flush=True)
    print(f"promised: a ratio of at most {MOST}")
    if given.out:
        write_atomically(given.out, (json.dumps(rows, indent=1) + "\n").encode())


if __name__ == "__main__":
    main()
