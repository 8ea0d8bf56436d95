"""The table of costs: parameters, arithmetic operations, time and memory of one forward pass of one sample.

Every report measures the costs on the machine that makes the report. `python -m lfno.paper.report.costs results` stores the
table in `results/costs.json`. Reports that other machines make show the stored table, too.
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
from lfno.core.json_text import to_json
from lfno.paper.presets import find_preset
from lfno.paper.report import paper
from lfno.paper.report.selection import Runs
from lfno.paper.report.tables import DASH, Row, Table, TableCell
from lfno.systems import titles

#: the paper's grid for ODEs: 2048 steps of 0.01 s
PAPER_GRID = Grid.line(2048, dt=0.01)
KEPT = "costs.json"  # file of the stored table
COLUMNS = ("", "parameters", "as real numbers", "million MACs", "million FLOPs", "latency [ms]", "peak memory [MB]")
LATENCY_MILLISECONDS = 2000.0  # ms; longest time for the timed passes of a row. If 100 passes take longer, fewer are timed
#: groups of data sets. In each group, the networks of the first data set that was run are measured
SHOWN = (titles.ODES, titles.LINES, titles.FLOWS)


def cost_table(runs: Runs) -> Table:
    """Return the table of costs of published networks, of the paper's networks in lfno, and of the networks in the records.

    If the package neuraloperator is installed, its FNO has a row, too.
    """
    device = _device()
    table = Table(f"Cost of one forward pass of one sample on {_hardware(device)}", COLUMNS)
    table.heading("Published (NVIDIA RTX 3090; the paper gives no unit for the MACs)")
    for model, row in paper.COST.items():
        flops = f"{10 * float(row['flops']):.3g}"
        table.add(model, row["parameters"], DASH, row["macs"], flops, row["latency"], row["memory"])
    table.heading("Measured: the paper's networks on the grid of the ODEs")
    for name, model, shape in _paper_models():
        table.add(name, *measure(model, shape, device))
    for task, preset, record in _run_models(runs):
        table.heading(f"{preset} preset, {titles.title(task)}")
        for label, model, shape in record:
            table.add(label, *measure(model, shape, device))
    table.note = (
        "Parameters: a complex number counts once; in the next column it counts as two real numbers. MACs and FLOPs: a "
        "complex product has four MACs, and a Fourier transform of n points has 5 n log₂ n FLOPs. The operations of the "
        "second pass are counted, because the first pass also computes and stores values that depend on the weights only. "
        "Latency: mean time of 100 passes after 10 passes that are not counted; fewer passes if 100 take more than two "
        "seconds. Peak memory: memory of one pass in addition to weights and input."
    )
    return table


def kept(results: Path) -> list[Table]:
    """Return a list with the stored table; an empty list if there is no such file or the file is damaged."""
    try:
        tree = json.loads((results / KEPT).read_text())
        rows = [Row(r["name"], tuple(TableCell(**cell) for cell in r["cells"]), r["heading"]) for r in tree["rows"]]
        return [Table(tree["title"], tree["columns"], rows, tree["note"])]
    except (OSError, ValueError, KeyError, TypeError):
        return []


def measure(model: Any, shape: tuple[int, ...], device: str, runs: int = 100) -> tuple[str, ...]:
    """Measure one model and return the cells of its row.

    shape: the shape of the input, (1, channels, *grid).
    runs: the largest number of timed passes.
    """
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
    """Yield the paper's networks for ODEs as (name, model, shape of the input)."""
    from lfno.models import MODELS

    shape = (1, 1, *PAPER_GRID.shape)
    for name in ("FNO", "LNO", "LFNO"):
        yield name, MODELS[name](PAPER_GRID, **find_preset("paper")(name, PAPER_GRID).fields), shape
    if importlib.util.find_spec("neuralop") is not None:
        yield "FNO of neuraloperator", _neuraloperator(), shape


def _neuraloperator() -> Any:
    """Return neuraloperator's FNO with the width, modes and depth of the paper's FNO. All other options are its defaults."""
    neuralop: Any = importlib.import_module("neuralop.models")
    make: Callable[..., Any] = neuralop.FNO
    # neuraloperator counts modes of both signs: 32 are the 16 modes of the paper
    return make(n_modes=(32,), in_channels=1, out_channels=1, hidden_channels=4, n_layers=4)


def _run_models(runs: Runs) -> Iterator[tuple[str, str, list[tuple[str, Any, tuple[int, ...]]]]]:
    """Yield (data set, preset, models) for the networks in the records. A model is (name, model, shape of the input)."""
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
                    continue  # an old record with options that the models do not have any more
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
    """Measure the costs and store the table in the folder of records."""
    from lfno.core.tensorfile import write_atomically
    from lfno.paper.record import load_records

    table = cost_table(Runs(load_records(Path(results))))
    write_atomically(Path(results) / KEPT, (to_json(asdict(table), indent=1) + "\n").encode())


if __name__ == "__main__":
    main(*sys.argv[1:])
