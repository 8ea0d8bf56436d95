"""Show the progress of a long command.

On a terminal, a bar shows the time left. Elsewhere, a line of text is printed after every tenth of the work.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

Show = Callable[[str, int, int], None]  # (name of the work, finished steps, all steps)


@contextmanager
def progress(quiet: bool) -> Iterator[Show]:
    """Yield a function `show(name, done, total)` that writes the progress to standard error.

    quiet: whether `show` writes nothing.
    """
    if quiet:
        yield lambda what, done, total: None
        return
    from rich import progress as bars
    from rich.console import Console

    console = Console(stderr=True)
    columns = bars.TextColumn("{task.description}"), bars.BarColumn(), bars.MofNCompleteColumn()
    times = bars.TimeElapsedColumn(), bars.TextColumn("left"), bars.TimeRemainingColumn()
    shown = bars.Progress(*columns, *times, console=console, disable=not console.is_terminal, transient=True)
    rows: dict[str, Any] = {}
    begun: dict[str, float] = {}
    told: dict[str, int] = {}

    def show(what: str, done: int, total: int) -> None:
        if what not in rows:
            rows[what], begun[what] = shown.add_task(what, total=total), time.monotonic()
        shown.update(rows[what], completed=done, total=total, visible=done < total)  # hide finished work
        tenth = 10 * done // max(total, 1)
        if not console.is_terminal and tenth > told.get(what, 0):
            told[what] = tenth
            left = (time.monotonic() - begun[what]) / done * (total - done)
            console.print(f"{what}: {done} of {total}, {left:.0f} s left", highlight=False, soft_wrap=True, markup=False)

    with shown:
        yield show
