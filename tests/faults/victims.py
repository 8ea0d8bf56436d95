"""Processes that tests kill. They train networks or make data. They start quickly, as copies of a process with torch loaded."""

from __future__ import annotations

import multiprocessing
import os
import random
import signal
import sys
from collections.abc import Callable
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any

import numpy as np

EPOCHS = 10  # epochs of `train`
HANG = 900  # seconds after which a process counts as hanging; a busy machine needs far less
#: a process with the imported packages, from which all other processes start as copies
server = multiprocessing.get_context("forkserver")
server.set_forkserver_preload(["lfno.surrogate.fitting", "lfno.data.make", "torch.utils.tensorboard"])


def start(work: Callable[..., Any], *arguments: Any) -> BaseProcess:
    """Start a process that calls `work(*arguments)` with one thread, and return it."""
    process = server.Process(target=_alone, args=(work, *arguments), daemon=True)
    process.start()
    return process


def finish(work: Callable[..., Any], *arguments: Any) -> int:
    """Run `work(*arguments)` in a process to its end, and return the exit code."""
    process = start(work, *arguments)
    process.join(HANG)
    assert process.exitcode is not None, "the process did not end"
    return process.exitcode


def killed_at(call: int, work: Callable[..., Any], *arguments: Any) -> bool:
    """Run `work(*arguments)` in a process that kills itself (SIGKILL). Return False if the work ended before.

    call: the number of the Python call at which the process kills itself. Calls are counted, and not seconds, so that the
        moment does not depend on the speed of the machine.
    """
    process = start(_die_at, call, work, *arguments)
    process.join(HANG)
    assert process.exitcode in (0, -signal.SIGKILL)
    return process.exitcode != 0


def calls(told: Path, work: Callable[..., Any], *arguments: Any) -> int:
    """Run `work(*arguments)` to its end and return the number of Python calls. The process writes this number to `told`."""
    assert finish(_count, told, work, *arguments) == 0
    return int(told.read_text())


def moments(count: int, last: float, seed: int) -> list[int]:
    """Return `count` random integers from 1 to `last`. Each is the argument `call` of `killed_at`."""
    generator = random.Random(seed)
    return [generator.randint(1, int(last)) for _ in range(count)]


def _die_at(call: int, work: Callable[..., Any], *arguments: Any) -> None:
    def count(*_: Any) -> None:
        nonlocal call
        call -= 1
        if call == 0:
            os.kill(os.getpid(), signal.SIGKILL)

    sys.setprofile(count)
    work(*arguments)


def _count(told: Path, work: Callable[..., Any], *arguments: Any) -> None:
    total = 0

    def count(*_: Any) -> None:
        nonlocal total
        total += 1

    sys.setprofile(count)
    work(*arguments)
    sys.setprofile(None)
    told.write_text(str(total))


def _alone(work: Callable[..., Any], *arguments: Any) -> None:
    import torch

    torch.set_num_threads(1)
    work(*arguments)


def telling(sentence: Path, work: Callable[..., Any], *arguments: Any) -> None:
    """Run `work(*arguments)`. If it raises LfnoError, write the message into the file `sentence` and exit with the code 2.

    The file is opened before the work, because the work may take away the permission to open files.
    """
    from lfno.core.errors import LfnoError

    with sentence.open("w", buffering=1) as file:
        try:
            work(*arguments)
        except LfnoError as error:
            file.write(str(error))
            file.flush()
            sys.exit(2)


def signals() -> tuple[np.ndarray, np.ndarray]:
    """Return inputs (24, 64) and outputs (24, 64): sines, and their integrals over time multiplied by a decaying exponential.

    17 of the 24 samples are for training, so that the last batch of 5 has only 2 samples.
    """
    t = np.arange(64) * 0.1
    inputs = np.sin(np.linspace(1, 3, 24)[:, None] * t)
    outputs = np.cumsum(inputs, 1) * 0.1 * np.exp(-0.3 * t)
    return inputs, outputs


def train(folder: Path, save_every: float = 0.0, **changes: Any) -> None:
    """Train a small network. If `folder` exists, continue the run in it.

    Pilot runs (`lfno.training.pilot`) first choose the weight decay of the weights R of the steady part, unless
    `changes` sets `steady_decay`.

    save_every: seconds between two checkpoints.
    changes: options of the model and the training.
    """
    from lfno.surrogate import fit
    from lfno.training import run

    run.SAVE_EVERY = save_every
    fields = {"width": 4, "modes": 8, "n_poles": 4, "projection": 8, "transient_layers": 2}
    fields |= {"batch": 5, "epochs": EPOCHS, "validate_every": 1}
    # a quarter of the default learning rate: tests compare training in several processes with training in one process. Several
    # processes add the gradients in another order, and a higher rate would amplify the differences from rounding
    fields |= {"learning_rate": 5e-3}
    fit(signals(), "lfno", dt=0.1, folder=folder, resume=folder.exists(), device="cpu", **{**fields, **changes})


def make_data(folder: Path) -> None:
    """Make a data set of 48 samples in parts of 4. Parts are in `folder`/cache, and the data set is in `folder`/data."""
    os.environ["LFNO_CACHE"] = str(folder / "cache")
    from lfno.core.grid import Grid
    from lfno.data.make import make, plan

    what = plan("duffing-c05", count=48, grid=Grid.line(128, 0.01))
    what.system.chunk = 4  # type: ignore[misc]
    make(what, folder / "data")
