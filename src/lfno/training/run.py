"""Train with checkpoints and a log. A run that was stopped or ran out of memory can be resumed."""

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
from lfno.core.json_text import to_json
from lfno.core.tensorfile import remove_leftovers, write_atomically
from lfno.training import checkpoint, parallel
from lfno.training.loop import Trainer
from lfno.training.tensorboard import Board

#: a function watch(trainer, record) that is called at every validation
Watch = Callable[[Trainer, dict[str, Any]], None]

LOG = "log.jsonl"  # name of the log, which has one line of JSON for each validation
SAVE_EVERY = 20.0  # seconds between two checkpoints


def train(trainer: Trainer, folder: Path | None = None, resume: bool = False, watch: Watch | None = None) -> None:
    """Train to the last epoch.

    folder: the folder for the log and the checkpoints; None to write no files. A checkpoint is also written if the run is
        interrupted.
    resume: whether to continue from the last checkpoint in `folder`.
    watch: called as `watch(trainer, record)` at every validation.

    Raises LfnoError if the memory is exhausted, and CheckpointError if the checkpoint does not belong to this run.
    """
    if folder is None:
        with explained(trainer, None):
            trainer.run(watch if parallel.leader() else None)
    else:
        if resume:
            checkpoint.restore(trainer, folder)
        with explained(trainer, folder):
            _train_in(trainer, folder, watch)


def _train_in(trainer: Trainer, folder: Path, watch: Watch | None) -> None:
    """Train with a log and checkpoints in a folder. Log lines of epochs after `trainer.epoch` are removed first."""
    if not parallel.leader():
        trainer.run()
        return
    remove_leftovers(folder)
    log = folder / LOG
    lines = log.read_text(errors="replace").splitlines() if log.exists() else []
    write_atomically(log, "".join(line + "\n" for line in lines if _epoch(line) <= trainer.epoch).encode())
    last = time.monotonic()
    # a run may be stopped in the middle of an epoch, so the state at the last validation is kept in `known` and saved
    known = checkpoint.state(trainer)
    board = Board(folder, trainer)

    def observe(trainer: Trainer, record: dict[str, Any]) -> None:
        """Write a line of the log and, after SAVE_EVERY seconds, a checkpoint."""
        nonlocal last, known
        known = checkpoint.state(trainer)
        try:
            with log.open("a") as file:
                file.write(to_json(record) + "\n")
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
    """Turn an out-of-memory error into an LfnoError that says how to continue."""
    try:
        yield
    except (MemoryError, RuntimeError) as error:
        if not out_of_memory(error):
            raise
        batch = trainer.config.batch
        way = f"with batches of {batch // 2} (--set batch={batch // 2})" if batch > 1 else "with a smaller model"
        kept = "" if folder is None else f"; its state is kept in {folder}"
        again = "try again" if folder is None or batch == 1 else "continue with --resume"
        raise LfnoError(f"out of memory in epoch {trainer.epoch + 1}, batches of {batch}{kept}: {again} {way}") from error


def out_of_memory(error: BaseException) -> bool:
    """Return whether an exception means that the memory of Python, of the GPU or of torch on the CPU is exhausted."""
    return isinstance(error, (MemoryError, torch.OutOfMemoryError)) or "DefaultCPUAllocator" in str(error)


def _epoch(line: str) -> float:
    """Return the epoch of a line of the log; infinity for an incomplete line."""
    try:
        return float(json.loads(line)["epoch"])
    except (ValueError, KeyError, TypeError):
        return math.inf
