"""The cost table: parameters, arithmetic, time and memory of one forward pass of one sample, measured here and now.

`python -m lfno.paper.report.costs results` writes its measurements to `results/costs.json`. A report on another machine shows
that table before its own.
"""

from __future__ import annotations

import importlib
import importlib.util
import json
import sys
from collections.abc import Callable, Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from lfno.core.errors import LfnoError
from lfno.core.grid import Grid
from lfno.paper.presets import find_preset
from lfno.paper.report import paper
from lfno.paper.report.selection import Runs
from lfno.paper.report.tables import DASH, Row, Table, TableCell
from lfno.systems import titles

#: the paper's networks for the ODEs, on its grid: 2048 steps of 0.01 s
PAPER_GRID = Grid.line(2048, dt=0.01)
KEPT = "costs.json"
COLUMNS = ("", "parameters", "as real numbers", "million MACs", "million FLOPs", "latency [ms]", "peak memory [MB]")
LATENCY_MILLISECONDS = 2000.0  # longest measurement of a row; fewer than 100 runs if they would take longer
#: tasks whose default-preset networks are measured, the first of each group that was run
SHOWN = (titles.ODES, titles.LINES, titles.FLOWS)


def cost_table(runs: Runs) -> Table:
    """Return the table of costs: published values, the paper's networks, neuraloperator's FNO, and networks of other presets.
    """
    device = _device()
    table = Table(f"Cost of one forward pass of one sample on {_hardware(device)}", COLUMNS)
    table.heading("Published (NVIDIA RTX 3090; no unit is given for the MACs)")
    for model, row in paper.COST.items():
        flops = f"{10 * float(row['flops']):.3g}"
        table.add(model, row["parameters"], DASH, row["macs"], flops, row["latency"], row["memory"])
    table.heading("Measured: the paper's networks, ODE grid")
    for name, model, shape in _paper_models():
        table.add(name, *measure(model, shape, device))
    for task, preset, record in _run_models(runs):
        table.heading(f"{preset} preset, {titles.title(task)}")
        for label, model, shape in record:
            table.add(label, *measure(model, shape, device))
    table.note = (
        "Parameters: a complex number counted once, then as two real ones. A complex product is four MACs; a Fourier "
        "transform of n points 5 n log₂ n FLOPs. Of a second pass: the first one also computes what depends on the weights "
        "alone, which a CPU keeps. Latency: mean of 100 runs after 10 to warm up, each waited for "
        "(fewer runs where 100 would take more than two seconds). Peak "
        "memory: what one pass holds beyond weights and input (the allocator's figure on a GPU, tensors on a CPU)."
    )
    return table


def kept(results: Path) -> list[Table]:
    """Return the table that was measured on another machine, if there is one."""
    try:
        tree = json.loads((results / KEPT).read_text())
        rows = [Row(r["name"], tuple(TableCell(**cell) for cell in r["cells"]), r["heading"]) for r in tree["rows"]]
        return [Table(tree["title"], tree["columns"], rows, tree["note"])]
    except (OSError, ValueError, KeyError, TypeError):
        return []


def measure(model: Any, shape: tuple[int, ...], device: str, runs: int = 100) -> tuple[str, ...]:
    """Return the cells of one row."""
    import torch

    from lfno.paper.cost import count_operations, count_parameters, latency, peak_memory

    model = model.to(device).eval()
    inputs = torch.from_numpy(np.random.default_rng(0).standard_normal(shape).astype(np.float32)).to(device)

    def run() -> Any:
        with torch.no_grad():
            return model(inputs)

    run()  # the first pass computes and caches values that depend on the weights only
    parameters, operations = count_parameters(model), count_operations(run)
    time = latency(run, device, warmups=1, runs=1)
    affordable = min(runs, int(LATENCY_MILLISECONDS / time.mean))
    if affordable > 1:
        time = latency(run, device, warmups=min(10, affordable), runs=affordable)
    return (
        f"{parameters['complex_once']:,}",
        f"{parameters['real']:,}",
        f"{operations['macs'] / 1e6:.3g}",
        f"{operations['flops'] / 1e6:.3g}",
        f"{time.mean:.3g} ± {time.std:.{1 if time.std < 10 else 2}g}",
        f"{peak_memory(run, device) / 1e6:.3g}",
    )


def _paper_models() -> Iterator[tuple[str, Any, tuple[int, ...]]]:
    from lfno.models import MODELS

    shape = (1, 1, *PAPER_GRID.shape)
    for name in ("FNO", "LNO", "LFNO"):
        yield name, MODELS[name](PAPER_GRID, **find_preset("paper")(name, PAPER_GRID).fields), shape
    if importlib.util.find_spec("neuralop") is not None:
        yield "FNO of neuraloperator", _neuraloperator(), shape


def _neuraloperator() -> Any:
    """Return neuraloperator's FNO with the same width, modes and depth, and with its default lift, projection and grid
    channels.
    """
    neuralop: Any = importlib.import_module("neuralop.models")
    make: Callable[..., Any] = neuralop.FNO
    return make(n_modes=(32,), in_channels=1, out_channels=1, hidden_channels=4, n_layers=4)


def _run_models(runs: Runs) -> Iterator[tuple[str, str, list[tuple[str, Any, tuple[int, ...]]]]]:
    from lfno.models import MODELS
    from lfno.systems import REGISTRY

    for group in SHOWN:
        for preset in (preset for preset in runs.main.presets if preset != "paper"):
            own = runs.main.where(preset=preset)
            task = next((task for task in group if task in own.tasks and task in REGISTRY), None)
            if task is None:
                continue
            grid, rows = REGISTRY[task].grid, []
            for label in own.where(task=task).labels:
                record = own.where(task=task, label=label).all[0]
                try:
                    model = MODELS[record.model.upper()](grid, **record.config)
                except (LfnoError, KeyError, TypeError):
                    continue  # a record of an older version whose configuration is not supported any more
                rows.append((label, model, (1, model.config.in_channels, *model.grid.shape)))
            if rows:
                yield task, preset, rows


def _device() -> str:
    import torch

    return "cuda" if torch.cuda.is_available() else "cpu"


def _hardware(device: str) -> str:
    import platform

    import torch

    return torch.cuda.get_device_name(0) if device == "cuda" else f"one {platform.machine()} CPU"


def main(results: str) -> None:
    """Measure the cost table and write it to the folder of records."""
    from lfno.core.tensorfile import write_atomically
    from lfno.paper.record import load_records

    table = cost_table(Runs(load_records(Path(results))))
    write_atomically(Path(results) / KEPT, (json.dumps(asdict(table), indent=1) + "\n").encode())


if __name__ == "__main__":
    main(*sys.argv[1:])
