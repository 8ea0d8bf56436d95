"""Carry out one run in its own process. `python -m lfno.app.worker FOLDER` fits and tests a model and writes the results."""

from __future__ import annotations

import logging
import os
import sys
import threading
import time
import traceback
from pathlib import Path
from typing import Any

from lfno.app.diary import Diary
from lfno.app.files import reading_options, said
from lfno.app.workspace import ABOUT, read_json
from lfno.core.errors import LfnoError

TRAINING = "training"  # folder of the checkpoints
LOOKS = 100  # approximate number of points of the learning curve
NETWORKS = ("lfno", "fno", "lno")  # models with a training loop


class Run:
    """One run. `order` holds the model, the data and the epochs (the content of about.json); `diary` stores the progress."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.order, self.diary = folder, read_json(folder / ABOUT), Diary(folder)
        self.model, self.epochs = str(self.order["model"]), self.order.get("epochs")
        self.stopping = False
        self.begun = time.monotonic()

    @property
    def source_name(self) -> str:
        """The name of the data, for the report."""
        return str(self.order.get("system") or self.order["files"][0]["name"])

    def carry_out(self) -> None:
        """Fit and test the model, and write the results. An error becomes a message in the diary."""
        try:
            self.diary.write(stage="preparing", words="", seconds_left=None)
            surrogate = self._fit()
            self.diary.write(stage="judging", seconds_left=None)
            from lfno.app.outcome import write_outcome

            write_outcome(surrogate, self.folder, self.source_name, time.monotonic() - self.begun)
            words = "Stopped. The model has the best weights so far, and was tested." if self.stopping else ""
            self.diary.write(stage="stopped" if self.stopping else "done", ready=True, words=words)
        except LfnoError as error:
            self.diary.write(stage="failed", words=self._said(error))
        except Exception as error:
            traceback.print_exc()
            self.diary.write(stage="failed", words=f"There was an error inside lfno ({type(error).__name__}: {error}).")

    def _said(self, text: LfnoError | str) -> str:
        """Return a message with the file names of the user."""
        return said(text, self.order.get("files", []))

    def _fit(self) -> Any:
        """Read the data, fit the model, and return it."""
        from lfno.surrogate import fit

        options: dict[str, Any] = {"folder": self.folder / TRAINING}
        source: Any = self.order.get("data") or self.order.get("system")
        if source is None:
            from lfno.data.prepare import prepare

            paths = [self.folder.parents[1] / "files" / self.order["file"] / one["path"] for one in self.order["files"]]
            if not all(path.is_file() for path in paths):
                raise LfnoError(f"the file {self.order['files'][0]['name']} was deleted, so no model can be fitted to it")
            source = prepare(paths[0] if len(paths) == 1 else paths, **reading_options(self.order.get("reading", {})))
        if self.model in NETWORKS:
            options |= self._training(source)
        else:
            self.diary.write(stage="fitting")
        return fit(source, self.model, **options)

    def _training(self, source: Any) -> dict[str, Any]:
        """Return the options of a network's training: epochs, validation interval, callback, and whether to resume."""
        from lfno.training.checkpoint import NAME

        if isinstance(source, str):
            from lfno.systems import find
            from lfno.training.presets import default_preset

            self.total = self.epochs or default_preset(self.model, find(source).grid).training.epochs
        else:
            from lfno.training.sizing import choose_size

            choice = choose_size(source.dataset, source.split, self.model, source.warmup)
            self.total = self.epochs or choice.fields["epochs"]
        resume = (self.folder / TRAINING / NAME).exists()
        changes = {} if self.epochs is None else {"epochs": self.epochs}
        return {**changes, "validate_every": max(1, self.total // LOOKS), "watch": self.watch, "resume": resume}

    def watch(self, trainer: Any, record: dict[str, Any]) -> None:
        """Write the progress and the estimated remaining time to the diary. The training loop calls this at every validation.

        During the pilot (short trial runs), the time of the training is estimated from the time of a pilot epoch.
        """
        pilot = trainer.tasks[0].name.startswith("pilot")
        each = record["seconds"] / max(record["epoch"], 1)
        left = each * (trainer.config.epochs - record["epoch"])
        if pilot:
            left += each / len(trainer.tasks) * self.total  # a pilot epoch trains all trial runs together
        else:
            loss = {name: min(record[name]) for name in ("train", "validation", "best")}
            self.diary.add_loss({"epoch": record["epoch"], "seconds": record["seconds"], **loss})
        self.diary.write(
            stage="pilot" if pilot else "training", done=record["epoch"], total=trainer.config.epochs, seconds_left=left
        )
        if self.stopping and not pilot:  # end the training like an early stop, with the best parameters so far
            trainer.stopped.fill_(1.0)

    def listen(self) -> None:
        """Wait for "stop" on the standard input. When the server ends, the input closes, and this process ends, too."""
        for line in sys.stdin:
            if line.strip() == "stop":
                self.stopping = True
        os._exit(1)


class Messages(logging.Handler):
    """Write the log messages of the library to the diary."""

    def __init__(self, run: Run) -> None:
        super().__init__(logging.INFO)
        self.run = run

    def emit(self, record: logging.LogRecord) -> None:
        self.run.diary.say(self.run._said(record.getMessage()))


def main() -> None:
    """Carry out the run in the folder given on the command line."""
    run = Run(Path(sys.argv[1]))
    threading.Thread(target=run.listen, daemon=True).start()
    logger = logging.getLogger("lfno")
    logger.setLevel(logging.INFO)
    logger.addHandler(Messages(run))
    run.carry_out()
    os._exit(0)  # all results are written; end without the slow shutdown of torch


if __name__ == "__main__":
    main()
