"""Predict Navier–Stokes with ν = 1e-3 frame by frame. A network learns the step from one frame to the next.

The vorticity of one frame determines all later frames, so the trained network predicts them one after the other. The network
sees 49 pairs of frames in every sample and needs no time coordinate. Its layers have Fourier modes in space. With `--gate`, a
layer multiplies two combinations of its responses, as advection multiplies velocity and gradient. Without `--gate`, a layer
applies gelu.

    python benchmarks/marching.py --gate --seconds 480 --out results/benchmarks/marching.json

The program needs a GPU. Samples: 905 for training, 95 for validation, 200 for the test.
"""

from __future__ import annotations

import argparse
import math
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.functional import gelu

from lfno.core.json_text import to_json
from lfno.data.make import dataset
from lfno.data.split import standard

DATA = "navier-stokes-nu1e-3"
GIVEN = 10  # first frames of a sample: the input of the data set
WIDTH = 32  # channels of a layer
MODES = 16  # non-negative Fourier modes on each axis
LAYERS = 4
HIDDEN = 64  # channels of the last hidden layer
BATCH = 32  # first frames in a training step; each begins one sequence of AHEAD predictions
AHEAD = 4  # frames that a training step predicts, each from the frame before
RATE = 2e-3  # largest learning rate
WARM_UP = 0.02  # share of the training time in which the learning rate rises


class Spectral(nn.Module):
    """Multiply the low Fourier modes by complex matrices: (batch, channel, x, y) → the same shape."""

    def __init__(self) -> None:
        super().__init__()
        self.weights = nn.Parameter(torch.randn(2 * MODES * MODES, WIDTH, WIDTH, 2) / math.sqrt(2 * WIDTH))

    def forward(self, v: Tensor) -> Tensor:
        batch, channels, size, _ = v.shape
        spectrum = torch.fft.rfft2(v, norm="ortho")
        low = torch.cat((spectrum[:, :, :MODES, :MODES], spectrum[:, :, -MODES:, :MODES]), 2).reshape(batch, channels, -1)
        low = torch.bmm(low.permute(2, 0, 1), torch.view_as_complex(self.weights)).permute(1, 2, 0)
        low = low.reshape(batch, channels, 2 * MODES, MODES)
        mixed = torch.zeros_like(spectrum)
        mixed[:, :, :MODES, :MODES], mixed[:, :, -MODES:, :MODES] = low[:, :, :MODES], low[:, :, MODES:]
        return torch.fft.irfft2(mixed, s=(size, size), norm="ortho")


class Layer(nn.Module):
    """v + B n(A (S v + W v)). S is the spectral map; W, A and B are channel matrices.

    n is gelu or, with `gate`, the product of the two halves of the channels.
    """

    def __init__(self, gate: bool) -> None:
        super().__init__()
        self.gate = gate
        self.spectral, self.pointwise = Spectral(), nn.Conv2d(WIDTH, WIDTH, 1)
        self.widen, self.narrow = nn.Conv2d(WIDTH, 2 * WIDTH, 1), nn.Conv2d(WIDTH if gate else 2 * WIDTH, WIDTH, 1)
        nn.init.zeros_(self.narrow.bias)  # type: ignore[arg-type]
        self.narrow.weight.data *= 0.3

    def forward(self, v: Tensor) -> Tensor:
        h = self.widen(self.spectral(v) + self.pointwise(v))
        return v + self.narrow(h[:, :WIDTH] * h[:, WIDTH:] if self.gate else gelu(h))


class Step(nn.Module):
    """The next frame is the present frame plus the output of the layers.

    scale: standard deviation of the change from frame to frame.
    """

    places: Tensor

    def __init__(self, size: int, scale: float, gate: bool) -> None:
        super().__init__()
        line = torch.arange(size) / size * 2 * math.pi
        both = torch.meshgrid(line, line, indexing="ij")
        self.register_buffer("places", torch.stack([f(a) for f in (torch.sin, torch.cos) for a in both])[None])
        self.scale = scale
        self.lift = nn.Conv2d(5, WIDTH, 1)
        self.layers = nn.Sequential(*(Layer(gate) for _ in range(LAYERS)))
        self.hidden, self.project = nn.Conv2d(WIDTH, HIDDEN, 1), nn.Conv2d(HIDDEN, 1, 1)

    def forward(self, frame: Tensor) -> Tensor:
        v = self.layers(self.lift(torch.cat((frame, self.places.expand(len(frame), -1, -1, -1)), 1)))
        return frame + self.scale * self.project(gelu(self.hidden(v)))


def frames() -> tuple[Tensor, Tensor, Tensor]:
    """Return the frames (sample, time, x, y) for training, validation and test.

    All frames are divided by the standard deviation of the training frames.
    """
    data = dataset(DATA)
    both = (np.asarray(data.inputs)[..., 0], np.moveaxis(np.asarray(data.outputs)[:, 0], -1, 1))
    every = torch.as_tensor(np.concatenate(both, 1)).float().cuda()
    split = standard(len(data), folds=6)
    every = every / every[split.train].std()
    return every[split.train], every[split.validation], every[split.test]


@torch.no_grad()
def score(step: Step, truth: Tensor) -> dict[str, float]:
    """Return the mean relative L2 and L∞ errors of the frames after the tenth, predicted from the tenth frame alone."""
    l2, linf = [], []
    for part in truth.split(100):
        now, found = part[:, GIVEN - 1 : GIVEN], []
        for _ in range(part.shape[1] - GIVEN):
            now = step(now)
            found.append(now)
        label = part[:, GIVEN:].flatten(1)
        error = torch.cat(found, 1).flatten(1) - label
        l2.append(error.norm(dim=1) / label.norm(dim=1))
        linf.append(error.abs().amax(1) / label.abs().amax(1))
    return {"l2": torch.cat(l2).mean().item(), "linf": torch.cat(linf).mean().item()}


def trainer(step: Step, data: Tensor) -> Callable[[float], None]:
    """Return a function (learning rate) → None that trains on one random batch. It replays a CUDA graph."""
    rate = torch.tensor(RATE, device="cuda")
    optimizer = torch.optim.AdamW(step.parameters(), lr=rate, weight_decay=1e-5, capturable=True, fused=True)
    row, start = (torch.zeros(BATCH, dtype=torch.long, device="cuda") for _ in range(2))

    def draw() -> None:
        row.random_(0, len(data))
        start.random_(0, data.shape[1] - AHEAD)

    def batch() -> None:
        optimizer.zero_grad(set_to_none=False)
        now, loss = data[row, start][:, None], torch.zeros((), device="cuda")
        for n in range(1, AHEAD + 1):
            now, label = step(now), data[row, start + n]
            loss = loss + ((now[:, 0] - label).flatten(1).norm(dim=1) / label.flatten(1).norm(dim=1)).mean() / AHEAD
        loss.backward()
        nn.utils.clip_grad_norm_(step.parameters(), 1.0, foreach=True)
        optimizer.step()

    with torch.cuda.stream(torch.cuda.Stream()):  # type: ignore[no-untyped-call]
        for _ in range(3):
            draw()
            batch()
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        batch()

    def go(learning_rate: float) -> None:
        rate.fill_(learning_rate)
        draw()
        graph.replay()

    return go


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--gate", action="store_true", help="multiply responses instead of applying gelu")
    parser.add_argument("--seconds", type=float, default=480, help="training time")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", type=Path, help="JSON file for the errors")
    given = parser.parse_args()
    torch.manual_seed(given.seed)
    train, validation, test = frames()
    step = Step(train.shape[-1], (train[:, 1:] - train[:, :-1]).std().item(), given.gate).cuda()
    go, began, count = trainer(step, train), time.perf_counter(), 0
    while (share := (time.perf_counter() - began) / given.seconds) < 1:
        for _ in range(50):
            go(max(1e-6, RATE * min(1, share / WARM_UP) * (1 + math.cos(math.pi * share)) / 2))
        torch.cuda.synchronize()
        count += 50
    found = {"gate": given.gate, "seconds": given.seconds, "steps": count, "seed": given.seed,
             "parameters": sum(p.numel() for p in step.parameters()), "device": torch.cuda.get_device_name(),
             "validation": score(step, validation), "test": score(step, test)}  # fmt: skip
    print(to_json(found))
    if given.out is not None:
        given.out.write_text(to_json(found, indent=1))


if __name__ == "__main__":
    main()
