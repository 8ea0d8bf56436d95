"""Make many data sets in parallel. Each process uses one core, because threads inside one solver do not use all cores."""

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
_POLL = 0.1  # seconds between two readings of the progress messages
_told: SimpleQueue[tuple[str, int, int]]  # in a worker: the queue for its progress messages
_ended = False  # in a worker: whether it has received SIGTERM


def make_all(names: Sequence[str], changes: dict[str, Any], out: Path | None, processes: int, tell: Tell) -> list[float]:
    """Make data sets and return the seconds that each took, in the order of `names`.

    names: names in the registry. The first name starts first, so put slow data sets at the beginning.
    changes: the changes of `lfno.data.make.plan`, the same for all data sets.
    out: folder of the files; None for the cache.
    processes: number of processes. With 1, this process makes the data sets, and solvers may use all threads.
    tell: called with (name of a data set, samples done, samples in all).

    A data set that fails does not stop the others; its error is raised when all are done. After an interruption, the
    processes end at once and leave no incomplete file.

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
    """Let processes that start in this block use one thread each. More threads than cores would slow all processes down."""
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
    """Prepare a worker. It ignores Ctrl-C, which reaches all processes; the parent ends it with SIGTERM, which cleans up."""
    global _told
    _told = told
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, _end)
    Thread(target=_follow, daemon=True).start()
    plain_warnings()


def _end(*_: object) -> None:
    global _ended
    _ended = True  # the pool gives the next job to this worker although the last job failed
    raise SystemExit


def _follow() -> None:
    """End this worker when its parent has ended. A parent that was killed cannot send SIGTERM."""
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
