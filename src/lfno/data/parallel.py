"""Make many data sets in parallel processes. Each process uses one core."""

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

Tell = Callable[[str, int, int], None]  # (name of a data set, number of solved samples, number of all samples)
_POLL = 0.1  # seconds between two readings of the progress messages
_told: SimpleQueue[tuple[str, int, int]]  # in a worker: the queue for its progress messages
_ended = False  # in a worker: whether it has received SIGTERM


def make_all(names: Sequence[str], changes: dict[str, Any], out: Path | None, processes: int, tell: Tell) -> list[float]:
    """Make data sets and return the time that each took in seconds, in the order of `names`.

    names: names in the registry. The processes begin with the first names, so put slow data sets at the beginning.
    changes: options for all data sets, such as `count` or `dtype`; the docstring of `lfno.data.make.dataset` lists the options.
    out: folder of the files; None for the cache.
    processes: number of processes. With 1, the calling process makes the data sets, and solvers may use all threads.
    tell: called with (name of a data set, number of solved samples, number of all samples).

    If a data set fails in a parallel process, the others are still made; the error is raised at the end. After an interruption,
    the processes end at once and leave no incomplete file.

    >>> seconds = make_all(["heat", "beam"], {"count": 8}, None, 1, print)
    heat 0 8
    heat 8 8
    beam 0 8
    beam 8 8
    """
    if processes < 2:
        return [_make(name, changes, out, tell) for name in names]
    context = multiprocessing.get_context("spawn")  # with "fork", the threads of torch and BLAS may hang
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
            "the system ended a process that made data sets, perhaps because memory was short: run the command again (finished "
            "data sets are kept), or name fewer data sets at a time"
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
    """Prepare a worker process.

    Ctrl-C reaches all processes at once. Workers ignore it, and the parent process ends them with SIGTERM, so that they can
    delete their temporary files.
    """
    global _told
    _told = told
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, _end)
    Thread(target=_follow, daemon=True).start()
    plain_warnings()


def _end(*_: object) -> None:
    """End the job of this worker. The pool may give it another job; `_ended` makes that job end at once."""
    global _ended
    _ended = True
    raise SystemExit


def _follow() -> None:
    """End this worker when its parent has ended. A parent that was killed cannot send SIGTERM."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


def _make_there(name: str, changes: dict[str, Any], out: Path | None) -> float:
    """Make a data set in a worker process, with progress messages to the parent process. Return the time in seconds."""
    if _ended:
        raise SystemExit
    return _make(name, changes, out, lambda *news: _told.put(news))


def _make(name: str, changes: dict[str, Any], out: Path | None, tell: Tell) -> float:
    """Make a data set in this process. Return the time in seconds."""
    start = time.perf_counter()
    make(plan(name, **changes), out, partial(tell, name))
    return time.perf_counter() - start
