"""Try ideas of another model, modes with feedback, in LFNO: eight small variants of one network, trained in the same way.

    python benchmarks/learned.py [--epochs 25] [--seeds 2]

Modes with feedback are linear modes and a nonlinear force that acts back on them. The data are the responses of the Duffing
oscillator to random forces, at every eighth time step. Every network has 8 channels and exact layers (poles without free
Fourier weights) with 4 poles each. The program prints the relative L2 error on the validation samples for each seed, and the
time.

| variant      | idea                                                                                      |
|--------------|-------------------------------------------------------------------------------------------|
| gelu         | none: four layers, the default activation                                                 |
| tanh, sine   | the restoring force of the oscillator is an odd function                                  |
| polynomial   | the restoring force is a polynomial: a layer adds a z² + b z³, with z limited to [−3, 3]  |
| from linear  | the network corrects the best linear model                                                |
| closed loop  | y ← N(force, y), four times from y = 0, with one network N of two layers                  |
| last layer   | gelu, then the last layer, which is linear, is fitted by least squares                    |
| both passes  | gelu, trained on the response from rest and on the steady state                           |
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable

import numpy as np
import torch
from torch import Tensor, nn

import lfno
from lfno.core.grid import Grid
from lfno.data.split import standard
from lfno.evaluation.baselines import fit_baselines
from lfno.training.labels import Samples

EVERY = 8  # time steps of the data set per time step of the networks
WIDTH = 8  # channels
POLES = 4  # poles of a layer
BATCH = 16  # samples
RATE = 5e-3  # largest learning rate
TURNS = 4  # iterations of the closed loop
RIDGE = 1e-6  # ridge of the least-squares fit, relative to the mean square of the features
BOUND = 3.0  # limit of z in the polynomial


def network(grid: Grid, channels: int = 1, layers: int = 4, activation: str = "gelu") -> lfno.LFNO:
    """Return an untrained LFNO for inputs and outputs of the order of one."""
    return lfno.LFNO(
        grid, width=WIDTH, modes=16, n_poles=POLES, share_poles=True, transient_layers=layers, steady="exact",
        activation=activation, in_channels=channels,
    )  # fmt: skip


class Plain(nn.Module):
    """An LFNO, from rest or in its steady state."""

    def __init__(self, grid: Grid, activation: str = "gelu") -> None:
        super().__init__()
        self.inner = network(grid, activation=activation)

    def features(self, x: Tensor, rest: bool) -> Tensor:
        """Return the output of the last layer, (samples, channels, time)."""
        inner = self.inner
        return inner.layers(inner.lift(x), inner.steps(inner.grid), rest)

    def forward(self, x: Tensor, rest: bool = True) -> Tensor:
        return self.inner.projected(self.features(x, rest))


class Polynomial(Plain):
    """Layers v ← v + z + a z² + b z³ with z = response(v) + W v, where a and b are trained for each channel."""

    def __init__(self, grid: Grid) -> None:
        super().__init__(grid)
        self.bend = nn.Parameter(0.1 * torch.randn(len(self.inner.blocks), 2, WIDTH, 1))

    def features(self, x: Tensor, rest: bool) -> Tensor:
        v = self.inner.lift(x)
        for block, (second, third) in zip(self.inner.blocks, self.bend, strict=True):
            z = block(v, self.inner.steps(self.inner.grid), "", False, rest).clamp(-BOUND, BOUND)
            v = v + z + second * z**2 + third * z**3
        return v


class Loop(nn.Module):
    """y ← f(force, y), TURNS times from y = 0, with one block f of two layers."""

    def __init__(self, grid: Grid) -> None:
        super().__init__()
        self.inner = network(grid, channels=2, layers=2)

    def forward(self, x: Tensor, rest: bool = True) -> Tensor:
        y = torch.zeros_like(x)
        for _ in range(TURNS):
            y = self.inner.respond(torch.cat([x, y], 1), None, rest)
        return y


def relative(found: Tensor, label: Tensor) -> Tensor:
    """Return the relative L2 error of each sample."""
    return (found - label).flatten(1).norm(dim=1) / label.flatten(1).norm(dim=1)


def trained(model: nn.Module, data: dict[str, Tensor], epochs: int, seed: int, both: bool) -> nn.Module:
    """Train a network by Adam with one cycle of the learning rate.

    both: whether the steady states are labels, too. Each sample has a weight for its steady state.
    """
    size = len(data["x"])
    steps = epochs * -(-size // BATCH)
    optimiser = torch.optim.Adam(model.parameters(), RATE)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimiser, RATE, total_steps=steps)
    draw = torch.Generator().manual_seed(seed)
    for _ in range(epochs):
        for rows in torch.randperm(size, generator=draw).split(BATCH):
            loss = relative(model(data["x"][rows]), data["y"][rows]).mean()
            if both:
                kept = rows[data["weight"][rows] > 0]
                loss = loss + (data["weight"][kept] * relative(model(data["x"][kept], False), data["steady"][kept])).mean()
            optimiser.zero_grad()
            loss.backward()
            optimiser.step()
            schedule.step()
    return model


@torch.no_grad()
def refit(model: Plain, data: dict[str, Tensor]) -> None:
    """Fit the last linear map of a network by least squares with a small ridge."""
    inner = model.inner
    seen: list[Tensor] = []
    hook = inner.project.register_forward_pre_hook(lambda module, given: seen.append(given[0]))
    model(data["x"])
    hook.remove()
    features = seen[0].double().movedim(1, -1).flatten(0, -2)
    table = torch.cat([features, torch.ones_like(features[:, :1])], 1)
    normal = table.T @ table
    ridge = RIDGE * normal.diagonal().mean() * torch.eye(len(normal), dtype=normal.dtype)
    found = torch.linalg.solve(normal + ridge, table.T @ data["y"].double().movedim(1, -1).flatten(0, -2))
    weight = inner.project.weight
    weight.copy_(found[:-1].T.reshape(weight.shape).to(weight))
    inner.project.bias.copy_(found[-1].reshape(inner.project.bias.shape).to(inner.project.bias))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--epochs", type=int, default=25)
    parser.add_argument("--seeds", type=int, default=2)
    given = parser.parse_args()
    full = lfno.dataset("duffing-c05-rich", steady=True)
    split, grid = standard(len(full)), Grid.line(full.grid.shape[0] // EVERY, EVERY * full.grid.steps[0])
    own = Samples.of(full)  # a sample without a steady state has the steady weight 0
    assert own.y is not None
    assert own.steady is not None
    assert own.steady_weight is not None
    scale_in, scale_out = float(own.x[split.train].std()), float(own.y[split.train].std())
    linear = fit_baselines(full.inputs[split.train], full.outputs[split.train], None, full.grid)["linear"](full.inputs, None)

    def part(rows: np.ndarray) -> dict[str, Tensor]:
        arrays = {"x": own.x / scale_in, "y": own.y / scale_out, "steady": own.steady / scale_out, "linear": linear / scale_out}
        found = {name: torch.as_tensor(values[rows][..., ::EVERY], dtype=torch.float32) for name, values in arrays.items()}
        return found | {"weight": torch.as_tensor(own.steady_weight[rows], dtype=torch.float32)}

    train, held = part(split.train), part(split.validation)
    makers: dict[str, Callable[[], nn.Module]] = {
        "gelu": lambda: Plain(grid), "tanh": lambda: Plain(grid, "tanh"), "sine": lambda: Plain(grid, "sin"),
        "polynomial": lambda: Polynomial(grid), "from linear": lambda: Plain(grid), "closed loop": lambda: Loop(grid),
        "last layer": lambda: Plain(grid), "both passes": lambda: Plain(grid),
    }  # fmt: skip
    for name, make in makers.items():
        errors, begin = [], time.perf_counter()
        for seed in range(given.seeds):
            torch.manual_seed(seed)
            known = "linear" if name == "from linear" else ""
            data = {**train, "y": train["y"] - train["linear"]} if known else train
            model = trained(make(), data, given.epochs, seed, name == "both passes")
            if name == "last layer":
                assert isinstance(model, Plain)
                refit(model, train)
            with torch.no_grad():
                found = model(held["x"]) + (held["linear"] if known else 0.0)
            errors.append(float(relative(found, held["y"]).mean()))
        told = " / ".join(f"{error:.3f}" for error in errors)
        print(f"{name:12s} {told}   {time.perf_counter() - begin:.0f} s", flush=True)


if __name__ == "__main__":
    main()
