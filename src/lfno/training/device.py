"""Choose the device: the one that the user gave, or a GPU if there is one, else the CPU."""

from __future__ import annotations

import torch

from lfno.core.errors import LfnoError, Option
from lfno.training import parallel


def best_device() -> str:
    """Return "cuda" if torch can use a GPU, else "cpu"."""
    return "cuda" if torch.cuda.is_available() else "cpu"


def check_device(name: str | None) -> str | None:
    """Return the name of a device. Raises LfnoError if this machine does not have it. None is returned unchanged.

    >>> check_device("cpu")
    'cpu'
    """
    if name is None:
        return None
    option = Option("device", name)
    if name.partition(":")[0] not in ("cpu", "cuda"):
        raise LfnoError(option, " is not known; choose cpu or cuda")
    try:
        torch.empty(0, device=name)
    except (RuntimeError, AssertionError, TypeError) as error:
        reason = str(error).splitlines()[0]
        raise LfnoError(option, f" cannot be used: {reason}; choose cpu or cuda") from error
    return name


def usable_device(name: str | None = None) -> str | torch.device:
    """Return the device to train on. Under torchrun this is the device of this process.

    name: "cpu", "cuda", "cuda:1", …; None for the best device.

    Raises LfnoError for a device that does not work.
    """
    return parallel.start() or check_device(name) or best_device()
