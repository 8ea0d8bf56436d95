"""Show a running training on the terminal: a progress bar, losses, learning rate and the time left."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from lfno.training.loop import Trainer
    from lfno.training.run import Watch


@contextmanager
def live(quiet: bool) -> Iterator[Watch | None]:
    """Yield a function for `lfno.fit(watch=…)`, which shows the progress; None if `quiet`.

    A terminal shows one line that changes. A file or a pipe gets one line for every tenth of the run. The time left includes
    pilot runs and training. Log messages of the library are printed between these lines.
    """
    if quiet:
        yield None
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    from lfno.training.estimate import duration
    from lfno.training.pace import is_pilot

    console = Console(stderr=True)
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        TextColumn("{task.completed}/{task.total} epochs"),
        TextColumn("{task.fields[losses]}"),
        TimeElapsedColumn(),
        TextColumn("{task.fields[left]}"),
    )
    bars = Progress(*columns, console=console, disable=not console.is_terminal, transient=True)
    rows: dict[str, Any] = {}
    told: dict[str, int] = {}

    def watch(trainer: Trainer, record: dict[str, Any]) -> None:
        """Show the record of one validation."""
        stage = "pilot" if is_pilot(trainer) else "training"
        total, epoch, text = trainer.config.epochs, record["epoch"], losses(record)
        # the records of `lfno reproduce` have no entry "left": this command prints the time left itself
        left = f"{duration(record['left'])} left" if "left" in record else ""
        if stage not in rows:
            rows[stage] = bars.add_task(stage, total=total, losses=text, left=left)
        bars.update(rows[stage], completed=epoch, losses=text, left=left)
        tenth = 10 * epoch // total
        if not console.is_terminal and tenth > told.get(stage, 0):
            told[stage] = tenth
            parts = [f"{stage}: epoch {epoch}/{total}", text, left]
            console.print(", ".join(filter(None, parts)), highlight=False, soft_wrap=True)

    logger, handler = logging.getLogger("lfno"), _Told(console)
    logger.addHandler(handler)
    before, logger.propagate = (logger.level, logger.propagate), False
    logger.setLevel(logging.INFO)
    try:
        with bars:
            yield watch
    finally:
        logger.removeHandler(handler)
        logger.setLevel(before[0])
        logger.propagate = before[1]


class _Told(logging.Handler):
    """A log handler that prints messages above the progress bar."""

    def __init__(self, console: Any) -> None:
        super().__init__()
        self.console = console

    def emit(self, record: logging.LogRecord) -> None:
        self.console.print(record.getMessage(), highlight=False, soft_wrap=True, markup=False)


def losses(record: dict[str, Any]) -> str:
    """Return the losses, averaged over the runs that are trained together, and the learning rate as text."""

    def mean(name: str) -> float:
        return sum(record[name]) / len(record[name])

    return f"loss {mean('train'):.3g}, validation {mean('validation'):.3g} (best {mean('best'):.3g}), rate {record['rate']:.1e}"
