"""Profile a training step of the default LFNO on a GPU: the twenty kernels with the longest times, in ms per step."""

from __future__ import annotations

import argparse

import numpy as np
import torch
from torch.profiler import ProfilerActivity, profile
from training import NETWORKS, RUNS, tasks_of

from lfno.core.grid import Grid
from lfno.data.split import Split
from lfno.paper.presets import find_preset
from lfno.training.loop import Trainer


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--network", default="LFNO", choices=[name for name, _, _ in NETWORKS])
    parser.add_argument("--runs", type=int, default=RUNS, help="number of runs that are trained together")
    given = parser.parse_args()
    model, changes = next((model, changes) for name, model, changes in NETWORKS if name == given.network)
    preset = find_preset("default")(model, Grid.line(2048, dt=0.01)).change(batch=16, **changes)
    split = Split(np.arange(16), np.arange(16, 17), np.arange(17, 18))
    trainer = Trainer(tasks_of(preset, given.runs, split, 18), preset.training, "cuda")
    trainer._shuffle()
    for _ in range(3):
        trainer._pass()
    torch.cuda.synchronize()
    with profile(activities=[ProfilerActivity.CUDA, ProfilerActivity.CPU]) as found:
        trainer._pass()
        torch.cuda.synchronize()
    events = [e for e in found.key_averages() if e.self_device_time_total > 0 and e.device_type.name == "CUDA"]
    events.sort(key=lambda e: -e.self_device_time_total)
    total = sum(e.self_device_time_total for e in events)
    print(f"{given.network}, {given.runs} runs: {total / 1e3:.2f} ms in {sum(e.count for e in events)} kernels")
    for event in events[:20]:
        print(f"{event.self_device_time_total / 1e3:9.3f} ms {event.count:6d} × {event.key[:90]}")


if __name__ == "__main__":
    main()
