"""The curves of a run for TensorBoard, where that is installed; the log in JSON lines is there always."""

from __future__ import annotations

import contextlib
from pathlib import Path
from typing import Any

from lfno.training.loop import Trainer

FOLDER = "tensorboard"


class Board:
    """Losses of every run of a stack, and the learning rate, below `folder`; one curve for each member of an ensemble.

    A run that goes on starts at its checkpoint: what an earlier part drew beyond that is taken back.
    """

    def __init__(self, folder: Path, trainer: Trainer) -> None:
        self.writers: list[Any] = []
        try:
            from torch.utils.tensorboard import SummaryWriter
        except ImportError:
            return
        place = folder / FOLDER
        places = [place] if len(trainer.tasks) == 1 else [place / task.name.replace(" ", "-") for task in trainer.tasks]
        with contextlib.suppress(OSError):  # curves are a convenience: a full disk stops a run at its log, with a sentence
            for path in places:
                self.writers.append(SummaryWriter(str(path), purge_step=trainer.epoch + 1))

    def add(self, record: dict[str, Any]) -> None:
        """One look at the validation samples, as the log has it."""
        with contextlib.suppress(OSError):
            for row, writer in enumerate(self.writers):
                for name in ("train", "validation"):
                    writer.add_scalar(f"loss/{name}", record[name][row], record["epoch"])
                writer.add_scalar("learning rate", record["rate"], record["epoch"])

    def close(self) -> None:
        with contextlib.suppress(OSError):
            for writer in self.writers:
                writer.close()
