"""Measure the errors of the transient and the steady part, and the error of the prediction.

    python benchmarks/split.py [NAME[=MODEL] …] [--out results/benchmarks/split.json]

NAME is a data set with random inputs; the names of these data sets end in -rich. MODEL is a model file or the name of a shipped
model. Without =MODEL, the program takes the shipped model NAME. The errors are means over the test samples, in per cent. The
error of the prediction is relative to the response. The errors of the parts are relative to the steady part or to the response,
whichever is larger. `ratio` is the larger error of the two parts divided by the error of the prediction. `settled` is the
number of test samples with a periodic steady state.

The file of --out has the same values for each data set, with errors as fractions, and the kind of the model.
results/benchmarks/split.json holds the errors of the shipped models. After a new run, this command writes them into the pages:

    python -m lfno.paper.report.split results/benchmarks docs/results/split.md docs/tutorials/what-is-transient.md
"""

from __future__ import annotations

import argparse
from pathlib import Path

import lfno
from lfno.core.json_text import to_json
from lfno.core.tensorfile import write_atomically
from lfno.data.split import standard
from lfno.evaluation.splitting import score_split

NAMES = ("duffing-c05", "pendulum-c05", "lorenz-rho5", "lorenz-rho10", "heat", "reaction-diffusion")
RICH = tuple(f"{name}-rich" for name in NAMES)
MOST = 1.5  # largest promised ratio of the error of a part to the error of the prediction


def pairs_of(words: list[str]) -> dict[str, str]:
    """Return data set → model for words NAME=MODEL or NAME; all data sets of RICH if there are no words."""
    return {name: model or name for name, _, model in (word.partition("=") for word in words or RICH)}


def row(name: str, model: str) -> dict[str, float | str]:
    """Return the errors of one model on the test samples of the data set `name`."""
    whole = lfno.dataset(name, steady=True)
    data = whole[standard(len(whole)).test]
    asked = lfno.load(model)
    errors = score_split(asked, data).means()
    worst = max(errors["steady"], errors["transient"]) / errors["prediction"]
    facts = {"name": name, "model": model, "kind": asked.kind, **errors, "ratio": worst}
    return {**facts, "settled": int(data.settled.sum()), "samples": len(data)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("pairs", nargs="*", metavar="NAME[=MODEL]", help=f"all of {', '.join(RICH)} if not given")
    parser.add_argument("--out", type=Path, help="JSON file for the errors")
    given = parser.parse_args()
    heading = ("data set", "prediction %", "steady %", "transient %", "ratio", "settled")
    print(f"{heading[0]:26s}" + "".join(f"{word:>14s}" for word in heading[1:]))
    rows = []
    for name, model in pairs_of(given.pairs).items():
        rows.append(found := row(name, model))
        errors = "".join(f"{100 * float(found[key]):14.2f}" for key in ("prediction", "steady", "transient"))
        print(f"{name:26s}{errors}{found['ratio']:14.2f}{found['settled']:>10}/{found['samples']}", flush=True)
    print(f"promised: a ratio of at most {MOST}")
    if given.out:
        write_atomically(given.out, (to_json(rows, indent=1) + "\n").encode())


if __name__ == "__main__":
    main()
