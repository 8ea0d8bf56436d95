"""Many data sets at once, each in a process of its own on one core: what threads inside one solver cannot fill."""

from __future__ import annotations

import multiprocessing
import os
import signal
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from functools import partial
from multiprocessing.queues import SimpleQueue
from pathlib import Path
from threading import Thread
from typing import Any

from lfno.core.errors import LfnoError, plain_warnings
from lfno.data.make import make, plan

Tell = Callable[[str, int, int], None]  # (name of a data set, samples done, samples in all)
_POLL = 0.1  # s between two looks at what the processes tell
_told: SimpleQueue[tuple[str, int, int]]  # in a worker: where it tells how far it is
_ended = False  # in a worker: whether it was told to end


def make_all(names: Sequence[str], changes: dict[str, Any], out: Path | None, processes: int, tell: Tell) -> list[float]:
    """Make data sets in so many processes; the seconds that each took, in the order of `names`.

    `changes` are those of `plan`, the same for all. The first name is begun first, so long ones should lead. A data set
    that fails does not stop the others; its sentence comes when all are done. Interrupted, the processes end at once
    and leave nothing half-written. One process is this one, and there solvers may use all threads.

    >>> seconds = make_all(["heat", "beam"], {"count": 8}, None, 1, print)
    heat 0 8
    heat 8 8
    beam 0 8
    beam 8 8
    """
    if processes < 2:
        return [_make(name, changes, out, tell) for name in names]
    context = multiprocessing.get_context("spawn")  # forked copies of torch's and BLAS's threads may hang
    told: SimpleQueue[tuple[str, int, int]] = context.SimpleQueue()
    with _one_thread_each(), ProcessPoolExecutor(processes, context, _begin, (told,)) as pool:
        futures = [pool.submit(_make_there, name, changes, out) for name in names]
        try:
            pending = set(futures)
            while pending:
                pending = wait(pending, timeout=_POLL).not_done
                while not told.empty():
                    tell(*told.get())
        except BaseException:
            for child in multiprocessing.active_children():
                child.terminate()
            pool.shutdown(cancel_futures=True)
            raise
    try:
        return [future.result() for future in futures]
    except BrokenProcessPool as error:
        raise LfnoError(
            "a process that made data sets was ended from outside, perhaps for want of memory: run again (what is "
            "finished is kept), or name fewer data sets at a time"
        ) from error


@contextmanager
def _one_thread_each() -> Iterator[None]:
    """Processes begun in this block use one thread: with more, those of several processes would fight for the cores."""
    before = os.environ.get("OMP_NUM_THREADS")
    os.environ["OMP_NUM_THREADS"] = "1"
    try:
        yield
    finally:
        if before is None:
            del os.environ["OMP_NUM_THREADS"]
        else:
            os.environ["OMP_NUM_THREADS"] = before


def _begin(told: SimpleQueue[tuple[str, int, int]]) -> None:
    """In a worker: Ctrl-C reaches the whole group, but only the parent decides; its SIGTERM unwinds what was begun."""
    global _told
    _told = told
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, _end)
    Thread(target=_follow, daemon=True).start()
    plain_warnings()


def _end(*_: object) -> None:
    global _ended
    _ended = True  # a pool would hand the next job to a worker whose last one failed
    raise SystemExit


def _follow() -> None:
    """A parent that was killed can tell nobody to end."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


def _make_there(name: str, changes: dict[str, Any], out: Path | None) -> float:
    if _ended:
        raise SystemExit
    return _make(name, changes, out, lambda *news: _told.put(news))


def _make(name: str, changes: dict[str, Any], out: Path | None, tell: Tell) -> float:
    start = time.perf_counter()
    make(plan(name, **changes), out, partial(tell, name))
    return time.perf_counter() - start
