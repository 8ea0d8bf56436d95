"""Write the curves of a run for TensorBoard, if it is installed. The log in JSON lines is written in any case."""

from __future__ import annotations

import contextlib
from pathlib import Path
from typing import Any

from lfno.training.loop import Trainer

FOLDER = "tensorboard"


class Board:
    """Losses of every run of a stack and the learning rate, below `folder`. Each member of an ensemble has its own curve.

    A resumed run starts at its checkpoint. Points that an earlier part of the run drew after that checkpoint are removed.
    """

    def __init__(self, folder: Path, trainer: Trainer) -> None:
        self.writers: list[Any] = []
        try:
            from torch.utils.tensorboard import SummaryWriter
        except ImportError:
            return
        place = folder / FOLDER
        places = [place] if len(trainer.tasks) == 1 else [place / task.name.replace(" ", "-") for task in trainer.tasks]
        with contextlib.suppress(OSError):  # a full disk must not stop the run here; writing the log reports it
            for path in places:
                self.writers.append(SummaryWriter(str(path), purge_step=trainer.epoch + 1))

    def add(self, record: dict[str, Any]) -> None:
        """Add the record of one validation, in the form of the log."""
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
