"""Write the losses and the learning rate of a run for TensorBoard, if TensorBoard is installed."""

from __future__ import annotations

import contextlib
from pathlib import Path
from typing import Any

from lfno.training.loop import Trainer

FOLDER = "tensorboard"  # name of the folder inside the folder of the run


class Board:
    """Writes the learning rate and the losses of each run of a stack.

    folder: the folder of the run.
    trainer: the trainer of the stack. If it was restored from a checkpoint, points after the epoch of the checkpoint are
        removed.
    """

    def __init__(self, folder: Path, trainer: Trainer) -> None:
        self.writers: list[Any] = []
        try:
            from torch.utils.tensorboard import SummaryWriter
        except ImportError:
            return
        place = folder / FOLDER
        places = [place] if len(trainer.tasks) == 1 else [place / task.name.replace(" ", "-") for task in trainer.tasks]
        with contextlib.suppress(OSError):  # a full disk is reported when the log is written, not here
            for path in places:
                self.writers.append(SummaryWriter(str(path), purge_step=trainer.epoch + 1))

    def add(self, record: dict[str, Any]) -> None:
        """Add the losses and the learning rate of one validation. `Trainer.run` describes the record."""
        with contextlib.suppress(OSError):
            for row, writer in enumerate(self.writers):
                for name in ("train", "validation"):
                    writer.add_scalar(f"loss/{name}", record[name][row], record["epoch"])
                writer.add_scalar("learning rate", record["rate"], record["epoch"])

    def close(self) -> None:
        """Write the remaining points and close the files."""
        with contextlib.suppress(OSError):
            for writer in self.writers:
                writer.close()
