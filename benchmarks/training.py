"""Many runs as one: an epoch of the paper's LFNO on five ODEs with three seeds as one stack, against fifteen alone.

`python benchmarks/training.py [--out results/benchmarks/training.json]` prints a table with what is promised on one
H200; on a CPU it measures shorter series, and its figures have nothing to do with the promise.
"""

from __future__ import annotations

import argparse
import json
from dataclasses import replace
from pathlib import Path
from statistics import median

import numpy as np
import torch

from lfno.core.grid import Grid
from lfno.core.tensorfile import write_atomically
from lfno.data.dataset import Dataset
from lfno.data.split import standard
from lfno.paper.presets import find_preset
from lfno.paper.record import environment
from lfno.training.loop import Trainer
from lfno.training.networks import best_device, make_task

RUNS, SAMPLES, EPOCHS = 15, 380, 5000
CHEAPER, MINUTES = 3.0, 5.0  # promised


def epoch_seconds(runs: int, points: int, looks: int, every: int, device: str) -> float:
    """Seconds of an epoch, looks at the validation samples included; the first look, which captures, is left out."""
    generator = np.random.default_rng(0)
    grid = Grid.line(points, dt=0.01)
    preset = find_preset("paper")("lfno", grid)
    tasks = []
    for run in range(runs):  # as in the matrix, every third run has data of its own: noise takes as long as a signal
        if run % 3 == 0:
            arrays = generator.standard_normal((2, SAMPLES, 1, points)).astype(np.float32)
            data = Dataset(*arrays, grid)
        tasks.append(make_task(data, standard(SAMPLES), preset, run % 3))
    trainer = Trainer(tasks, replace(preset.training, epochs=(looks + 1) * every, validate_every=every), device)
    trainer.run()
    return float(median(np.diff(trainer.history.seconds))) / every


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, help="write the figures here as JSON")
    given = parser.parse_args()
    device = best_device()
    points, looks, every = (2048, 5, 10) if device == "cuda" else (128, 3, 2)
    torch.manual_seed(0)
    alone, together = (epoch_seconds(runs, points, looks, every, device) for runs in (1, RUNS))
    cheaper, minutes = RUNS * alone / together, EPOCHS * together / 60
    where = environment(device)
    print(f"paper's LFNO, {points} points, {where['hardware']}")
    print(f"{'':42s}{'measured':>12s}{'promised':>12s}")
    print(f"{'an epoch of one run':42s}{1e3 * alone:9.2f} ms")
    print(f"{f'an epoch of a stack of {RUNS}':42s}{1e3 * together:9.2f} ms")
    print(f"{f'{RUNS} runs alone / as one stack':42s}{cheaper:11.1f}×{'≥ 3×':>12s}")
    print(f"{f'{EPOCHS} epochs of the stack':42s}{minutes:8.1f} min{'≤ 5 min':>12s}")
    if device == "cuda":
        print("both reached" if cheaper >= CHEAPER and minutes <= MINUTES else "not both reached")
    if given.out is not None:
        figures = {"points": points, "runs": RUNS, "epochs": EPOCHS, "alone": alone, "together": together}
        figures |= {"cheaper": cheaper, "minutes": minutes, "environment": where}
        write_atomically(given.out, (json.dumps(figures, indent=1) + "\n").encode())


if __name__ == "__main__":
    main()
