"""Train FNO-3D as it was published, on Navier–Stokes with ν = 1e-3 and two probability laws of the initial vorticity.

The network has width 20, 8 modes on each axis, 4 layers and batch normalisation: 6,558,537 parameters. Its published error is
0.0086. The law of the initial vorticity whose error is nearest to 0.0086 is probably the law of the published data.

    python benchmarks/published_fno.py --epochs 500 --out results/published_fno.json
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path

import torch
from torch import Tensor, nn
from torch.nn.functional import gelu

from lfno.core.json_text import to_json
from lfno.data.make import dataset
from lfno.data.split import standard

LAWS = {"standard": "navier-stokes-nu1e-3", "printed": "navier-stokes-nu1e-3-printed"}
WIDTH = 20  # channels of a layer
MODES = 8  # non-negative Fourier modes on each axis
LAYERS = 4
HIDDEN = 128  # channels of the last hidden layer
FRAMES = 10  # frames of the input
BATCH = 10  # samples
RATE = 1e-3  # first learning rate; it is halved after every fifth of the epochs
DECAY = 1e-4  # weight decay


class Spectral(nn.Module):
    """Multiply the low Fourier modes by complex matrices: (batch, channel, x, y, t) → the same shape."""

    def __init__(self) -> None:
        super().__init__()
        self.weights = nn.Parameter(torch.rand(WIDTH, WIDTH, 2 * MODES, 2 * MODES, MODES, 2) / WIDTH**2)

    def forward(self, v: Tensor) -> Tensor:
        low = [torch.cat((torch.arange(MODES), torch.arange(size - MODES, size))).to(v.device) for size in v.shape[2:4]]
        spectrum = torch.fft.rfft(v)[..., :MODES]
        spectrum = torch.fft.fft(spectrum, dim=-2).index_select(-2, low[1])
        spectrum = torch.fft.fft(spectrum, dim=-3).index_select(-3, low[0])
        mixed = torch.einsum("bixyt,ioxyt->boxyt", spectrum, torch.view_as_complex(self.weights))
        for dim, kept in ((-3, low[0]), (-2, low[1])):
            shape = list(mixed.shape)
            shape[dim] = v.shape[dim]
            mixed = torch.fft.ifft(mixed.new_zeros(shape).index_copy(dim, kept, mixed), dim=dim)
        return torch.fft.irfft(mixed, n=v.shape[-1])


class PublishedFNO(nn.Module):
    """Four layers of spectral convolution, pointwise convolution and batch normalisation."""

    def __init__(self) -> None:
        super().__init__()
        self.lift = nn.Conv3d(FRAMES + 3, WIDTH, 1)
        self.spectral = nn.ModuleList(Spectral() for _ in range(LAYERS))
        self.pointwise = nn.ModuleList(nn.Conv3d(WIDTH, WIDTH, 1) for _ in range(LAYERS))
        self.norms = nn.ModuleList(nn.BatchNorm3d(WIDTH) for _ in range(LAYERS))
        self.hidden, self.project = nn.Conv3d(WIDTH, HIDDEN, 1), nn.Conv3d(HIDDEN, 1, 1)

    def forward(self, frames: Tensor, size: int) -> Tensor:
        """Return the next `size` frames: (batch, 10, x, y) → (batch, x, y, size)."""
        lines = [torch.linspace(0, 1, n, device=frames.device) for n in (*frames.shape[2:], size)]
        places = torch.stack(torch.meshgrid(*lines, indexing="ij"))[None].expand(len(frames), -1, -1, -1, -1)
        v = self.lift(torch.cat((frames[..., None].expand(*frames.shape, size), places), 1))
        for n, (spectral, pointwise, norm) in enumerate(zip(self.spectral, self.pointwise, self.norms, strict=True)):
            v = norm(spectral(v) + pointwise(v))
            v = gelu(v) if n < LAYERS - 1 else v
        return self.project(gelu(self.hidden(v)))[:, 0]


def relative(found: Tensor, truth: Tensor) -> Tensor:
    """Return the relative L2 error of every sample."""
    return (found - truth).flatten(1).norm(dim=1) / truth.flatten(1).norm(dim=1)


def train(law: str, epochs: int, seed: int) -> dict[str, float | int | str]:
    """Train on 1000 samples of one law. Return the mean relative L2 error on 200 other samples, and facts of the run."""
    torch.manual_seed(seed)
    device = "cuda" if torch.cuda.is_available() else "cpu"
    data = dataset(LAWS[law])
    split = standard(len(data), folds=6)
    rows = torch.as_tensor([*split.train, *split.validation])
    x, y = torch.as_tensor(data.inputs[..., 0]).float().to(device), torch.as_tensor(data.outputs[:, 0]).float().to(device)
    (mx, sx), (my, sy) = ((v[rows].mean(0), v[rows].std(0) + 1e-5) for v in (x, y))
    x = (x - mx) / sx
    model = PublishedFNO().to(device)
    optimizer = torch.optim.Adam(model.parameters(), lr=RATE, weight_decay=DECAY, fused=device == "cuda")
    schedule = torch.optim.lr_scheduler.StepLR(optimizer, max(1, epochs // 5), 0.5)
    began = time.perf_counter()
    for epoch in range(epochs):
        model.train()
        for batch in rows[torch.randperm(len(rows))].split(BATCH):
            optimizer.zero_grad()
            relative(model(x[batch], y.shape[-1]) * sy + my, y[batch]).sum().backward()
            optimizer.step()
        schedule.step()
        if (epoch + 1) % max(1, epochs // 10) == 0:
            error = test(model, x, y, my, sy, split.test)
            print(f"{law}: epoch {epoch + 1}, test error {error:.5f}, {time.perf_counter() - began:.0f} s", flush=True)
    count = sum(p.numel() for p in model.parameters())
    return {"law": law, "epochs": epochs, "seed": seed, "parameters": count, "l2": test(model, x, y, my, sy, split.test),
            "seconds": time.perf_counter() - began, "train_samples": len(rows), "device": torch.cuda.get_device_name()
            if device == "cuda" else "CPU"}  # fmt: skip


@torch.no_grad()
def test(model: PublishedFNO, x: Tensor, y: Tensor, mean: Tensor, scale: Tensor, rows) -> float:  # type: ignore[no-untyped-def]
    """Return the mean relative error on the samples `rows`.

    mean, scale: mean and standard deviation of the training outputs, (x, y, t).
    """
    model.eval()
    batches = torch.as_tensor(rows).split(20)
    return torch.cat([relative(model(x[b], y.shape[-1]) * scale + mean, y[b]) for b in batches]).mean().item()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--law", choices=list(LAWS), action="append", help="law of the initial vorticity; both if not given")
    parser.add_argument("--epochs", type=int, default=500)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", type=Path, help="JSON file for the errors")
    given = parser.parse_args()
    found = [train(law, given.epochs, given.seed) for law in given.law or LAWS]
    for row in found:
        print(f"{row['law']:10} {row['l2']:.5f} (published 0.0086), {row['parameters']} parameters, {row['seconds']:.0f} s")
    if given.out is not None:
        given.out.write_text(to_json(found, indent=1))


if __name__ == "__main__":
    main()
