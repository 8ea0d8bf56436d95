"""Compare errors on a new record of two masses with a cubic spring: linear model, model with feedback, LFNO, and LSTM.

    python benchmarks/two_masses.py [mild] [strong] [--minutes M] [--samples N] [--lstm] [--out FILE.json]

`lfno.fit` gets a record of 50,000 samples at 100 Hz with 1 % noise (see masses.py). Every model that `lfno.fit` compares then
predicts a new record. The relative error counts the samples of this record after the first ten seconds. `--lstm` trains an LSTM
of two layers with 64 units for the training time of the LFNO. The last line is the model that `lfno.fit` returned. A model with
feedback has linear modes and a nonlinear force that acts back on them.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path
from typing import Any

import masses
import numpy as np
import torch

import lfno
from lfno.core.grid import Grid
from lfno.core.json_text import to_json
from lfno.data.prepare import prepare
from lfno.data.prepared import Prepared
from lfno.data.signals.record import Record
from lfno.surrogate import Surrogate
from lfno.systems.base import Channel

SHARES = {"mild": 0.1, "strong": 0.5}  # rms of the cubic spring force divided by the rms of the linear spring force
SETTLED = 1000  # first samples of the new record that do not count
WINDOW = 600  # samples of a window of the LSTM
WARM = 200  # first samples of a window that do not count


def as_record(made: masses.Record) -> Record:
    """Return a simulated record as a `Record`."""
    channels = (Channel("force", "N"),), (Channel("x", "m"), Channel("y", "m"))
    return Record(made.force[None], made.motion, Grid.line(len(made.force), masses.STEP), *channels)


def error(answer: np.ndarray, record: Record) -> float:
    """Return the root of the mean over outputs of (RMSE / RMS)²."""
    missed, truth = (answer - record.outputs)[:, SETTLED:], record.outputs[:, SETTLED:]
    return float(np.sqrt(((missed**2).mean(1) / (truth**2).mean(1)).mean()))


def lstm(prepared: Prepared, new: Record, seconds: float) -> np.ndarray:
    """Return the prediction of `new` by an LSTM that is trained for some seconds on random windows of the training part."""
    piece = prepared.stretches("train")[0]
    scales = [values.std(-1, keepdims=True) for values in (piece.inputs, piece.outputs)]
    x, y = (torch.as_tensor(v / s, dtype=torch.float32).T for v, s in zip((piece.inputs, piece.outputs), scales, strict=True))
    torch.manual_seed(0)
    core = torch.nn.LSTM(x.shape[1], 64, 2, batch_first=True)
    read = torch.nn.Linear(64, y.shape[1])
    adam = torch.optim.Adam([*core.parameters(), *read.parameters()], lr=3e-3)
    begin = time.perf_counter()
    while (spent := time.perf_counter() - begin) < seconds:
        adam.param_groups[0]["lr"] = 3e-3 * (1 - spent / seconds)
        starts = torch.randint(len(x) - WINDOW, (32,))
        batch, truth = (torch.stack([values[s : s + WINDOW] for s in starts]) for values in (x, y))
        adam.zero_grad()
        (read(core(batch)[0]) - truth)[:, WARM:].square().mean().backward()
        adam.step()
    with torch.no_grad():
        asked = torch.as_tensor(new.inputs / scales[0], dtype=torch.float32).T[None]
        return read(core(asked)[0])[0].T.numpy() * scales[1]


def run(kind: str, minutes: float | None, samples: int, with_lstm: bool) -> list[dict[str, Any]]:
    """Print one line for each candidate and for the model that `lfno.fit` returned."""
    known, new = (as_record(masses.record(samples, seed, SHARES[kind])) for seed in (0, 1))
    prepared = prepare(known)
    begin = time.perf_counter()
    model = lfno.fit(prepared, minutes=minutes)
    whole = time.perf_counter() - begin
    assert model.fitted is not None
    lines = []
    for one in model.fitted.candidates:
        answer = Surrogate(one.members, model.provenance).ask(new).values
        lines.append({"record": kind, "model": one.name, "error": error(answer, new), "validation": one.error,
                      "parameters": one.parameters, "seconds": one.seconds})  # fmt: skip
    if with_lstm:
        lines.append({"record": kind, "model": "LSTM 2 × 64", "error": error(lstm(prepared, new, lines[-1]["seconds"]), new),
                      "seconds": lines[-1]["seconds"]})  # fmt: skip
    lines.append({"record": kind, "model": f"delivered: {model.kind}", "error": error(model.ask(new).values, new),
                  "seconds": whole})  # fmt: skip
    for line in lines:
        print(f"{kind:8s}{line['model']:24s}{line['error']:10.4f}{line['seconds']:10.0f} s", flush=True)
    return lines


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("kinds", nargs="*", default=list(SHARES), choices=list(SHARES), help="strength of the cubic spring")
    parser.add_argument("--minutes", type=float, help="time limit of each fit")
    parser.add_argument("--samples", type=int, default=50_000, help="number of samples of each record")
    parser.add_argument("--lstm", action="store_true", help="train an LSTM, too")
    parser.add_argument("--out", type=Path, help="JSON file for the errors")
    asked = parser.parse_args()
    lines = [line for kind in asked.kinds for line in run(kind, asked.minutes, asked.samples, asked.lstm)]
    if asked.out:
        asked.out.write_text(to_json(lines, indent=2) + "\n")


if __name__ == "__main__":
    main()
