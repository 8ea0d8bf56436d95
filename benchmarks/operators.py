"""Measure time and memory of one layer, forward and backward, and of the same formula with dense tensors.

    python benchmarks/operators.py [--repeats 5] [--quick]

"dense" is the einsum of public Laplace neural operator codes, with its error in the channel index corrected. It builds a tensor
(frequencies, input channels, output channels, poles). "dense" multiplies the differences iω − μ of the axes and inverts the
product. "dense, lean" inverts first and multiplies then. It needs less time and memory, so it is the fairer comparison. All
variants run in the same process on one thread, in turns. The table gives the median time, the memory, and "dense" divided by
ours: above 1, our layer is faster or smaller. Memory is the largest size of all tensors at one time.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass

import torch
from rich.console import Console
from rich.table import Table
from torch import Tensor, nn

from lfno.models.config import PoleConfig
from lfno.models.fourier_weights import FourierWeights
from lfno.models.kernel import PoleResidue
from lfno.models.lfno import STEADY
from lfno.paper.cost import peak_memory
from lfno.spectral.axes import angular_frequencies


@dataclass(frozen=True)
class Case:
    name: str
    batch: int
    channels: int
    grid: tuple[int, ...]
    poles: int
    dense: bool = True

    @property
    def steps(self) -> tuple[float, ...]:
        """The step of each axis. Every axis has the length 20."""
        return tuple(20.0 / size for size in self.grid)


CASES = (
    Case("1-D", 64, 4, (2048,), 16),
    Case("2-D", 50, 16, (50, 50), 4),
    Case("3-D", 4, 16, (16, 16, 20), 4),
    Case("3-D large", 4, 16, (64, 64, 20), 4, dense=False),
)

#: (case, variant) -> smallest promised ratios "dense" / ours of time and of memory (None: no promise)
TARGETS = {
    ("1-D", "LFNO"): (1.0, None),
    ("1-D", "LNO"): (1.0, None),
    ("2-D", "LFNO"): (8.0, 4.5),
    ("3-D", "LFNO"): (100.0, 70.0),
    ("3-D", "LNO"): (30.0, None),
}
LARGE_LIMIT = 0.5e9  # bytes, for the case that is too large for the dense layer


class Layer(nn.Module):
    """A transient part with poles on every axis plus a steady part.

    The transient part has only the term that decays on all axes, as in the dense layer.
    """

    def __init__(self, case: Case, kind: str, share_poles: bool = False) -> None:
        super().__init__()
        modes = (case.poles,) * len(case.grid)
        config = PoleConfig(width=case.channels, n_poles=case.poles, modes=modes, share_poles=share_poles, mixed=False)
        self.kernel = PoleResidue(case.channels, case.channels, config, modes, range(len(case.grid)))
        self.weights = None if kind == "exact" else FourierWeights(case.channels, case.channels, modes)
        self.response, self.steps = STEADY[kind](self.kernel, self.weights), case.steps

    def forward(self, x: Tensor) -> Tensor:
        first, second = self.response(x, self.steps)
        return first + second


class Dense(nn.Module):
    """The same outputs as `Layer(case, "exact")`, computed with one tensor of all frequencies, channel pairs and poles."""

    def __init__(self, case: Case, lean: bool = False) -> None:
        super().__init__()
        self.kernel = Layer(case, "exact").kernel
        self.steps, self.lean = case.steps, lean

    def forward(self, x: Tensor) -> Tensor:
        grid = x.shape[2:]
        axes = tuple(range(2, x.ndim))
        spectrum = torch.fft.fftn(x, dim=axes)
        poles = [mu for mu in self.kernel.values() if mu is not None]
        residues = torch.view_as_complex(self.kernel.residues)
        freq, pole, point = "xyz"[: len(grid)], "pqr"[: len(grid)], "uvw"[: len(grid)]
        differences = [
            1j * angular_frequencies(n, step, mu)[:, None, None, None] - mu
            for n, step, mu in zip(grid, self.steps, poles, strict=True)
        ]
        factors = ",".join(f"{f}io{p}" for f, p in zip(freq, pole, strict=True))
        if self.lean:
            inverses = [1 / difference for difference in differences]
            transfer = torch.einsum(f"{factors},io{pole}->{freq}io{pole}", *inverses, residues)
        else:
            transfer = residues * (1 / torch.einsum(f"{factors}->{freq}io{pole}", *differences))
        ringing = torch.einsum(f"bi{freq},{freq}io{pole}->bo{freq}", spectrum, transfer)
        # T = −e^{μt} / (iω − μ) on every axis
        signed = transfer if len(grid) % 2 == 0 else -transfer
        excited = torch.einsum(f"bi{freq},{freq}io{pole}->bio{pole}", spectrum, signed)
        decays = [
            torch.exp(mu[..., None] * step * torch.arange(n))
            for n, step, mu in zip(grid, self.steps, poles, strict=True)
        ]
        factors = ",".join(f"io{p}{u}" for p, u in zip(pole, point, strict=True))
        decay = torch.einsum(f"{factors}->io{pole}{point}", *decays)
        decaying = torch.einsum(f"bio{pole},io{pole}{point}->bo{point}", excited, decay).real / grid.numel()
        return torch.fft.ifftn(ringing, dim=axes).real + decaying


def training_step(layer: nn.Module, case: Case) -> Callable[[], None]:
    """Return a function that runs the layer forward and backward on noise."""
    x = torch.randn(case.batch, case.channels, *case.grid, requires_grad=True)

    def step() -> None:
        layer(x).square().mean().backward()
        layer.zero_grad(set_to_none=True)
        x.grad = None

    return step


def measure(case: Case, repeats: int) -> dict[str, tuple[float, int]]:
    """Return median seconds and peak bytes of each variant. The variants run in turns."""
    torch.manual_seed(0)
    layers: dict[str, nn.Module] = {
        "LNO": Layer(case, "exact"),
        "LFNO": Layer(case, "shared"),
        "LFNO, free R": Layer(case, "free"),
        "LFNO, shared poles": Layer(case, "shared", share_poles=True),
    }
    if case.dense:
        dense = Dense(case)
        layers = {"dense": dense, "dense, lean": Dense(case, lean=True)} | layers
        layers["LNO"].load_state_dict(dense.state_dict())
        x = torch.randn(2, case.channels, *case.grid)
        with torch.no_grad():
            error = (dense(x) - layers["LNO"](x)).abs().max() / dense(x).abs().max()
        assert error < 1e-4, f"{case.name}: the dense layer and ours differ by {error:.1e}"
    steps = {name: training_step(layer, case) for name, layer in layers.items()}
    memory = {name: peak_memory(step, "cpu") for name, step in steps.items()}  # also warms up
    seconds: dict[str, list[float]] = {name: [] for name in steps}
    for _ in range(repeats):
        for name, step in steps.items():
            start = time.perf_counter()
            step()
            seconds[name].append(time.perf_counter() - start)
    return {name: (statistics.median(seconds[name]), memory[name]) for name in steps}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeats", type=int, default=5, help="timed steps of each variant")
    parser.add_argument("--quick", action="store_true", help="leave out the 3-D cases (the dense one needs 5 GB)")
    options = parser.parse_args()
    torch.set_num_threads(1)

    table = Table(title="One layer, forward + backward, one CPU thread")
    for column in ("case", "layer", "ms", "MB", "dense / ours, time", "dense / ours, memory", "to reach"):
        table.add_column(column, justify="left" if column in ("case", "layer", "to reach") else "right")
    for case in CASES[:2] if options.quick else CASES:
        results = measure(case, options.repeats)
        shape = f"{case.name}: B{case.batch} C{case.channels} {'×'.join(map(str, case.grid))} M{case.poles}"
        for name, (seconds, memory) in results.items():
            ratios = ["", ""]
            if case.dense and name != "dense":
                ratios = [f"{results['dense'][0] / seconds:.2f}", f"{results['dense'][1] / memory:.2f}"]
            table.add_row(
                shape, name, f"{1e3 * seconds:.1f}", f"{memory / 1e6:.1f}", *ratios, verdict(case, name, results)
            )
            shape = ""
        table.add_section()
    Console(width=140).print(table)


def verdict(case: Case, name: str, results: dict[str, tuple[float, int]]) -> str:
    """Return the promise for a variant, with "yes" or "NO"; "" if there is no promise."""
    seconds, memory = results[name]
    if not case.dense:
        return f"< {LARGE_LIMIT / 1e6:.0f} MB: {'yes' if memory < LARGE_LIMIT else 'NO'}"
    if (case.name, name) not in TARGETS:
        return ""
    faster, smaller = TARGETS[case.name, name]
    reached = results["dense"][0] / seconds >= faster
    asked = f"{faster:g}×"
    if smaller is not None:
        reached = reached and results["dense"][1] / memory >= smaller
        asked += f", {smaller:g}× less memory"
    return f"{asked}: {'yes' if reached else 'NO'}"


if __name__ == "__main__":
    main()
