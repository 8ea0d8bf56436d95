"""A run that may be stopped at any moment: checkpoints, a log, and a way on after the memory or a process was lost."""

from __future__ import annotations

import json
import math
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import torch

from lfno.core.errors import LfnoError
from lfno.core.tensorfile import remove_leftovers, write_atomically
from lfno.training import checkpoint, parallel
from lfno.training.loop import Trainer
from lfno.training.tensorboard import Board

Watch = Callable[[Trainer, dict[str, Any]], None]

LOG = "log.jsonl"
SAVE_EVERY = 20.0  # seconds between two checkpoints


def train(trainer: Trainer, folder: Path | None = None, resume: bool = False, watch: Watch | None = None) -> None:
    """Run a trainer; with a folder, whatever ends the run leaves a checkpoint there to go on from."""
    if folder is None:
        with explained(trainer, None):
            trainer.run(watch if parallel.leader() else None)
    else:
        if resume:
            checkpoint.restore(trainer, folder)
        with explained(trainer, folder):
            _train_in(trainer, folder, watch)


def _train_in(trainer: Trainer, folder: Path, watch: Watch | None) -> None:
    if not parallel.leader():
        trainer.run()
        return
    remove_leftovers(folder)
    log = folder / LOG
    lines = log.read_text(errors="replace").splitlines() if log.exists() else []
    write_atomically(log, "".join(line + "\n" for line in lines if _epoch(line) <= trainer.epoch).encode())
    last = time.monotonic()
    # a stop may come in the middle of an epoch; what is saved then is the state at the last look
    known = checkpoint.state(trainer)
    board = Board(folder, trainer)

    def observe(trainer: Trainer, record: dict[str, Any]) -> None:
        nonlocal last, known
        known = checkpoint.state(trainer)
        try:
            with log.open("a") as file:
                file.write(json.dumps(record) + "\n")
        except OSError as error:
            raise LfnoError(f"cannot write {log}: {error.strerror or error}") from error
        board.add(record)
        if time.monotonic() - last > SAVE_EVERY:
            checkpoint.save(known, folder)
            last = time.monotonic()
        if watch is not None:
            watch(trainer, record)

    try:
        trainer.run(observe)
    finally:
        checkpoint.save(known, folder)
        board.close()


@contextmanager
def explained(trainer: Trainer, folder: Path | None) -> Iterator[None]:
    """Running out of memory as one sentence that says how to go on."""
    try:
        yield
    except (MemoryError, RuntimeError) as error:
        if not out_of_memory(error):
            raise
        batch = trainer.config.batch
        way = f"with batches of {batch // 2} (--set batch={batch // 2})" if batch > 1 else "with a smaller model"
        kept = "" if folder is None else f"; its state is kept in {folder}"
        again = "try again" if folder is None or batch == 1 else "go on with --resume"
        raise LfnoError(f"out of memory in epoch {trainer.epoch + 1}, batches of {batch}{kept}: {again} {way}") from error


def out_of_memory(error: BaseException) -> bool:
    """Whether an exception says so: Python's, a GPU's, or that of torch's allocator on a CPU, which has no class."""
    return isinstance(error, (MemoryError, torch.OutOfMemoryError)) or "DefaultCPUAllocator" in str(error)


def _epoch(line: str) -> float:
    """The epoch of a line of the log; a line cut short by a kill belongs to none."""
    try:
        return float(json.loads(line)["epoch"])
    except (ValueError, KeyError, TypeError):
        return math.inf
