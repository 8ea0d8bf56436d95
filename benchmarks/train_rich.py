"""Train networks on data sets with random inputs, with two labels: the response from rest and the steady state.

    python benchmarks/train_rich.py --out FOLDER [NAME …] [--labels both|rest] [--seeds 3] [--set epochs=800]

NAME is a data set of a damped system; the names of data sets with random inputs end in -rich. `--labels rest` trains on the
response alone. The seeds of a data set are trained together. The layers have no trained Fourier weights R: with R, the steady
part of the network is not the steady state of the system. The same command resumes a run that was stopped, and skips data sets
that have a file of errors.

FOLDER/records/NAME-LABELS.json has the errors of every seed on the test samples. FOLDER/weights/NAME.safetensors is the network
with the lowest validation loss; it is written for `--labels both` only. The remaining time is printed.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path
from typing import Any

import numpy as np

from lfno.core.json_text import to_json
from lfno.core.tensorfile import write_atomically
from lfno.data.make import dataset, exists, plan
from lfno.data.parallel import make_all
from lfno.data.split import standard
from lfno.evaluation.splitting import score_split
from lfno.training.loop import Trainer
from lfno.training.networks import Trained, train_networks
from lfno.training.options import parse
from lfno.training.presets import default_preset

NAMES = ("duffing-c05", "pendulum-c05", "lorenz-rho5", "lorenz-rho10", "heat", "reaction-diffusion")
RICH = tuple(f"{name}-rich" for name in NAMES)
TOLD = 30.0  # s; shortest time between two lines about the progress


def watcher(name: str) -> Any:
    """Return a function that prints the epoch, the lowest validation loss of each seed, and the remaining time."""
    last = time.monotonic()

    def watch(trainer: Trainer, record: dict[str, Any]) -> None:
        nonlocal last
        if time.monotonic() - last > TOLD or record["epoch"] == trainer.config.validate_every:
            last = time.monotonic()
            left = record["seconds"] / record["epoch"] * (trainer.config.epochs - record["epoch"])
            best = " ".join(f"{loss:.4f}" for loss in record["best"])
            print(f"{name}: epoch {record['epoch']}/{trainer.config.epochs}, best {best}, {left / 60:.1f} min left", flush=True)

    return watch


def record_of(run: Trained, name: str, labels: str) -> dict[str, Any]:
    """Return the errors of every seed on the test samples, and facts of the run, for JSON."""
    data = dataset(name, steady=True)
    data = data[standard(len(data)).test]
    members = [score_split(model, data).means() for model in run.models]
    return {
        "name": name,
        "labels": labels,
        "members": members,
        "validation": run.models[0].provenance["validation_loss"],
        "seconds": run.trainer.seconds,
        "test_samples": len(data),
        "settled": int(data.settled.sum()),
        "training": run.models[0].provenance["training"],
        "config": run.models[0].description()["config"],
    }


def train(name: str, labels: str, seeds: int, out: Path, device: str | None, changes: dict[str, Any]) -> None:
    """Train the seeds of one data set, and write their errors and the best network into `out`."""
    record_path = out / "records" / f"{name}-{labels}.json"
    if record_path.exists():
        print(f"{name} ({labels}): done before, see {record_path}")
        return
    data = dataset(name, steady=labels == "both")
    folder = out / "runs" / f"{name}-{labels}"
    # steady="exact" is a network without R
    preset = default_preset("lfno", data.grid).change(**{"steady": "exact", "steady_decay": 1e-4, **changes})
    run = train_networks(data, standard(len(data)), preset, ensemble=seeds, folder=folder, resume=folder.exists(),
                         watch=watcher(name), device=device)  # fmt: skip
    record = record_of(run, name, labels)
    write_atomically(record_path, to_json(record, indent=1).encode())
    best = int(np.argmin(record["validation"]))
    if labels == "both":
        facts = {"test_l2": record["members"][best]["prediction"], "split_errors": record["members"][best]}
        (out / "weights").mkdir(parents=True, exist_ok=True)
        run.models[best].save(out / "weights" / f"{name}.safetensors", **facts)
    for member in record["members"]:
        print(f"{name} ({labels}): " + ", ".join(f"{key} {100 * value:.2f} %" for key, value in member.items()), flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"data sets; all of {', '.join(RICH)} if not given")
    parser.add_argument("--out", type=Path, required=True, help="folder for errors, weights and unfinished runs")
    parser.add_argument("--labels", choices=("both", "rest"), default="both", help="rest: without steady states")
    parser.add_argument("--seeds", type=int, default=3, help="number of networks for a data set")
    parser.add_argument("--processes", type=int, default=4, help="data sets that are made at the same time")
    parser.add_argument("--device", help="cpu or cuda; by default cuda if there is a GPU")
    parser.add_argument("--set", action="append", dest="settings", help="an option of model or training, as in epochs=800")
    given = parser.parse_args()
    names = given.names or list(RICH)
    missing = [name for name in names if not exists(plan(name, steady=True))]
    if missing:
        print(f"making {', '.join(missing)} with their steady states: about two minutes of one core each", flush=True)
        make_all(missing, {"steady": True}, None, min(given.processes, len(missing)), lambda *news: None)
    for place, name in enumerate(names):
        print(f"{name}: {place + 1} of {len(names)}", flush=True)
        train(name, given.labels, given.seeds, given.out, given.device, parse(given.settings))


if __name__ == "__main__":
    main()
