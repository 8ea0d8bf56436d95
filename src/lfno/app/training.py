"""One training run at a time, in a thread of its own: started, watched and stopped from the page."""

from __future__ import annotations

import os
import tempfile
import threading
import traceback
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch

from lfno.app.plain import plain
from lfno.core.errors import LfnoError
from lfno.data.prepare import Prepared
from lfno.surrogate import Surrogate, fit
from lfno.training.loop import Trainer

MODELS = ("lfno", "fno", "lno")
MOST_EPOCHS = 5000
THREADS = max(1, (os.cpu_count() or 2) // 2)  # the other half is for the page and whatever else the machine does


@dataclass
class Run:
    """What is trained, how far it is and what came of it; `source` is a data set or the user's own file."""

    source: str
    model: str
    epochs: int | None
    prepared: Prepared | None = None
    stage: str = "preparing"  # then pilot, training, judging; done, stopped or failed at the end
    total: int = 0
    losses: list[dict[str, float]] = field(default_factory=list)
    choices: list[str] = field(default_factory=list)
    failure: str | None = None
    stopping: bool = False
    result: Surrogate | None = None
    judgement: Any = None

    @property
    def over(self) -> bool:
        return self.stage in ("done", "stopped", "failed")

    def progress(self, since: int = 0) -> dict[str, Any]:
        """The state, and the losses from number `since` on."""
        return plain(
            {
                "source": self.source,
                "model": self.model.upper(),
                "stage": self.stage,
                "over": self.over,
                "total": self.total,
                "count": len(self.losses),
                "losses": self.losses[max(0, since) :],
                "choices": self.choices,
                "failure": self.failure,
            }
        )


Judge = Callable[[Run], Any]


class Workshop:
    """Holds the present run; a second one is refused while it goes on."""

    def __init__(self) -> None:
        self.run: Run | None = None
        self.lock = threading.Lock()
        self.thread: threading.Thread | None = None

    def start(self, source: str, model: str, epochs: Any, prepared: Prepared | None, judge: Judge) -> Run:
        if model not in MODELS:
            raise LfnoError(f"model {model!r} is not known; choose {', '.join(MODELS)}")
        if epochs is not None and (isinstance(epochs, bool) or not isinstance(epochs, int) or not 1 <= epochs <= MOST_EPOCHS):
            raise LfnoError(f"epochs must be a whole number from 1 to {MOST_EPOCHS}; found {epochs!r}")
        with self.lock:
            if self.run is not None and not self.run.over:
                raise LfnoError(f"a run on {self.run.source} is still going on; stop it before starting another")
            self.run = run = Run(source, model, epochs, prepared)
            self.thread = threading.Thread(target=_train, args=(run, judge), name="lfno training", daemon=True)
            self.thread.start()
        return run

    def stop(self) -> Run:
        if self.run is None or self.run.over:
            raise LfnoError("no training run is going on")
        self.run.stopping = True
        return self.run

    def finished(self) -> Run:
        """The last run, if it left a model."""
        if self.run is None or self.run.result is None or self.run.judgement is None:
            raise LfnoError("no training run has finished yet; start one first")
        return self.run

    def model_file(self) -> tuple[str, bytes]:
        """Name and content of the trained model, as `lfno predict` takes it."""
        run = self.finished()
        assert run.result is not None
        with tempfile.TemporaryDirectory() as folder:
            file = run.result.save(Path(folder) / "model.safetensors")
            return f"{_word(run.source)}-{run.model}.safetensors", file.read_bytes()


def _train(run: Run, judge: Judge) -> None:
    """Errors that a user can put right are kept as a sentence for the page; all others also go to the terminal."""

    def watch(trainer: Trainer, record: dict[str, Any]) -> None:
        pilot = trainer.tasks[0].name.startswith("pilot")
        run.stage, run.total = "pilot" if pilot else "training", trainer.config.epochs
        if not pilot:
            loss = {name: min(record[name]) for name in ("train", "validation", "best")}
            run.losses.append({"epoch": record["epoch"], "seconds": record["seconds"], **loss})
        if run.stopping:  # the loop ends as after an early stop, with the best parameters so far
            trainer.stopped.fill_(1.0)

    torch.set_num_threads(THREADS)  # of this thread; those that answer the page need only one each
    try:
        changes: dict[str, Any] = {} if run.epochs is None else {"epochs": run.epochs}
        if run.prepared is not None:
            from lfno.training.choose import choose

            choice = choose(run.prepared.dataset, run.prepared.split, run.model, run.prepared.warmup)
            run.choices = choice.sentences(changes)
            epochs = run.epochs or choice.fields["epochs"]
            changes |= {"validate_every": max(1, epochs // 100)}
            run.result = fit(run.prepared, run.model, watch=watch, **changes)
        else:
            changes |= {"validate_every": max(1, (run.epochs or 1000) // 100)}
            run.result = fit(run.source, run.model, watch=watch, **changes)
        run.stage = "judging"
        run.judgement = judge(run)
        run.stage = "stopped" if run.stopping else "done"
    except LfnoError as error:
        run.failure, run.stage = str(error), "failed"
    except Exception as error:
        traceback.print_exc()
        run.failure, run.stage = f"training failed inside lfno ({type(error).__name__}: {error})", "failed"


def _word(text: str) -> str:
    """A name that is safe in a header and on every disk."""
    return "".join(letter if letter.isalnum() and letter.isascii() else "-" for letter in Path(text).stem)[:60] or "model"
