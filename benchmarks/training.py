"""Measure the time of a training step: of the default LFNO and of FNO, of a stack of runs and of a single run.

    python benchmarks/training.py [--gpu] [--out results/benchmarks/training.json]

The program prints a table with the promised values for one H200. Without --gpu, it measures one run on one CPU thread ("cpu
step": a training step, "cpu signal": the prediction of one signal). If there is a GPU, it also measures a training step of a
stack ("stack") and of one run ("single"). A stack is a group of RUNS runs that are trained together.
"""

from __future__ import annotations

import argparse
import time
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
import torch

from lfno.cli.allocator import keep_freed_memory
from lfno.core.environment import environment
from lfno.core.grid import Grid
from lfno.core.json_text import to_json
from lfno.core.tensorfile import write_atomically
from lfno.data.dataset import Dataset
from lfno.data.split import Split, standard
from lfno.paper.presets import find_preset
from lfno.training.device import best_device
from lfno.training.loop import Trainer
from lfno.training.networks import make_task
from lfno.training.presets import Preset

#: runs of a stack: five ODEs with three seeds
RUNS = 15
#: samples of a data set of the paper
SAMPLES = 380
#: epochs of the longest training of the paper
EPOCHS = 5000
#: time points of a signal
POINTS = 2048
#: networks to compare: a name, the model and the changes of its default preset
NETWORKS: tuple[tuple[str, str, dict[str, Any]], ...] = (
    ("FNO", "fno", {}),
    ("LFNO", "lfno", {"steady": "exact", "steady_decay": 0.0}),
    ("LFNO with R", "lfno", {"steady_decay": 1e-4}),
    ("LFNO, frequency form", "lfno", {"steady": "exact", "steady_decay": 0.0, "hold": "trigonometric"}),
)
#: largest promised ratios to FNO: (network, quantity) → ratio
PROMISED = {
    ("LFNO", "stack"): 1.25,
    ("LFNO with R", "stack"): 2.0,
    ("LFNO", "single"): 1.5,
    ("LFNO", "memory"): 1.5,
    ("LFNO", "cpu step"): 2.0,
    ("LFNO", "cpu signal"): 2.0,
}


@dataclass(frozen=True)
class Measured:
    """Seconds of one training step, or of one prediction, and the peak memory of the GPU in bytes (0 on a CPU)."""

    seconds: float
    memory: int = 0


def tasks_of(preset: Preset, runs: int, split: Split, count: int) -> list[Any]:
    """Return runs on noise, because training on noise takes as long as on signals. Three runs (seeds) share a data set.

    count: number of samples of a data set.
    """
    generator, grid, tasks = np.random.default_rng(0), Grid.line(POINTS, dt=0.01), []
    for run in range(runs):
        if run % 3 == 0:
            data = Dataset(*generator.standard_normal((2, count, 1, POINTS)).astype(np.float32), grid)
        tasks.append(make_task(data, split, preset, run % 3))
    return tasks


def epoch_seconds(tasks: list[Any], preset: Preset, looks: int, every: int, device: str) -> float:
    """Return the median seconds of an epoch, including its share of the time for validation.

    looks: number of measured validations. One more validation comes first and is not measured, because the first epochs include
        the capture of the CUDA graph.
    every: number of epochs from one validation to the next.
    """
    config = replace(preset.training, epochs=(looks + 1) * every, validate_every=every)
    trainer = Trainer(tasks, config, device)
    trainer.run()
    return float(median(np.diff(trainer.history.seconds))) / every


def step(model: str, changes: dict[str, Any], runs: int, device: str) -> Measured:
    """Measure a training step of the default preset with batch 16 and one validation sample.

    An epoch has 4 steps on a GPU and 1 step on a CPU.
    """
    steps, looks, every = (4, 5, 20) if device == "cuda" else (1, 3, 1)
    preset = find_preset("default")(model, Grid.line(POINTS, dt=0.01)).change(batch=16, **changes)
    count = 16 * steps
    split = Split(np.arange(count), np.arange(count, count + 1), np.arange(count + 1, count + 2))
    tasks = tasks_of(preset, runs, split, count + 2)
    if device == "cuda":
        torch.cuda.empty_cache()
        torch.cuda.reset_peak_memory_stats()
    seconds = epoch_seconds(tasks, preset, looks, every, device) / steps
    return Measured(seconds, torch.cuda.max_memory_allocated() if device == "cuda" else 0)


def answer(model: str, changes: dict[str, Any]) -> Measured:
    """Measure the prediction of one signal on a CPU. All values that depend on the weights only are cached.

    The time is the processor time, because other processes hardly change it.
    """
    preset = find_preset("default")(model, Grid.line(POINTS, dt=0.01)).change(**changes)
    task = tasks_of(preset, 1, Split(np.arange(1), np.arange(1, 2), np.arange(2, 3)), 3)[0]
    network, x, times = task.model.eval(), torch.randn(1, 1, POINTS), []
    with torch.no_grad():
        for _ in range(100):
            start = time.process_time()
            network(x)
            times.append(time.process_time() - start)
    return Measured(min(times))


def compare(device: str, only_gpu: bool) -> dict[str, dict[str, Measured]]:
    """Return quantity → network → measurement."""
    found: dict[str, dict[str, Measured]] = {}
    for name, model, changes in NETWORKS:
        if device == "cuda":
            found.setdefault("stack", {})[name] = step(model, changes, RUNS, device)
            found.setdefault("single", {})[name] = step(model, changes, 1, device)
        if not only_gpu:
            found.setdefault("cpu step", {})[name] = step(model, changes, 1, "cpu")
            found.setdefault("cpu signal", {})[name] = answer(model, changes)
    if "stack" in found:
        found["memory"] = found["stack"]
    return found


def show(found: dict[str, dict[str, Measured]]) -> dict[str, Any]:
    """Print and return the measurements with their ratios to FNO."""
    rows: dict[str, Any] = {}
    for what, networks in found.items():
        memory = what == "memory"
        base = networks["FNO"].memory if memory else networks["FNO"].seconds
        for name, one in networks.items():
            value = one.memory if memory else one.seconds
            told = f"{value / 2**20:9.0f} MB" if memory else f"{1e3 * value:9.2f} ms"
            most = PROMISED.get((name, what))
            print(f"{what:12s}{name:24s}{told}{value / base:8.2f} × FNO{'' if most is None else f'   promised ≤ {most:g}'}")
            rows[f"{what}, {name}"] = {"value": value, "ratio": value / base, "promised": most}
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, help="JSON file for the table")
    parser.add_argument("--gpu", action="store_true", help="measure nothing on the CPU")
    given = parser.parse_args()
    keep_freed_memory()  # as the command line does
    device = best_device()
    torch.manual_seed(0)
    torch.set_num_threads(1)
    where = environment(device)
    print(f"{POINTS} points, batch 16, {where['hardware']}; stack: {RUNS} runs")
    rows = show(compare(device, given.gpu))
    figures: dict[str, Any] = {"points": POINTS, "runs": RUNS, "networks": rows, "environment": where}
    if device == "cuda":
        paper = find_preset("paper")("lfno", Grid.line(POINTS, dt=0.01))
        alone, together = (
            epoch_seconds(tasks_of(paper, runs, standard(SAMPLES), SAMPLES), paper, 5, 10, device) for runs in (1, RUNS)
        )
        cheaper, minutes = RUNS * alone / together, EPOCHS * together / 60
        print(f"the paper's LFNO, {RUNS} runs alone / as one stack: {cheaper:.1f}   promised ≥ 3")
        print(f"the paper's LFNO, {EPOCHS} epochs of the stack: {minutes:.1f} min   promised ≤ 5")
        figures |= {"epochs": EPOCHS, "alone": alone, "together": together, "cheaper": cheaper, "minutes": minutes}
    if given.out is not None:
        write_atomically(given.out, (to_json(figures, indent=1) + "\n").encode())


if __name__ == "__main__":
    main()
