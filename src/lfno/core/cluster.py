"""Work on a Dask cluster: each job writes files on some worker, and they appear here once, written whole.

A worker that dies loses nothing but time: Dask gives its job to another. No disk has to be shared.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, TypeVar

from lfno.core.errors import LfnoError
from lfno.core.tensorfile import write_atomically

Job = TypeVar("Job")
Work = Callable[[Any, Path], object]  # writes the files of a job into subfolders of a folder


def spread(
    address: str, work: Work, jobs: Sequence[Job], targets: Mapping[str, Path]
) -> Iterator[tuple[Job, list[Path]]]:
    """Every job as it is done, with its files: those in the subfolder `name` of its folder go to `targets[name]`.

    A job that fails does not stop the others; its sentence comes when all are done.

    Example, where a scheduler is running: `for job, paths in spread("tcp://127.0.0.1:8786", work, jobs, {"records": folder})`.
    """
    try:
        from distributed import Client, as_completed
    except ImportError as error:
        raise LfnoError("--scheduler needs Dask: install it with pip install 'lfno[cluster]'") from error
    try:
        client = Client(address, timeout=10, set_as_default=False)
    except (OSError, ValueError) as error:
        raise LfnoError(f"there is no Dask scheduler at {address}: start one with `dask scheduler`") from error
    failed: list[str] = []
    with client:
        if not client.scheduler_info()["workers"]:
            raise LfnoError(f"the scheduler at {address} has no workers: start some with `dask worker {address} --nthreads 1`")
        futures = {client.submit(_files, work, job, key=f"lfno-{os.urandom(8).hex()}", retries=2): job for job in jobs}
        for future in as_completed(futures, loop=client.loop):
            try:
                found = future.result()
            except Exception as error:  # whatever happened on the worker, the other jobs go on
                failed.append(f"{futures[future]}: {str(error).splitlines()[0] if str(error) else type(error).__name__}")
                continue
            paths = []
            for name, content in found.items():
                kind, _, rest = name.partition("/")
                paths.append(targets[kind] / rest)
                write_atomically(paths[-1], content)
            yield futures[future], paths
            future.release()
    if failed:
        raise LfnoError(f"{len(failed)} of {len(jobs)} jobs failed on the cluster; the first: {failed[0]}")


def _files(work: Work, job: Any) -> dict[str, bytes]:
    """On a worker: the files a job writes, by their path below its folder."""
    with TemporaryDirectory(prefix="lfno-") as folder:
        work(job, Path(folder))
        found = [path for path in sorted(Path(folder).rglob("*")) if path.is_file()]
        return {path.relative_to(folder).as_posix(): path.read_bytes() for path in found}
