"""Data parallelism under torchrun: every process takes its share of a batch, and the gradients are added.

Loss and gradient are sums over samples divided by the size of the whole batch, so shares may be uneven and the sum is
the gradient of one process, to rounding. Without torchrun every function here does nothing.
"""

from __future__ import annotations

import atexit
import os

import torch
import torch.distributed as dist
from torch import Tensor

from lfno.core.errors import LfnoError


def start() -> torch.device | None:
    """Join the group torchrun has set up; the device of this process, or None when there is no group."""
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
    return dist.is_available() and dist.is_initialized()


def count() -> int:
    return dist.get_world_size() if together() else 1


def leader() -> bool:
    """Whether this process writes files and talks."""
    return not together() or dist.get_rank() == 0


def share(index: Tensor) -> Tensor:
    """This process's samples of a batch (runs, samples): every world-size-th, none if there are too few."""
    return index[:, dist.get_rank() :: dist.get_world_size()] if together() else index


def add(*tensors: Tensor) -> None:
    """Sum over the processes, in place."""
    if together():
        try:
            for tensor in tensors:
                dist.all_reduce(tensor)
        except RuntimeError as error:
            raise LfnoError(
                f"process {dist.get_rank()} lost the others ({str(error).splitlines()[0]}): one has died or cannot be "
                "reached; go on with --resume, on any number of processes"
            ) from error


def stop() -> None:
    if together():
        dist.destroy_process_group()
