"""Data parallelism under torchrun: each process computes the gradient of a part of the batch, and the gradients are added.

Loss and gradient are sums over samples, divided by the size of the whole batch. The parts may therefore have different sizes,
and the sum is equal to the gradient of a single process, up to rounding. Without torchrun, there is one process with the whole
batch.
"""

from __future__ import annotations

import atexit
import os

import torch
import torch.distributed as dist
from torch import Tensor

from lfno.core.errors import LfnoError


def start() -> torch.device | None:
    """Join the process group of torchrun and return the device of this process; return None for a single process."""
    if "WORLD_SIZE" not in os.environ or int(os.environ["WORLD_SIZE"]) == 1:
        return None
    cuda = torch.cuda.is_available()
    if not together():
        dist.init_process_group("nccl" if cuda else "gloo")
        atexit.register(stop)
    device = torch.device("cuda", int(os.environ.get("LOCAL_RANK", 0))) if cuda else torch.device("cpu")
    if cuda:
        torch.cuda.set_device(device)
    return device


def together() -> bool:
    """Return whether several processes train together."""
    return dist.is_available() and dist.is_initialized()


def count() -> int:
    """Return the number of processes, 1 without torchrun."""
    return dist.get_world_size() if together() else 1


def leader() -> bool:
    """Return whether this process writes files and messages. Exactly one process does."""
    return not together() or dist.get_rank() == 0


def share(index: Tensor) -> Tensor:
    """Return the part of a batch that this process computes. A small batch may leave a process without samples.

    index: (runs, samples) indices of the samples of the batch.
    """
    return index[:, dist.get_rank() :: dist.get_world_size()] if together() else index


def add(*tensors: Tensor) -> None:
    """Sum tensors over all processes, in place. Raises LfnoError if another process cannot be reached."""
    if together():
        try:
            for tensor in tensors:
                dist.all_reduce(tensor)
        except RuntimeError as error:
            raise LfnoError(
                f"process {dist.get_rank()} lost the other processes ({str(error).splitlines()[0]}): one of them has ended or "
                "cannot be reached; continue with --resume, on any number of processes"
            ) from error


def stop() -> None:
    """Leave the process group."""
    if together():
        dist.destroy_process_group()
